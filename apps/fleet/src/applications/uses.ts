import { isDeepStrictEqual } from 'node:util';
import type { ApplicationSpec, FieldError, Part } from '@svc/contract';
import type { Uses } from '@svc/contract/fleet';
import type { DecisionContext } from '../deployments/decision.ts';
import { NOTHING_PENDING } from '../deployments/plans/pending.ts';
import { ofParts } from './overrides.ts';

/** The deployments that serve instead of parts after a change. */
export const usesAfter = (
  spec: ApplicationSpec,
  before: Uses,
  given: Readonly<Record<string, Uses[string] | null>> = {},
): Uses =>
  Object.fromEntries(
    Object.entries({ ...ofParts(spec, before), ...given }).flatMap(([part, used]) =>
      used === null ? [] : [[part, used] as const],
    ),
  );

export const isUsed = (uses: Uses, part: string): boolean => Object.hasOwn(uses, part);

/** What is given for parts, without those instead of which deployments serve. */
export const withoutUsed = <T>(given: Readonly<Record<string, T>>, uses: Uses): Record<string, T> =>
  Object.fromEntries(Object.entries(given).filter(([part]) => !isUsed(uses, part)));

/** The port of what serves a part, for a port that the part declares. */
export function servedPort(uses: Uses, part: string, port: number): number {
  const { ports = {} } = (isUsed(uses, part) ? uses[part] : undefined) ?? {};
  return Object.hasOwn(ports, String(port)) ? (ports[String(port)] ?? port) : port;
}

interface Given {
  readonly spec: ApplicationSpec;
  readonly uses: Uses;
  readonly replicas: Readonly<Record<string, unknown>>;
  readonly overrides: Readonly<Record<string, unknown>>;
}

/** What is wrong with the parts instead of which deployments are to serve. */
export function useProblems(given: Given): FieldError[] {
  const { spec, uses } = given;
  const parts = new Map(spec.parts.map((part) => [part.name, part]));
  const problems = Object.entries(uses).flatMap(([name, { ports }]): FieldError[] => {
    const part = parts.get(name);
    const path = `use.${name}`;
    if (!part)
      return [{ path, message: `is not a part of the application, which has ${[...parts.keys()].join(', ')}` }];
    const reason = whyRequired(part);
    return [
      ...(reason === undefined ? [] : [{ path, message: reason }]),
      ...portProblems(part, ports).map((message) => ({ path: `${path}.ports`, message })),
      ...settingsOf(given, name).map((setting) => ({
        path: setting,
        message: 'must not be given, because a deployment serves instead of the part',
      })),
    ];
  });
  if (spec.parts.some(({ name }) => !isUsed(uses, name))) return problems;
  return [...problems, { path: 'use', message: 'must leave at least one part that the application runs itself' }];
}

/** Why no deployment can serve instead of a part; undefined if one can. */
function whyRequired({ kind, volume_mounts, ports }: Part): string | undefined {
  if (kind === 'job') return 'must not be a job, which does its work for this application';
  if (volume_mounts.some(({ shared }) => shared)) return 'must not share volumes with other parts';
  return ports.length === 0 ? 'must have a port, at which others reach it' : undefined;
}

function portProblems({ ports }: Part, given: Uses[string]['ports']): string[] {
  const declared = ports.map(({ containerPort }) => String(containerPort));
  return Object.keys(given)
    .filter((port) => !declared.includes(port))
    .map((port) => `must be ports of the part, which has ${declared.join(', ') || 'none'}, and not ${port}`);
}

/** The paths of what is given for a part. */
const settingsOf = ({ replicas, overrides }: Given, part: string): string[] => [
  ...(Object.hasOwn(replicas, part) ? [`replicas.${part}`] : []),
  ...(Object.hasOwn(overrides, part) ? [`overrides.${part}`] : []),
];

interface Chosen {
  /** The id of the application. */
  readonly id: string | undefined;
  readonly uses: Uses;
  readonly before: Uses;
}

/** What is wrong with the deployments that a request chooses. Those that serve already, or that the same plan creates, are not examined. */
export async function chosenProblems(
  { transaction, pending = NOTHING_PENDING }: Pick<DecisionContext, 'transaction' | 'pending'>,
  { id, uses, before }: Chosen,
): Promise<readonly FieldError[]> {
  const chosen = Object.entries(uses).filter(([part, used]) => !isDeepStrictEqual(used, before[part]));
  if (chosen.length === 0) return [];
  const rows = await transaction.deployment.findMany({
    where: { name: { in: chosen.map(([, { deployment }]) => deployment) } },
    select: { name: true, deleting: true, desired_state: true, application_id: true },
  });
  return chosen.flatMap(([part, { deployment }]): FieldError[] => {
    const row = rows.find(({ name }) => name === deployment);
    const path = `use.${part}.deployment`;
    const must = (message: string) => [{ path, message: `must be the name of a deployment that runs: ${message}` }];
    const isCreated = pending.some(({ name, deleting }) => name === deployment && !deleting);
    if (!row) return isCreated ? [] : must(`${deployment} does not exist`);
    if (row.deleting) return must(`${deployment} is being deleted`);
    if (row.desired_state === 'stopped') return must(`${deployment} is stopped`);
    return id !== undefined && row.application_id === id ? must(`${deployment} is a part of this application`) : [];
  });
}
