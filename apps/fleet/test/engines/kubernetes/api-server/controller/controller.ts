import { usedOf } from '../admission/limits.ts';
import { at, isTree, moment, type Stored, textAt } from '../objects.ts';
import type { Store } from '../store.ts';
import type { ControlledCluster } from './controls.ts';
import { reconcileDeployment } from './deployments.ts';
import { reconcileJob } from './jobs.ts';
import { deletePod, makePods, podsOwnedBy } from './pods.ts';
import { schedulePods } from './scheduler.ts';

const MAX_ROUNDS = 100;

/** Acts as the controllers, the nodes and the garbage collector, until nothing changes. */
export function runControllers(cluster: ControlledCluster): void {
  const { store } = cluster;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { version } = store;
    runOnce(cluster);
    if (store.version === version) return;
  }
  const last = store.changes.slice(-4).map(({ type, object }) => `${type} ${JSON.stringify(object)}`);
  throw new Error(`the cluster does not settle: ${last.join('\n')}`);
}

function runOnce(cluster: ControlledCluster): void {
  const { store, controls } = cluster;
  for (const claim of store.list('persistentvolumeclaims')) reconcileClaim(cluster, claim);
  for (const object of store.list('services')) assignAddress(store, object);
  if (!controls.isFrozen) {
    for (const deployment of store.list('deployments')) reconcileDeployment(cluster, deployment);
    for (const replicaSet of store.list('replicasets')) reconcileReplicaSet(cluster, replicaSet);
    for (const job of store.list('jobs')) reconcileJob(cluster, job);
  }
  if (controls.schedules) schedulePods(cluster);
  for (const quota of store.list('resourcequotas')) updateQuota(store, quota);
  for (const pod of store.list('pods')) if (!controls.delaysPodDeletion) finishDeletion(store, pod);
  for (const resource of ['deployments', 'replicasets', 'jobs']) collectGarbage(store, resource);
}

function reconcileReplicaSet(cluster: ControlledCluster, replicaSet: Stored): void {
  if (replicaSet.metadata.deletionTimestamp) return;
  const wanted = Number(at(replicaSet, 'spec.replicas') ?? 0);
  const pods = podsOwnedBy(cluster.store, replicaSet);
  for (const pod of pods.slice(wanted)) deletePod(cluster.store, pod);
  makePods(cluster, replicaSet, wanted - pods.length);
}

function updateQuota(store: Store, quota: Stored): void {
  store.put('resourcequotas', { ...quota, status: { hard: at(quota, 'spec.hard'), used: usedOf(store, quota) } });
}

function assignAddress(store: Store, service: Stored): void {
  if (textAt(service, 'spec.clusterIP') === '')
    store.put('services', { ...service, spec: { ...service.spec, clusterIP: '10.96.0.10' } });
}

const PROTECTION = 'kubernetes.io/pvc-protection';

/** Binds a claim, and protects it while a pod uses it. */
function reconcileClaim({ store, controls }: ControlledCluster, claim: Stored): void {
  const { metadata } = claim;
  const isUsed = store.list('pods', metadata.namespace).some((pod) => usesClaim(pod, metadata.name));
  const others = (metadata.finalizers ?? []).filter((each) => each !== PROTECTION);
  const finalizers = metadata.deletionTimestamp && !isUsed ? others : [...others, PROTECTION];
  const phase = textAt(claim, 'status.phase') || 'Pending';
  const status = { ...claim.status, phase: phase === 'Pending' && controls.bindsClaims ? 'Bound' : phase };
  store.put('persistentvolumeclaims', { ...claim, status, metadata: { ...metadata, finalizers } });
}

function usesClaim(pod: Stored, name: string): boolean {
  const volumes = at(pod, 'spec.volumes');
  return (
    Array.isArray(volumes) &&
    volumes.some((volume) => isTree(volume) && textAt(volume, 'persistentVolumeClaim.claimName') === name)
  );
}

/** Completes the deletion of a pod, as its node does. */
function finishDeletion(store: Store, pod: Stored): void {
  if (!pod.metadata.deletionTimestamp) return;
  const finalizers = (pod.metadata.finalizers ?? []).filter((each) => each !== 'kubelet');
  store.put('pods', { ...pod, metadata: { ...pod.metadata, finalizers } });
}

/**
 * Deletes the dependents of deleted objects: before the owner with foreground deletion, otherwise
 * after it.
 */
function collectGarbage(store: Store, resource: string): void {
  for (const owner of store.list(resource)) {
    const { metadata } = owner;
    if (!metadata.finalizers?.includes('foregroundDeletion')) continue;
    const made = dependentsOf(store, (uid) => uid === metadata.uid);
    for (const [of, object] of made) discard(store, of, object);
    if (made.length > 0) continue;
    const finalizers = metadata.finalizers.filter((each) => each !== 'foregroundDeletion');
    store.put(resource, { ...owner, metadata: { ...metadata, finalizers } });
  }
  const uids = new Set(
    ['deployments', 'replicasets', 'jobs'].flatMap((of) => store.list(of).map(({ metadata }) => metadata.uid)),
  );
  for (const [of, object] of dependentsOf(store, (uid) => !uids.has(uid))) discard(store, of, object);
}

const dependentsOf = (store: Store, isMeant: (uid: string) => boolean): [string, Stored][] =>
  ['replicasets', 'pods'].flatMap((of) =>
    store
      .list(of)
      .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => isMeant(uid)))
      .map((object): [string, Stored] => [of, object]),
  );

function discard(store: Store, resource: string, object: Stored): void {
  if (resource === 'pods') deletePod(store, object);
  else if (!object.metadata.deletionTimestamp) {
    const finalizers = [...(object.metadata.finalizers ?? []), 'foregroundDeletion'];
    store.put(resource, { ...object, metadata: { ...object.metadata, finalizers, deletionTimestamp: moment() } });
  }
}
