import { NEW_UPDATES, type Updates } from '@svc/contract/fleet';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v1/HorizontalPodAutoscaler';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IService } from 'kubernetes-models/v1/Service';
import { gpuCountOf } from '../placement/candidates.ts';
import { byteAmount } from '../placement/quantities.ts';
import { disruptionBudgets } from './disruption.ts';
import { labelsOf, objectName, originOf, placementLabels, selectorOf, volumeLabels, volumeName } from './labels.ts';
import { applicationLabel, nameServices, networkPolicies } from './networks/isolation.ts';
import { type Cluster, kubernetesSecrets, type Metadata, podTemplate, portName } from './pod.ts';
import { objectLabels } from './pod-settings.ts';
import { isJob, omitEmpty, portsOf, type Rendering, type Secrecy, volumesOf } from './rendering.ts';
import { assertRenderable } from './spec-problems.ts';

/** A claim for each bound volume. All deployments that use a volume render the same claim. */
const kubernetesVolumes = (rendering: Rendering, cluster: Cluster): IPersistentVolumeClaim[] =>
  volumesOf(rendering).map((volume) => {
    const storageClassName = volume.storage_class || cluster.default_storage_class || undefined;
    return {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: volumeName(volume),
        namespace: cluster.namespace,
        labels: { ...objectLabels(volume.labels), ...cluster.object_labels, ...volumeLabels(volume) },
        ...omitEmpty({ annotations: cluster.object_annotations }),
      },
      spec: {
        accessModes: [volume.access_mode],
        resources: { requests: { storage: byteAmount(volume.size) ?? volume.size } },
        // Without the member, the default class of the cluster applies; '' would disable dynamic
        // provisioning.
        ...omitEmpty({ storageClassName }),
      },
    };
  });

interface WorkloadContext {
  readonly metadata: Metadata;
  readonly cluster: Cluster;
}

/**
 * The fleet stores the revisions itself. One ReplicaSet of Kubernetes' history is enough for
 * inspection.
 */
const REVISION_HISTORY_LIMIT = 1;

/** The workload object: a Job for a job, else a Deployment. */
function kubernetesWorkload(rendering: Rendering, { metadata, cluster }: WorkloadContext): IDeployment | IJob {
  const template = podTemplate(rendering, cluster);
  const annotated = { ...metadata, annotations: { ...metadata.annotations, ...placementLabels(rendering) } };
  return isJob(rendering) ? job(rendering, annotated, template) : deployment(rendering, annotated, template);
}

type Template = ReturnType<typeof podTemplate>;

/**
 * Most workloads have no probe, so a container counts as available when it has run for some seconds. By default, a pull of about 20 GB
 * and a start can complete before Kubernetes reports that the deployment does not progress.
 */
const deployment = (rendering: Rendering, metadata: Metadata, template: Template): IDeployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...metadata, name: objectName(rendering) },
  spec: {
    replicas: replicasAtStart(rendering),
    selector: { matchLabels: selectorOf(rendering) },
    strategy: strategyOf(rendering),
    progressDeadlineSeconds: updatesOf(rendering).deadline_seconds,
    minReadySeconds: updatesOf(rendering).ready_seconds,
    revisionHistoryLimit: REVISION_HISTORY_LIMIT,
    template,
  },
});

const updatesOf = ({ updates = NEW_UPDATES }: Rendering): Updates => updates;

/** The number of replicas of a new Deployment. An autoscaler would change another one at once. */
function replicasAtStart({ replicas, autoscaling }: Rendering): number {
  if (autoscaling === null || replicas === 0) return replicas;
  return Math.min(Math.max(replicas, autoscaling.min_replicas), autoscaling.max_replicas);
}

/**
 * The update strategy. With a ReadWriteOnce volume, the old pod must end first: a new pod would
 * wait for the volume of the old pod, and the rollout would wait for the new pod. With GPUs there
 * is no surge, because none are allocated for an additional pod, and neither if old pods are to end
 * first. `rollingUpdate` is always set: if Kubernetes set its default, a later `Recreate` would not
 * remove it.
 */
function strategyOf(rendering: Rendering): NonNullable<NonNullable<IDeployment['spec']>['strategy']> {
  if (volumesOf(rendering).some(({ access_mode }) => access_mode === 'ReadWriteOnce')) return { type: 'Recreate' };
  const endsFirst = gpuCountOf(rendering.spec) > 0 || updatesOf(rendering).order === 'stop_first';
  const rollingUpdate = endsFirst ? { maxSurge: 0, maxUnavailable: 1 } : { maxSurge: 1, maxUnavailable: 0 };
  return { type: 'RollingUpdate', rollingUpdate };
}

/**
 * A Job is immutable, so each generation has its own. It has no retries, because the fleet decides
 * about them. A Job without replicas is suspended: with zero completions, it would be complete.
 */
const job = (rendering: Rendering, metadata: Metadata, template: Template): IJob => {
  const pods = Math.max(1, rendering.replicas);
  // `suspend` is otherwise omitted, because older clusters do not support it.
  const suspended = rendering.replicas === 0 ? { suspend: true } : {};
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...metadata, name: `${objectName(rendering)}-${rendering.generation}` },
    spec: { ...suspended, completions: pods, parallelism: pods, backoffLimit: 0, template },
  };
};

export type KubernetesObject =
  | ISecret
  | IPersistentVolumeClaim
  | IDeployment
  | IJob
  | IHorizontalPodAutoscaler
  | IService
  | IPodDisruptionBudget
  | INetworkPolicy;

/** The objects of a deployment in the order in which they are applied. */
export interface KubernetesManifest<S extends Secrecy> {
  /**
   * A manifest with placeholders is shown to users, one with values goes to the cluster. The type
   * keeps them apart.
   */
  readonly secrecy: S;
  readonly objects: readonly KubernetesObject[];
}

/**
 * Renders a deployment as Kubernetes objects for server-side apply. Equal renderings produce equal
 * text.
 *
 * @throws Error for a workload that validation refuses before a deployment is stored
 */
export function renderKubernetes<S extends Secrecy>(rendering: Rendering<S>, cluster: Cluster): KubernetesManifest<S> {
  assertRenderable(rendering.spec);
  const metadata = {
    namespace: cluster.namespace,
    labels: {
      ...objectLabels(rendering.labels),
      ...cluster.object_labels,
      ...labelsOf(rendering),
      ...applicationLabel(rendering),
    },
    annotations: { ...cluster.object_annotations, ...originOf(rendering) },
  };
  const shared = {
    namespace: cluster.namespace,
    labels: cluster.object_labels,
    annotations: cluster.object_annotations,
  };
  return {
    secrecy: rendering.secrets.secrecy,
    objects: [
      ...kubernetesSecrets(rendering, metadata),
      ...kubernetesVolumes(rendering, cluster),
      // A pod is isolated from its start.
      ...networkPolicies(rendering, metadata, cluster.network_policies),
      kubernetesWorkload(rendering, { metadata, cluster }),
      ...autoscalers(rendering, metadata),
      ...services(rendering, metadata, cluster),
      ...nameServices(rendering, shared),
      ...disruptionBudgets(rendering, metadata, cluster.disruption_budgets),
    ],
  };
}

/** The autoscaler of a Deployment. All versions of Kubernetes have `autoscaling/v1`. */
function autoscalers(rendering: Rendering, metadata: Metadata): IHorizontalPodAutoscaler[] {
  const { autoscaling, replicas } = rendering;
  if (autoscaling === null || replicas === 0 || isJob(rendering)) return [];
  const name = objectName(rendering);
  return [
    {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { ...metadata, name },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
        minReplicas: autoscaling.min_replicas,
        maxReplicas: autoscaling.max_replicas,
        targetCPUUtilizationPercentage: autoscaling.cpu_percent,
      },
    },
  ];
}

function services(rendering: Rendering, metadata: Metadata, { public_service_type }: Cluster): IService[] {
  const ports = portsOf(rendering.spec).map((port) => ({
    name: portName(port),
    port: port.containerPort,
    protocol: port.protocol,
    targetPort: portName(port),
  }));
  if (ports.length === 0) return [];
  const type = rendering.spec.required_network_types.includes('public') ? public_service_type : 'ClusterIP';
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...metadata, name: objectName(rendering) },
      spec: { type, selector: selectorOf(rendering), ports },
    },
  ];
}
