import { bytes, milli } from '../../../../../src/placement/quantities.ts';
import { at, isTree, type Stored, type Tree, textAt } from '../objects.ts';
import { forbidden, invalid } from '../refusal.ts';
import type { Store } from '../store.ts';
import type { Candidate } from './candidate.ts';

type Quantities = Readonly<Record<string, string>>;

const quantitiesAt = (object: unknown, path: string): Quantities => {
  const found = at(object, path);
  return isTree(found) ? Object.fromEntries(Object.entries(found).map(([key, value]) => [key, String(value)])) : {};
};

const amountOf = (resource: string, quantity: string): number =>
  resource.endsWith('cpu') ? milli(quantity) : bytes(quantity);

function containersOfPod(pod: Stored): Tree[] {
  const containers = at(pod, 'spec.containers');
  return Array.isArray(containers) ? containers.filter(isTree) : [];
}

const isNewPod = ({ kind, isNew }: Candidate): boolean => kind.kind === 'Pod' && isNew;

/** Sets the default requests and limits of containers, and refuses containers beyond the limits. */
export function withLimitRanges(store: Store, candidate: Candidate): Stored {
  const { object, kind } = candidate;
  if (!isNewPod(candidate)) return object;
  const limits = store
    .list('limitranges', object.metadata.namespace)
    .flatMap((range) => (at(range, 'spec.limits') ?? []) as Tree[])
    .filter(({ type }) => type === 'Container');
  const containers = containersOfPod(object).map((container) => limits.reduce(withDefaults, withRequests(container)));
  for (const container of containers) {
    for (const limit of limits) {
      const why = excessOf(container, limit);
      if (why !== undefined) throw forbidden({ kind, name: object.metadata.name }, why);
    }
  }
  const spec = { ...object.spec, ...(containers.length > 0 && { containers }) };
  assertRequestsWithinLimits({ kind, name: object.metadata.name }, containers);
  return { ...object, spec };
}

/** A request can exceed a limit that is a default. */
function assertRequestsWithinLimits(which: Parameters<typeof invalid>[0], containers: readonly Tree[]): void {
  const causes = containers.flatMap((container, index) => {
    const limits = quantitiesAt(container, 'resources.limits');
    return Object.entries(quantitiesAt(container, 'resources.requests'))
      .filter(([resource, quantity]) => {
        const limit = limits[resource];
        return limit !== undefined && amountOf(resource, quantity) > amountOf(resource, limit);
      })
      .map(([resource, quantity]) => ({
        reason: 'FieldValueInvalid',
        field: `spec.containers[${index}].resources.requests`,
        message: `Invalid value: "${quantity}": must be less than or equal to ${resource} limit`,
      }));
  });
  if (causes.length > 0) throw invalid(which, causes);
}

/** A container requests its limits by default. */
function withRequests(container: Tree): Tree {
  const limits = quantitiesAt(container, 'resources.limits');
  if (Object.keys(limits).length === 0) return container;
  const requests = { ...limits, ...quantitiesAt(container, 'resources.requests') };
  return { ...container, resources: { limits, requests } };
}

function withDefaults(container: Tree, limit: Tree): Tree {
  const given = {
    limits: quantitiesAt(container, 'resources.limits'),
    requests: quantitiesAt(container, 'resources.requests'),
  };
  const limits = { ...quantitiesAt(limit, 'default'), ...given.limits };
  const requests = { ...quantitiesAt(limit, 'defaultRequest'), ...given.limits, ...given.requests };
  return { ...container, resources: { limits, requests } };
}

function excessOf(container: Tree, limit: Tree): string | undefined {
  for (const [resource, most] of Object.entries(quantitiesAt(limit, 'max'))) {
    const quantity = quantitiesAt(container, 'resources.limits')[resource];
    if (quantity === undefined) return `maximum ${resource} usage per Container is ${most}.  No limit is specified`;
    if (amountOf(resource, quantity) > amountOf(resource, most))
      return `maximum ${resource} usage per Container is ${most}, but limit is ${quantity}`;
  }
  return undefined;
}

/** What a pod counts for in quotas. */
function usageOf(pod: Stored): Map<string, number> {
  const usage = new Map([['pods', 1]]);
  for (const container of containersOfPod(pod)) {
    for (const kind of ['requests', 'limits'] as const) {
      for (const [resource, quantity] of Object.entries(quantitiesAt(container, `resources.${kind}`))) {
        const name = `${kind}.${resource}`;
        usage.set(name, (usage.get(name) ?? 0) + amountOf(resource, quantity));
      }
    }
  }
  return usage;
}

const isCounted = (pod: Stored): boolean => !['Succeeded', 'Failed'].includes(textAt(pod, 'status.phase'));

/** The used amounts of the hard limits of a quota. */
export function usedOf(store: Store, quota: Stored): Record<string, string> {
  const pods = store.list('pods', quota.metadata.namespace).filter(isCounted).map(usageOf);
  const total = (resource: string) => pods.reduce((sum, usage) => sum + (usage.get(resource) ?? 0), 0);
  const shown = (resource: string) => (resource.endsWith('cpu') ? `${total(resource)}m` : String(total(resource)));
  return Object.fromEntries(
    Object.keys(quantitiesAt(quota, 'spec.hard')).map((resource) => [resource, shown(resource)]),
  );
}

/** Refuses a pod that does not state a limited amount, or that exceeds a quota. */
export function assertWithinQuotas(store: Store, candidate: Candidate): void {
  if (!isNewPod(candidate)) return;
  const { object, kind } = candidate;
  const usage = usageOf(object);
  for (const quota of store.list('resourcequotas', object.metadata.namespace)) {
    const hard = quantitiesAt(quota, 'spec.hard');
    const used = usedOf(store, quota);
    const { name } = quota.metadata;
    const absent = Object.keys(hard).filter((resource) => !usage.has(resource));
    if (absent.length > 0)
      throw forbidden({ kind, name: object.metadata.name }, `failed quota: ${name}: must specify ${absent.join(',')}`);
    const exceeded = Object.entries(hard).filter(
      ([resource, limit]) =>
        amountOf(resource, used[resource] ?? '0') + (usage.get(resource) ?? 0) > amountOf(resource, limit),
    );
    if (exceeded.length === 0) continue;
    const list = (of: (resource: string, limit: string) => unknown) =>
      exceeded.map(([resource, limit]) => `${resource}=${of(resource, limit)}`).join(',');
    const why = `exceeded quota: ${name}, requested: ${list((resource) => usage.get(resource))}, used: ${list((resource) => used[resource])}, limited: ${list((_, limit) => limit)}`;
    throw forbidden({ kind, name: object.metadata.name }, why);
  }
}
