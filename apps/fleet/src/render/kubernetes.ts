import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IService } from 'kubernetes-models/v1/Service';
import { gpuCountOf } from '../placement/requirements.ts';
import { byteAmount } from '../quantities.ts';
import { generationOf, labelsOf, objectName, selectorOf, volumeLabels, volumeName, wishesOf } from './labels.ts';
import { type Cluster, kubernetesSecrets, type Metadata, podTemplate, portName } from './pod.ts';
import { isJob, portsOf, type Rendering, type Secrecy, said, volumesOf } from './rendering.ts';
import { demandRenderable } from './spec-problems.ts';

/** A claim for each bound volume. All deployments that use a volume render the same claim. */
const kubernetesVolumes = (rendering: Rendering, cluster: Cluster): IPersistentVolumeClaim[] =>
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

interface Given {
  readonly metadata: Metadata;
  readonly gpuResource: string;
}

/** How long a pull of some 20 GB and a start may take before Kubernetes says that nothing goes on. */
const PROGRESS_DEADLINE_SECONDS = 1800;
/** There are no probes: a container that lives this long counts as started. */
const MIN_READY_SECONDS = 10;
/** The fleet keeps the revisions; one of Kubernetes' own is enough to look at. */
const REVISION_HISTORY_LIMIT = 1;

/** What runs: a Job where it ends by itself, else a Deployment. */
function kubernetesWorkload(rendering: Rendering, { metadata, gpuResource }: Given): IDeployment | IJob {
  const template = podTemplate(rendering, gpuResource);
  const annotated = { ...metadata, annotations: { ...metadata.annotations, ...wishesOf(rendering) } };
  return isJob(rendering) ? job(rendering, annotated, template) : deployment(rendering, annotated, template);
}

type Template = ReturnType<typeof podTemplate>;

const deployment = (rendering: Rendering, metadata: Metadata, template: Template): IDeployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...metadata, name: objectName(rendering) },
  spec: {
    replicas: rendering.replicas,
    selector: { matchLabels: selectorOf(rendering) },
    strategy: strategyOf(rendering),
    progressDeadlineSeconds: PROGRESS_DEADLINE_SECONDS,
    minReadySeconds: MIN_READY_SECONDS,
    revisionHistoryLimit: REVISION_HISTORY_LIMIT,
    template,
  },
});

/**
 * A volume for one node is given up before another pod can have it: started first, the new pod would wait for the old
 * one's volume and the old one for the new pod. GPUs are counted out, so there is none to spare for a pod too many.
 * `rollingUpdate` is always written: of fields that it set itself, Kubernetes would not rid a later `Recreate`.
 */
function strategyOf(rendering: Rendering): NonNullable<NonNullable<IDeployment['spec']>['strategy']> {
  if (volumesOf(rendering).some(({ access_mode }) => access_mode === 'ReadWriteOnce')) return { type: 'Recreate' };
  const rollingUpdate =
    gpuCountOf(rendering.spec) > 0 ? { maxSurge: 0, maxUnavailable: 1 } : { maxSurge: 1, maxUnavailable: 0 };
  return { type: 'RollingUpdate', rollingUpdate };
}

/**
 * A Job can't be changed, so each generation has its own. It runs once: whether to run again is the fleet's decision.
 * One of none is suspended: with nothing to complete it would be complete.
 */
const job = (rendering: Rendering, metadata: Metadata, template: Template): IJob => {
  const pods = Math.max(1, rendering.replicas);
  const suspended = rendering.replicas === 0 ? { suspend: true } : {}; // older clusters know no suspension
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...metadata, name: `${objectName(rendering)}-${rendering.generation}` },
    spec: { ...suspended, completions: pods, parallelism: pods, backoffLimit: 0, template },
  };
};

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
