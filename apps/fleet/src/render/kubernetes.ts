import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IService } from 'kubernetes-models/v1/Service';
import type { Cluster, Metadata } from './cluster.ts';
import { kubernetesSecrets } from './kubernetes-secrets.ts';
import { kubernetesVolumes } from './kubernetes-volumes.ts';
import { kubernetesWorkload } from './kubernetes-workload.ts';
import { generationOf, labelsOf, selectorOf } from './labels.ts';
import { objectName } from './names.ts';
import { portName } from './pod.ts';
import { portsOf, type Rendering, type Secrecy } from './rendering.ts';
import { demandRenderable } from './spec-problems.ts';

export type KubernetesObject = ISecret | IPersistentVolumeClaim | IDeployment | IJob | IService;

/** The objects of a deployment in the order in which they are applied. */
export interface KubernetesManifest<S extends Secrecy> {
  /** Placeholders are for people, values for the cluster: one can't be given where the other is asked for. */
  readonly secrecy: S;
  readonly objects: readonly KubernetesObject[];
}

/**
 * A deployment as Kubernetes objects, for server-side apply. The same rendering is the same text.
 *
 * @throws Error for what is refused before a deployment is stored
 */
export function renderKubernetes<S extends Secrecy>(rendering: Rendering<S>, cluster: Cluster): KubernetesManifest<S> {
  demandRenderable(rendering.spec);
  const metadata = {
    namespace: cluster.namespace,
    labels: labelsOf(rendering),
    annotations: generationOf(rendering),
  };
  return {
    secrecy: rendering.secrets.secrecy,
    objects: [
      ...kubernetesSecrets(rendering, metadata),
      ...kubernetesVolumes(rendering, cluster),
      kubernetesWorkload(rendering, { metadata, gpuResource: cluster.gpu_resource_name }),
      ...services(rendering, metadata),
    ],
  };
}

function services(rendering: Rendering, metadata: Metadata): IService[] {
  const ports = portsOf(rendering.spec).map((port) => ({
    name: portName(port),
    port: port.containerPort,
    protocol: port.protocol,
    targetPort: portName(port),
  }));
  if (ports.length === 0) return [];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...metadata, name: objectName(rendering) },
      spec: { type: 'ClusterIP', selector: selectorOf(rendering), ports },
    },
  ];
}
