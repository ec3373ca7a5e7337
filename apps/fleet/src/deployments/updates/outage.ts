import type { Decision } from '../decision.ts';
import type { Difference, ManifestObject } from '../manifest.ts';
import type { DeploymentRow } from '../rows.ts';

/** Whether a change interrupts a deployment, as a plan states it. */
interface Outage {
  /** Whether an address does not answer for a time, or no instance runs. */
  readonly expected: boolean;
  /** Whether no instance serves for a time. Otherwise clients that follow `endpoints` are not interrupted. */
  readonly total: boolean;
  readonly reason: string;
  /** The present addresses that do not answer for a time. */
  readonly addresses: string[];
  /**
   * About how long, in addition to the time that an instance needs to stop; null without an outage, and if it lasts until
   * another change.
   */
  readonly seconds: number | null;
}

/** The time in which an engine creates a container and its program starts, in seconds. */
const START_SECONDS = 10;

/** A change without an outage. */
export const NO_OUTAGE: Outage = { expected: false, total: false, reason: '', addresses: [], seconds: null };

interface Change {
  readonly before: DeploymentRow;
  readonly decision: Pick<Decision, 'draft' | 'extra'>;
  readonly changes: readonly Difference[];
  /** The manifest after the change. */
  readonly after: readonly ManifestObject[];
}

/** The outage that a change of a deployment is expected to cause. */
export function outageOf({ before, decision, changes, after }: Change): Outage {
  if (before.desired_state === 'stopped') return NO_OUTAGE;
  const addresses = before.endpoints.map(({ address }) => address);
  if (decision.draft.desiredState === 'stopped') {
    return { expected: true, total: true, reason: 'The deployment is stopped.', addresses, seconds: null };
  }
  if (decision.draft.workload.spec.kind === 'job') return NO_OUTAGE;
  return before.host_id === null
    ? outageOnCluster(addresses, { changes, after })
    : outageOnHost(before, decision, changes);
}

/** Each instance on a host has its own ports, which its successor gets when it has ended. */
function outageOnHost(
  { endpoints, replicas }: DeploymentRow,
  { extra }: Change['decision'],
  changes: readonly Difference[],
): Outage {
  const replaced = namesOf(changes, 'replace');
  const removed = namesOf(changes, 'delete');
  const addresses = endpoints.flatMap(({ instance, address }) =>
    instance === null || replaced.includes(instance) || removed.includes(instance) ? [address] : [],
  );
  if (replaced.length === 0 && addresses.length === 0) return NO_OUTAGE;
  if (replaced.length === 0) {
    return { expected: true, total: false, reason: 'Instances are removed.', addresses, seconds: null };
  }
  const total = replicas === 1 && extra.instances === 0;
  if (!total && addresses.length === 0) return NO_OUTAGE;
  const reason = total
    ? `The only instance ends before its successor starts. ${extra.reason}`
    : 'The instances are replaced one after the other. Each has an address of its own, which its successor gets when it has ended.';
  return { expected: true, total, reason, addresses, seconds: START_SECONDS };
}

const namesOf = (changes: readonly Difference[], action: Difference['action']): string[] =>
  changes.flatMap((change) =>
    change.action === action && change.object.startsWith('Container/')
      ? [change.object.slice('Container/'.length)]
      : [],
  );

/** The Service of a deployment on a cluster keeps its address. */
function outageOnCluster(addresses: string[], { changes, after }: Pick<Change, 'changes' | 'after'>): Outage {
  const replaces = changes.some(
    ({ object, paths }) => object.startsWith('Deployment/') && paths.some((path) => path.startsWith('/spec/template')),
  );
  const deployment = after.find(({ kind }) => kind === 'Deployment');
  if (!replaces || !deployment) return NO_OUTAGE;
  const { strategy, replicas = 1 } = deployment.spec as Rollout; // rendered by `renderKubernetes`
  const total = { expected: true, total: true, addresses, seconds: START_SECONDS };
  if (strategy?.type === 'Recreate') {
    return { ...total, reason: 'The old pod ends before the new one can use its ReadWriteOnce volume.' };
  }
  if (strategy?.rollingUpdate?.maxSurge === 0 && replicas === 1) {
    return { ...total, reason: 'The old pod ends before the new one can use its GPUs.' };
  }
  return NO_OUTAGE;
}

interface Rollout {
  readonly strategy?: { readonly type?: string; readonly rollingUpdate?: { readonly maxSurge?: number } };
  readonly replicas?: number;
}
