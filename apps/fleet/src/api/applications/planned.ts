import type { DecidedChange } from '../../applications/change.ts';
import { type DecidedApplication, retiredParts } from '../../applications/decision/decide.ts';
import { policyOfApplication } from '../../applications/updates/policy.ts';
import { NO_OUTAGE } from '../../deployments/updates/outage.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Shown } from '../../plans/decide.ts';
import { UncheckedTargets } from '../../reconciler/checks/first-checks.ts';
import { imageReference } from '../../render/image.ts';
import { presentDecided } from '../deployments/plan.ts';

/** @throws UncheckedTargets if it can become possible with the first check of a target */
export function awaitFirstChecksOfParts({ refusals, unchecked }: DecidedApplication): void {
  if (refusals.length > 0 && unchecked.length > 0) throw new UncheckedTargets(unchecked);
}

type Planned =
  | { readonly kind: 'creation'; readonly decided: DecidedApplication }
  | (Omit<DecidedChange, 'content'> & { readonly kind: 'change' });

/** The maximum number of values that a plan of several objects lists for one of them. */
const MAX_VALUES = 100;

/** What a plan of several objects shows of a decided creation or change of an application. */
export async function presentApplication(transaction: Prisma.TransactionClient, planned: Planned): Promise<Shown> {
  const parts: ({ readonly name: string } & Shown)[] = [];
  for (const { compiled, decided } of planned.decided.parts)
    parts.push({ name: compiled.name, ...(await presentDecided(transaction, decided)) });
  return {
    values: [...ownValues(planned), ...parts.flatMap(valuesOfPart)].slice(0, MAX_VALUES),
    target: parts.find(({ target }) => target !== null)?.target ?? null,
    replaces_instances: parts.some(({ replaces_instances }) => replaces_instances),
    outage: outageOf(parts),
  };
}

/** The values of a part. Those that the application determines for all parts are stated once. */
const valuesOfPart = ({ name, values }: { readonly name: string } & Pick<Shown, 'values'>): Shown['values'] =>
  values
    .filter(({ path }) => path !== 'labels' && path !== 'updates')
    .map(({ path, from, to }) => ({ path: `parts.${name}.${path}`, from, to }));

/** What changes of an application beside what its parts run. */
function ownValues(planned: Planned): Shown['values'] {
  const { wanted } = planned.decided;
  const used = Object.entries(wanted.uses).map(([part, { deployment }]) => [part, deployment] as const);
  if (planned.kind === 'creation')
    return used.map(([part, deployment]) => ({ path: `use.${part}`, from: null, to: deployment }));
  const { before, change, decided } = planned;
  const value = (path: string, from: unknown, to: unknown) =>
    to === undefined ? [] : [{ path, from: JSON.stringify(from), to: JSON.stringify(to) }];
  const usedBefore = before.content.uses;
  const names = [...new Set([...Object.keys(usedBefore), ...used.map(([part]) => part)])];
  const usesChanged = names.flatMap((part) => {
    const [from = null, to = null] = [usedBefore[part]?.deployment, wanted.uses[part]?.deployment];
    return from === to ? [] : [{ path: `use.${part}`, from, to }];
  });
  const removed = retiredParts(before, decided).map(({ part, image_source }) => ({
    path: `parts.${part}.image`,
    from: imageReference(image_source),
    to: null,
  }));
  return [
    ...value('labels', before.row.labels, change.labels),
    ...value('updates', policyOfApplication(before.row), change.updates && wanted.updates),
    ...value('on_failure', before.row.on_failure, change.onFailure),
    ...usesChanged,
    ...removed,
  ];
}

/** The outages of all parts together. */
function outageOf(parts: readonly ({ readonly name: string } & Pick<Shown, 'outage'>)[]): Shown['outage'] {
  const interrupted = parts.filter(({ outage }) => outage.expected);
  if (interrupted.length === 0) return NO_OUTAGE;
  const outages = interrupted.map(({ outage }) => outage);
  const seconds = outages.flatMap((each) => each.seconds ?? []);
  return {
    expected: true,
    total: outages.some(({ total }) => total),
    reason: interrupted.map(({ name, outage }) => `${name}: ${outage.reason}`).join(' '),
    addresses: outages.flatMap(({ addresses }) => addresses),
    seconds: seconds.length === outages.length ? Math.max(...seconds) : null,
  };
}
