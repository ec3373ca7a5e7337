import type { V1PodSpec, V1ResourceQuota, V1ScopedResourceSelectorRequirement } from '@kubernetes/client-node';
import { formatCores, formatMemory, pluralize } from '../../../placement/format.ts';
import { bytes, milli } from '../../../placement/quantities.ts';

/** Amounts by the name that a quota has for the resource. CPU is in thousandths, the others in units. */
type Amounts = ReadonlyMap<string, number>;

/** The pods of a deployment whose number a change determines. */
export interface PlannedPods {
  /** A pod as the cluster would store it. */
  readonly pod: V1PodSpec;
  readonly replicas: number;
  /** Pods that exist in addition while a change replaces the pods one after the other. */
  readonly surge: number;
  /** The present pods of the deployment. */
  readonly present: readonly V1PodSpec[];
}

/** What a quota says about the pods of a deployment. */
export interface QuotaFinding {
  readonly name: string;
  /** Why the pods exceed the quota; '' if they do not. */
  readonly message: string;
}

/**
 * Compares all pods of a deployment with the quotas of their namespace, because a dry run asks about
 * one pod only. Quotas that do not limit its pods have no finding.
 */
export function compareWithQuotas(quotas: readonly V1ResourceQuota[], planned: PlannedPods): QuotaFinding[] {
  return quotas.flatMap((quota) => {
    if (!isInScope(quota, planned.pod)) return [];
    const each = amountsOf(planned.pod);
    const present = sumOf(planned.present.filter((pod) => isInScope(quota, pod)).map(amountsOf));
    const { hard = {}, used = {} } = quota.status ?? {};
    const limited = Object.keys(hard).filter((resource) => each.has(resource));
    if (limited.length === 0) return [];
    const exceeded = limited.flatMap((resource) => {
      const limit = amountOf(resource, hard[resource]);
      const own = present.get(resource) ?? 0;
      const free = limit - (amountOf(resource, used[resource]) - own);
      const ofEach = each.get(resource) ?? 0;
      const needed = Math.max(own, planned.replicas * ofEach) + planned.surge * ofEach;
      if (needed <= free) return [];
      const format = (amount: number) => formatAmount(resource, amount);
      const available = `${format(Math.max(0, free))} of ${format(limit)} are free`;
      return [`${resource}: ${needText(planned, format(needed))}, and ${available}`];
    });
    return [{ name: quota.metadata?.name ?? '', message: exceeded.join('; ') }];
  });
}

const needText = ({ replicas, surge }: PlannedPods, amount: string): string =>
  `${pluralize(replicas, 'replica')} ${replicas === 1 ? 'needs' : 'need'} ${amount}${surge > 0 ? ' while being replaced' : ''}`;

const isCpu = (resource: string): boolean => /(?:^|\.)cpu$/.test(resource);
const isBytes = (resource: string): boolean => /(?:^|\.)(?:memory|ephemeral-storage)$/.test(resource);

/** @returns 0 for an amount that this version cannot read */
function amountOf(resource: string, quantity = '0'): number {
  try {
    return isCpu(resource) ? milli(quantity) : bytes(quantity);
  } catch (error) {
    if (error instanceof RangeError) return 0;
    throw error;
  }
}

function formatAmount(resource: string, amount: number): string {
  if (isCpu(resource)) return formatCores(amount);
  return isBytes(resource) ? formatMemory(amount, 'up') : String(amount);
}

/** The members of requests that quotas also name without a prefix. */
const WITHOUT_PREFIX = ['cpu', 'memory', 'ephemeral-storage'];

/** What a pod counts for in quotas: requests and limits of its containers, as Kubernetes adds them. */
function amountsOf(pod: V1PodSpec): Amounts {
  const { containers, initContainers = [], overhead = {} } = pod;
  const beside = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  const before = initContainers.filter(({ restartPolicy }) => restartPolicy !== 'Always');
  const amounts = new Map([
    ['pods', 1],
    ['count/pods', 1],
  ]);
  for (const kind of ['requests', 'limits'] as const) {
    const of = (all: V1PodSpec['containers']) => all.map((container) => resourcesOf(container, kind));
    const sidecars = sumOf(of(beside));
    const running = sumOf([...of(containers), sidecars]);
    for (const started of of(before)) keepLargest(running, sumOf([started, sidecars]));
    for (const [resource, amount] of sumOf([running, quantitiesOf(overhead)])) {
      amounts.set(`${kind}.${resource}`, amount);
      if (kind === 'requests' && WITHOUT_PREFIX.includes(resource)) amounts.set(resource, amount);
    }
  }
  return amounts;
}

/** A container without a request for a resource requests its limit. */
const resourcesOf = ({ resources = {} }: V1PodSpec['containers'][number], kind: 'requests' | 'limits'): Amounts =>
  quantitiesOf(kind === 'requests' ? { ...resources.limits, ...resources.requests } : (resources.limits ?? {}));

const quantitiesOf = (quantities: Readonly<Record<string, string>>): Amounts =>
  new Map(Object.entries(quantities).map(([resource, quantity]) => [resource, amountOf(resource, String(quantity))]));

function sumOf(all: readonly Amounts[]): Map<string, number> {
  const sum = new Map<string, number>();
  for (const amounts of all) {
    for (const [resource, amount] of amounts) sum.set(resource, (sum.get(resource) ?? 0) + amount);
  }
  return sum;
}

function keepLargest(into: Map<string, number>, amounts: Amounts): void {
  for (const [resource, amount] of amounts) into.set(resource, Math.max(into.get(resource) ?? 0, amount));
}

/** Whether a quota counts a pod: it has all scopes of the quota. */
function isInScope({ spec }: V1ResourceQuota, pod: V1PodSpec): boolean {
  const scopes = (spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }));
  return [...scopes, ...(spec?.scopeSelector?.matchExpressions ?? [])].every((scope) => hasScope(scope, pod));
}

function hasScope({ scopeName, operator, values = [] }: V1ScopedResourceSelectorRequirement, pod: V1PodSpec): boolean {
  switch (scopeName) {
    case 'Terminating':
      return pod.activeDeadlineSeconds !== undefined;
    case 'NotTerminating':
      return pod.activeDeadlineSeconds === undefined;
    case 'BestEffort':
      return isBestEffort(pod);
    case 'NotBestEffort':
      return !isBestEffort(pod);
    case 'PriorityClass':
      return hasPriorityClass(operator, values, pod.priorityClassName);
    default:
      return false; // such as CrossNamespacePodAffinity, which no pod of the fleet has
  }
}

const isBestEffort = ({ containers }: V1PodSpec): boolean =>
  containers.every(({ resources = {} }) => Object.keys({ ...resources.requests, ...resources.limits }).length === 0);

function hasPriorityClass(operator: string, values: readonly string[], name = ''): boolean {
  if (operator === 'Exists') return name !== '';
  if (operator === 'DoesNotExist') return name === '';
  return values.includes(name) === (operator === 'In');
}
