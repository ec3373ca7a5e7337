import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { byteAmount } from './amounts.ts';
import type { Cluster } from './cluster.ts';
import { volumeLabels } from './labels.ts';
import { volumeName } from './names.ts';
import { type Rendering, volumesOf } from './rendering.ts';
import { said } from './said.ts';

/** A claim for each bound volume. All deployments that use a volume render the same claim. */
export const kubernetesVolumes = (rendering: Rendering, cluster: Cluster): IPersistentVolumeClaim[] =>
  volumesOf(rendering).map((volume) => {
    const storageClassName = volume.storage_class || cluster.default_storage_class || undefined;
    return {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: volumeName(volume), namespace: cluster.namespace, labels: volumeLabels(volume) },
      spec: {
        accessModes: [volume.access_mode],
        resources: { requests: { storage: byteAmount(volume.size) ?? volume.size } },
        // Left out it is the cluster's default; '' would be none at all.
        ...said({ storageClassName }),
      },
    };
  });
