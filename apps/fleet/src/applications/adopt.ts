import type { FieldError } from '@svc/contract';
import { Problem } from '@svc/http';
import type { PlanContext } from '../deployments/plans/several.ts';
import { type DeploymentRow, deployments } from '../deployments/rows.ts';
import { refuseFieldErrors } from '../resources/field-errors.ts';
import { readRows } from '../resources/kind.ts';
import { type Present, withRevisions } from './before.ts';
import { contentOf } from './change.ts';
import type { RequestOf, Wanted } from './decision/decide.ts';
import { isUsed } from './uses.ts';

/** The names of the deployments that become parts, by the names of the parts. */
type Adopted = Readonly<Record<string, string>>;

/** A generated value of a deployment that becomes one of the application. */
export interface TakenValue {
  readonly deployment: string;
  readonly variable: string;
}

/**
 * The deployments that become parts of a new application, with what a decision needs of them; undefined if there are none.
 * @throws 400 for parts and deployments that do not exist, 409 for deployments that cannot become parts together
 */
export async function readAdopted(
  { transaction }: PlanContext,
  { spec, uses, target, desiredState, updates: { ready_seconds, deadline_seconds } }: Wanted,
  adopted: Adopted,
): Promise<{ readonly before: Present; readonly changeOf: RequestOf } | undefined> {
  const entries = Object.entries(adopted);
  if (entries.length === 0) return undefined;
  const found = await transaction.deployment.findMany({
    where: { name: { in: entries.map(([, name]) => name) } },
    select: { id: true, name: true },
  });
  const ids = new Map(found.map(({ id, name }) => [name, id]));
  refuseFieldErrors(
    entries.flatMap(([part, name]): FieldError[] => {
      const path = `adopt.${part}`;
      if (!spec.parts.some((each) => each.name === part))
        return [{ path, message: 'is not a part of the application' }];
      if (isUsed(uses, part))
        return [{ path, message: 'must not be given, because another deployment serves instead' }];
      return ids.has(name) ? [] : [{ path, message: `must be the name of a deployment, and ${name} does not exist` }];
    }),
  );
  if (new Set(entries.map(([, name]) => name)).size < entries.length)
    throw notAdoptable('a deployment can become only one part');
  const parts = await withRevisions(transaction, await readRows(transaction, deployments, [...ids.values()]));
  refuseRows(
    parts.map(({ row }) => row),
    { target, desiredState },
  );
  const byName = new Map(parts.map((part) => [part.row.name, part]));
  return {
    before: {
      parts: new Map(
        entries.flatMap(([part, name]) => {
          const present = byName.get(name);
          return present ? [[part, present] as const] : [];
        }),
      ),
      generated: new Map(),
    },
    changeOf: (part, request) => {
      const present = byName.get(adopted[part.name] ?? '');
      if (!present || !Object.hasOwn(adopted, part.name)) return undefined;
      const change = {
        operation: 'adopt' as const,
        message: 'became a part of an application',
        desiredState,
        replicas: part.replicas,
        updates: { from: 'manual' as const, on_failure: 'stop' as const, ready_seconds, deadline_seconds },
        ...contentOf(part, present, request),
      };
      return { kind: 'change', before: present.row, change };
    },
  };
}

/** @throws 409 unless the deployments stand alone, on one target, which is the requested one */
function refuseRows(rows: readonly DeploymentRow[], { target, desiredState }: Pick<Wanted, 'target' | 'desiredState'>) {
  for (const { name, application_name, deleting, host_id, cluster_id } of rows) {
    if (application_name !== null) throw notAdoptable(`${name} is a part of the application ${application_name}`);
    if (deleting) throw notAdoptable(`${name} is being deleted`);
    const own = host_id ?? cluster_id;
    if (own === null) throw notAdoptable(`${name} has no target yet; start it first`);
    if (target !== null && target.id !== own) throw notAdoptable(`${name} is not on the requested target`);
  }
  const targets = new Set(rows.map(({ host_id, cluster_id }) => host_id ?? cluster_id));
  if (targets.size > 1) throw notAdoptable(`they are on different targets: ${rows.map(({ name }) => name).join(', ')}`);
  const other = rows.find(({ desired_state }) => desired_state !== desiredState);
  if (other)
    throw notAdoptable(`${other.name} is ${other.desired_state}, and the application is to be ${desiredState}`);
}

const notAdoptable = (reason: string) =>
  new Problem('not_adoptable', `Nothing was changed: the deployments cannot become an application, because ${reason}.`);
