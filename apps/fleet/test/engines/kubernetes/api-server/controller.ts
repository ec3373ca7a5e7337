import { moveDeployment } from './deployments.ts';
import type { Moved } from './hands.ts';
import { moveJob } from './jobs.ts';
import { at, isTree, moment, type Stored, textAt } from './objects.ts';
import { deletePod, makePods, podsOwnedBy } from './pods.ts';
import type { Store } from './store.ts';

const MOST_ROUNDS = 100;

/** Moves everything as controllers, nodes and the collector of garbage would, until nothing moves any more. */
export function settle(cluster: Moved): void {
  const { store } = cluster;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const { version } = store;
    moveAll(cluster);
    if (store.version === version) return;
  }
  const last = store.changes.slice(-4).map(({ type, object }) => `${type} ${JSON.stringify(object)}`);
  throw new Error(`the cluster never comes to rest: ${last.join('\n')}`);
}

function moveAll(cluster: Moved): void {
  const { store, hands } = cluster;
  for (const claim of store.list('persistentvolumeclaims')) moveClaim(cluster, claim);
  for (const object of store.list('services')) giveAddress(store, object);
  if (!hands.isFrozen) {
    for (const deployment of store.list('deployments')) moveDeployment(cluster, deployment);
    for (const replicaSet of store.list('replicasets')) moveReplicaSet(cluster, replicaSet);
    for (const job of store.list('jobs')) moveJob(cluster, job);
  }
  for (const pod of store.list('pods')) if (!hands.keepsDying) bury(store, pod);
  for (const resource of ['deployments', 'replicasets', 'jobs']) collect(store, resource);
}

function moveReplicaSet(cluster: Moved, replicaSet: Stored): void {
  if (replicaSet.metadata.deletionTimestamp) return;
  const wanted = Number(at(replicaSet, 'spec.replicas') ?? 0);
  const pods = podsOwnedBy(cluster.store, replicaSet);
  for (const pod of pods.slice(wanted)) deletePod(cluster.store, pod);
  makePods(cluster, replicaSet, wanted - pods.length);
}

function giveAddress(store: Store, service: Stored): void {
  if (textAt(service, 'spec.clusterIP') === '')
    store.put('services', { ...service, spec: { ...service.spec, clusterIP: '10.96.0.10' } });
}

const PROTECTION = 'kubernetes.io/pvc-protection';

/** A claim is bound, and kept while a pod has it. */
function moveClaim({ store, hands }: Moved, claim: Stored): void {
  const { metadata } = claim;
  const isUsed = store.list('pods', metadata.namespace).some((pod) => usesClaim(pod, metadata.name));
  const others = (metadata.finalizers ?? []).filter((each) => each !== PROTECTION);
  const finalizers = metadata.deletionTimestamp && !isUsed ? others : [...others, PROTECTION];
  const phase = textAt(claim, 'status.phase') || 'Pending';
  const status = { ...claim.status, phase: phase === 'Pending' && hands.bindsClaims ? 'Bound' : phase };
  store.put('persistentvolumeclaims', { ...claim, status, metadata: { ...metadata, finalizers } });
}

function usesClaim(pod: Stored, name: string): boolean {
  const volumes = at(pod, 'spec.volumes');
  return (
    Array.isArray(volumes) &&
    volumes.some((volume) => isTree(volume) && textAt(volume, 'persistentVolumeClaim.claimName') === name)
  );
}

/** A pod that was deleted is gone when its node says so. */
function bury(store: Store, pod: Stored): void {
  if (!pod.metadata.deletionTimestamp) return;
  const finalizers = (pod.metadata.finalizers ?? []).filter((each) => each !== 'kubelet');
  store.put('pods', { ...pod, metadata: { ...pod.metadata, finalizers } });
}

/** What was made by something goes with it: before it where that was asked for, else after it. */
function collect(store: Store, resource: string): void {
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
