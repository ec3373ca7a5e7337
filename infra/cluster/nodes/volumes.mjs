import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { repeat } from '../lab/repeat.mjs';

const PROVISIONER = 'cluster.test/folders';
const INTERVAL_MS = 300;
/** The storage classes. In the first one, which is the default, a volume is created when a pod is assigned to a node. */
const CLASSES = { folders: 'WaitForFirstConsumer', 'folders-immediate': 'Immediate' };
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

/**
 * Provides volumes: a folder for each claim, which all nodes share. As with other storage, a new volume belongs to root, and a pod without root
 * needs `fsGroup` to write to it. The data is deleted with the claim.
 */
export async function provideVolumes(call, folder) {
  for (const [name, volumeBindingMode] of Object.entries(CLASSES)) {
    const annotations = name === 'folders' ? { 'storageclass.kubernetes.io/is-default-class': 'true' } : {};
    await call('POST', '/apis/storage.k8s.io/v1/storageclasses', {
      ...{ metadata: { name, annotations }, provisioner: PROVISIONER, volumeBindingMode, reclaimPolicy: 'Delete' },
    });
  }
  const sync = async () => {
    const { body: claims } = await call('GET', '/api/v1/persistentvolumeclaims?resourceVersion=0');
    for (const claim of claims.items) if (needsVolume(claim)) await createVolume(call, folder, claim);
    const { body: volumes } = await call('GET', '/api/v1/persistentvolumes?resourceVersion=0');
    for (const volume of volumes.items) if (isReleased(volume)) await deleteVolume(call, volume);
  };
  await repeat('sync of volumes', sync, INTERVAL_MS);
}

const needsVolume = ({ metadata, spec, status }) =>
  status.phase === 'Pending' &&
  spec.storageClassName in CLASSES &&
  (CLASSES[spec.storageClassName] === 'Immediate' || metadata.annotations?.[SELECTED_NODE] !== undefined);

const isReleased = ({ metadata, status, spec }) =>
  status.phase === 'Released' &&
  spec.persistentVolumeReclaimPolicy === 'Delete' &&
  metadata.annotations?.['pv.kubernetes.io/provisioned-by'] === PROVISIONER;

async function createVolume(call, folder, { metadata, spec }) {
  const name = `pvc-${metadata.uid}`;
  const target = path.join(folder, name);
  mkdirSync(target, { recursive: true });
  chmodSync(target, 0o755);
  await call('POST', '/api/v1/persistentvolumes', {
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER } },
    spec: {
      ...{ capacity: spec.resources.requests, accessModes: spec.accessModes, storageClassName: spec.storageClassName },
      ...{ local: { path: target }, persistentVolumeReclaimPolicy: 'Delete' },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }] }],
        },
      },
      claimRef: {
        ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
        ...{ namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
      },
    },
  });
}

async function deleteVolume(call, { metadata, spec }) {
  rmSync(spec.local.path, { recursive: true, force: true });
  await call('DELETE', `/api/v1/persistentvolumes/${metadata.name}`);
}
