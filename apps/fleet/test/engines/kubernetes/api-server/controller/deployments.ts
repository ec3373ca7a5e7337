import { createHash } from 'node:crypto';
import { at, inNamespaceOf, metaOf, type Stored, type Tree, textAt } from '../objects.ts';
import type { Store } from '../store.ts';
import type { ControlledCluster } from './controls.ts';
import { allOwnedBy, conditions, isReady, ownedBy, podsOwnedBy } from './pods.ts';

const REVISION = 'deployment.kubernetes.io/revision';

/** Rolls a Deployment out. */
export function reconcileDeployment(cluster: ControlledCluster, deployment: Stored): void {
  if (deployment.metadata.deletionTimestamp) return;
  const { store } = cluster;
  const current = replicaSetFor(store, deployment);
  const old = ownSets(store, deployment).filter(({ metadata }) => metadata.uid !== current.metadata.uid);
  const wanted = Number(at(deployment, 'spec.replicas') ?? 1);
  const count = (set: Stored) => podsOwnedBy(store, set).length;
  const oldCount = old.reduce((all, set) => all + count(set), 0);
  if (textAt(deployment, 'spec.strategy.type') === 'Recreate') {
    for (const set of old) scale(store, set, 0);
    const isClear = old.every((set) => allOwnedBy(store, set.metadata.uid).length === 0);
    if (isClear) scale(store, current, wanted);
  } else {
    const surge = Number(at(deployment, 'spec.strategy.rollingUpdate.maxSurge') ?? 1);
    const missing = Number(at(deployment, 'spec.strategy.rollingUpdate.maxUnavailable') ?? 0);
    scale(store, current, Math.max(0, Math.min(wanted, wanted + surge - oldCount)));
    const ready = [current, ...old].flatMap((set) => podsOwnedBy(store, set)).filter(isReady).length;
    let spare = Math.max(0, ready - (wanted - missing));
    for (const set of old) {
      const broken = podsOwnedBy(store, set).filter((pod) => !isReady(pod)).length;
      const less = Math.min(count(set), spare + broken);
      spare -= Math.max(0, less - broken);
      scale(store, set, count(set) - less);
    }
  }
  updateStatus(cluster, deployment, current);
}

const ownSets = (store: Store, { metadata }: Stored): Stored[] =>
  store.list('replicasets').filter((set) => set.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));

const revisionOf = ({ metadata }: Stored): number => Number(metadata.annotations?.[REVISION] ?? 0);

/**
 * The ReplicaSet of the current template. It is created if it does not exist, and gets the latest
 * revision.
 */
function replicaSetFor(store: Store, deployment: Stored): Stored {
  const template = (at(deployment, 'spec.template') ?? {}) as Tree;
  const hash = createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 10);
  const all = ownSets(store, deployment);
  const latest = Math.max(0, ...all.map(revisionOf));
  const found = all.find(({ metadata }) => metadata.labels?.['pod-template-hash'] === hash);
  if (found && revisionOf(found) === latest) return found;
  const annotations = { [REVISION]: String(latest + 1) };
  if (found) return store.put('replicasets', { ...found, metadata: { ...found.metadata, annotations } });
  const labels = { ...(at(template, 'metadata.labels') as Record<string, string>), 'pod-template-hash': hash };
  const metadata = metaOf({
    ...inNamespaceOf(deployment),
    name: `${deployment.metadata.name}-${hash}`,
    labels,
    annotations,
    ownerReferences: [ownedBy(deployment)],
  });
  const spec = { replicas: 0, template: { ...template, metadata: { ...(template.metadata as Tree), labels } } };
  return store.put('replicasets', { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec });
}

function scale(store: Store, set: Stored, replicas: number): void {
  const now = store.find('replicasets', set.metadata.namespace, set.metadata.name);
  if (now) store.put('replicasets', { ...now, spec: { ...now.spec, replicas } });
}

/** Updates the status of a Deployment as its controller does. */
function updateStatus({ store, controls, refusedPods }: ControlledCluster, deployment: Stored, current: Stored): void {
  const all = ownSets(store, deployment).flatMap((set) => podsOwnedBy(store, set));
  const updated = podsOwnedBy(store, current);
  const ready = all.filter(isReady).length;
  const wanted = Number(at(deployment, 'spec.replicas') ?? 1);
  const refused = controls.refusesPods ?? refusedPods.get(current.metadata.uid);
  const now = store.find('deployments', deployment.metadata.namespace, deployment.metadata.name);
  if (!now) return;
  const status = {
    observedGeneration: now.metadata.generation,
    replicas: all.length,
    updatedReplicas: updated.length,
    readyReplicas: ready,
    availableReplicas: ready,
    conditions: conditions(now.status, [
      { type: 'Available', status: ready >= wanted ? 'True' : 'False', reason: 'MinimumReplicas' },
      ...(exceededDeadline(now) ?? [{ type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' }]),
      ...(refused && updated.length < wanted
        ? [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: refused }]
        : []),
    ]),
  };
  const annotations = { ...now.metadata.annotations, [REVISION]: String(revisionOf(current)) };
  store.put('deployments', { ...now, status, metadata: { ...now.metadata, annotations } });
}

/** The condition of an exceeded progress deadline, which stays until the Deployment is changed. */
function exceededDeadline({ status, metadata }: Stored): Tree[] | undefined {
  const known = (Array.isArray(status?.conditions) ? status.conditions : []) as Tree[];
  const late = known.filter(({ reason }) => reason === 'ProgressDeadlineExceeded');
  return late.length > 0 && status?.observedGeneration === metadata.generation ? late : undefined;
}
