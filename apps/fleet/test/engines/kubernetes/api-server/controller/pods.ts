import { randomBytes } from 'node:crypto';
import { kindOf } from '../kinds.ts';
import { at, inNamespaceOf, isTree, metaOf, moment, type Stored, type Tree, textAt } from '../objects.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store.ts';
import type { ControlledCluster } from './controls.ts';

/** The pods of an owner that are neither being deleted nor completed. */
export const podsOwnedBy = (store: Store, { metadata }: Stored): Stored[] =>
  allOwnedBy(store, metadata.uid).filter(
    (pod) => !pod.metadata.deletionTimestamp && !['Succeeded', 'Failed'].includes(textAt(pod, 'status.phase')),
  );

export const allOwnedBy = (store: Store, owner: string): Stored[] =>
  store.list('pods').filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === owner));

const GRACE_MS = 30_000;

/** Starts the graceful deletion of a pod. */
export function deletePod(store: Store, pod: Stored): void {
  if (pod.metadata.deletionTimestamp) return;
  const finalizers = [...(pod.metadata.finalizers ?? []), 'kubelet'];
  store.put('pods', {
    ...pod,
    metadata: { ...pod.metadata, finalizers, deletionTimestamp: moment(Date.now() + GRACE_MS) },
  });
}

/** Creates `count` pods from the template of an owner, unless the creation of pods is rejected. */
export function makePods(cluster: ControlledCluster, maker: Stored, count: number): void {
  const { store, controls, refusedPods } = cluster;
  if (count > 0) refusedPods.delete(maker.metadata.uid);
  if (controls.refusesPods !== undefined) return;
  for (let left = count; left > 0; left -= 1) {
    try {
      store.put('pods', podOf(cluster, maker));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusedPods.set(maker.metadata.uid, error.message);
      return;
    }
  }
}

/** An admitted pod from the template of its owner. */
function podOf({ controls, admission }: ControlledCluster, maker: Stored): Stored {
  const template = (at(maker, 'spec.template') ?? {}) as Tree;
  const { labels, annotations } = (isTree(template.metadata) ? template.metadata : {}) as Pick<
    Stored['metadata'],
    'labels' | 'annotations'
  >;
  const metadata = metaOf({
    ...inNamespaceOf(maker),
    name: `${maker.metadata.name}-${randomBytes(3).toString('hex').slice(0, 5)}`,
    labels: { ...labels, ...(maker.kind === 'Job' && { 'batch.kubernetes.io/job-name': maker.metadata.name }) },
    ...(annotations && { annotations }),
    ownerReferences: [ownedBy(maker)],
  });
  const object = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...(template.spec as Tree) } };
  const admitted = admission.admit({ kind: kindOf('pods'), object, isNew: true, isDryRun: false });
  if (controls.schedules) return { ...admitted, status: { phase: 'Pending' } };
  return { ...admitted, spec: { ...admitted.spec, nodeName: 'worker-1' }, status: { ...controls.podStatus() } };
}

export const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: Stored) => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
});

export const isReady = (pod: Stored): boolean => conditionIn(pod.status, 'Ready') === 'True';

const conditionIn = (status: Tree | undefined, type: string): unknown => {
  const conditions = Array.isArray(status?.conditions) ? status.conditions : [];
  return conditions.find((each) => isTree(each) && each.type === type)?.status;
};

/** The current conditions. A condition that has not changed keeps its transition time. */
export function conditions(before: Tree | undefined, now: readonly Tree[]): Tree[] {
  const known = (Array.isArray(before?.conditions) ? before.conditions : []) as Tree[];
  return now.map((condition) => {
    const same = known.find(
      ({ type, status, reason }) =>
        type === condition.type && status === condition.status && reason === condition.reason,
    );
    return same ?? { ...condition, lastTransitionTime: moment(), lastUpdateTime: moment() };
  });
}
