import type { V1Pod } from '@kubernetes/client-node';
import type { KubernetesObject } from '../../../render/kubernetes.ts';
import { isNameService } from '../../../render/networks/isolation.ts';
import { type DeploymentStatus, withFailure, withoutFailure } from '../../deployment-status.ts';
import { type EngineFailure, Permanent, unlessNotFound } from '../../errors.ts';
import type { Endpoint, Instance, Observation } from '../../observation.ts';
import { messageOfFailure, oneLine, truncate } from '../../redact.ts';
import { findVolumes } from '../cleanup.ts';
import type { KubernetesClient } from '../client.ts';
import { conditionsOf } from '../diagnosis/conditions.ts';
import { lastWarning } from '../diagnosis/events.ts';
import { imageDigestOf } from '../diagnosis/images.ts';
import { messageOfNodes } from '../diagnosis/nodes.ts';
import {
  type FoundObject,
  isWorkload,
  nameOf,
  type ObservedObjects,
  type ReconcileRun,
  type RunningObjects,
} from '../objects.ts';
import { podRedactorFor, redactorFor } from '../redact.ts';
import { type PodStatus, podStatusesOf } from './instances.ts';
import { deploymentStatus, jobStatus, type OtherScalers, podsOfTemplate } from './rollout.ts';

type Service = Extract<KubernetesObject, { kind: 'Service' }>;

/** An address without the state of what is ready at it. */
type Address = Omit<Endpoint, 'instance' | 'ready' | 'current'>;

/** The addresses of a deployment. */
interface Addresses {
  readonly endpoints: readonly Address[];
  /** The UID of a Service whose load balancer has no address. */
  readonly unbalanced?: string | undefined;
}

/**
 * The addresses of the ports of a deployment: within its cluster, and outside if its Service is
 * published.
 */
async function addressesOf(
  client: KubernetesClient,
  { manifest }: RunningObjects,
  pods: readonly V1Pod[],
): Promise<Addresses> {
  const service = manifest.objects.find(
    (object): object is Service => object.kind === 'Service' && !isNameService(object),
  );
  if (!service) return { endpoints: [] };
  const host = `${nameOf(service)}.${client.address.namespace}.svc`;
  const internal = (service.spec?.ports ?? []).map((port) =>
    endpointAt({ host, number: port.port, scope: 'cluster' }, port),
  );
  if (service.spec?.type === 'ClusterIP') return { endpoints: internal };
  const { endpoints, unbalanced } = await published(client, service, pods);
  return { endpoints: [...internal, ...endpoints], unbalanced };
}

interface At {
  readonly host: string;
  readonly number: number;
  readonly scope: 'cluster' | 'public';
}

const endpointAt = (
  { host, number, scope }: At,
  { port, protocol = 'TCP' }: { readonly port: number; readonly protocol?: string },
): Address => ({
  container_port: port,
  protocol,
  address: `${host.includes(':') ? `[${host}]` : host}:${number}`,
  scope,
});

/** The addresses of the load balancer of a Service, or its ports at the node of a pod. */
async function published(client: KubernetesClient, service: Service, pods: readonly V1Pod[]): Promise<Addresses> {
  const { core } = await client.apis();
  const { namespace } = client.address;
  const found = await unlessNotFound(core.readNamespacedService({ name: nameOf(service), namespace }));
  const ports = found?.spec?.ports ?? [];
  if (service.spec?.type === 'LoadBalancer') {
    const hosts = (found?.status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []);
    return {
      endpoints: hosts.flatMap((host) =>
        ports.map((port) => endpointAt({ host, number: port.port, scope: 'public' }, port)),
      ),
      unbalanced: hosts.length === 0 ? found?.metadata?.uid : undefined,
    };
  }
  const host = pods.flatMap(({ status }) => status?.hostIP ?? [])[0];
  const endpoints = ports.flatMap((port) =>
    host === undefined || port.nodePort === undefined
      ? []
      : [endpointAt({ host, number: port.nodePort, scope: 'public' }, port)],
  );
  return { endpoints };
}

/** The observed state of a deployment after it was reconciled to run. */
export async function observationOf(
  run: ReconcileRun,
  observed: ObservedObjects,
  failure: EngineFailure | undefined,
): Promise<Observation> {
  const { client, desired, actions } = run;
  const redact = redactorFor(desired.manifest);
  const podStatuses = await podStatusesOf(client, observed.pods, podRedactorFor(desired.manifest));
  const anyRuns = podStatuses.some(({ state }) => state.phase === 'running');
  const status = failure
    ? withFailure({
        reason: failure.reason,
        message: messageOfFailure(failure, redact),
        anyRuns,
        isPermanent: failure instanceof Permanent,
      })
    : statusOf(run, { ...observed, redact, jobWarning: redact(await warningOfJob(client, observed)) }, podStatuses);
  const claims = await findVolumes(client, volumeNames(desired));
  const volumeWarning = status.reason === 'Unschedulable' ? await whyUnbound(client, claims) : '';
  const nodes = status.phase === 'running' ? '' : await messageOfNodes(client, podStatuses);
  const { endpoints, unbalanced } = anyRuns
    ? await addressesOf(client, desired, observed.pods)
    : { endpoints: [], unbalanced: undefined };
  const instances = instancesOf(run, observed, podStatuses);
  const current = instances.every((instance) => instance.current || !instance.ready);
  return {
    ...status,
    message: `${status.message}${truncate(redact(volumeWarning))}${redact(nodes)}`,
    instances,
    processes: isService(desired) ? podStatuses.flatMap(({ process }) => process ?? []) : [],
    endpoints: endpoints.map((address) => ({ ...address, instance: null, ready: true, current })),
    conditions: await conditionsOf(run, { observed, unbalanced, redact }),
    scale: run.scale && { ...run.scale, manager: run.scale.manager && redact(oneLine(run.scale.manager)) },
    imageDigest: imageDigestOf(observed.pods),
    volumes: claims.filter(({ phase }) => phase === 'Bound').map(({ name }) => name),
    actions,
  };
}

/** The instances, with whether they are ready and current. */
function instancesOf(
  { desired }: ReconcileRun,
  observed: ObservedObjects,
  podStatuses: readonly PodStatus[],
): Instance[] {
  const workload = desired.manifest.objects.find(isWorkload);
  const name = workload && nameOf(workload);
  const deployment = observed.deployments.find(({ metadata }) => metadata?.name === name);
  const current = deployment
    ? podsOfTemplate(deployment, observed)
    : observed.pods.filter(({ metadata }) => metadata?.ownerReferences?.some((owner) => owner.name === name));
  return podStatuses.map(({ pod, state, instance }) => ({
    ...instance,
    current: current.includes(pod),
    ready: state.phase === 'running',
    image_digest: imageDigestOf([pod]) ?? null,
  }));
}

/** Whether the workload is kept running. A job is not restarted. */
const isService = ({ manifest }: RunningObjects): boolean => manifest.objects.some(({ kind }) => kind === 'Deployment');

const volumeNames = ({ manifest }: RunningObjects): string[] =>
  manifest.objects.filter(({ kind }) => kind === 'PersistentVolumeClaim').map(nameOf);

/** The warning of the cluster about a volume that is not bound; '' if there is none. */
async function whyUnbound(client: KubernetesClient, claims: readonly FoundObject[]): Promise<string> {
  const claim = claims.find(({ phase }) => phase === 'Pending');
  const warning = await lastWarning(client, claim?.uid);
  return warning && ` The volume ${claim?.name} is pending: ${warning}`;
}

/** The last warning of the cluster about a Job that has no pods, such as that it rejects them; '' if there is none. */
const warningOfJob = async (client: KubernetesClient, { jobs: [job], pods }: ObservedObjects): Promise<string> =>
  job === undefined || pods.length > 0 ? '' : lastWarning(client, job.metadata?.uid);

interface ObservedWithRedactor extends ObservedObjects {
  readonly redact: (text: string) => string;
  /** Redacted. */
  readonly jobWarning: string;
}

/** Whether programs of the cluster set the number of replicas; undefined if the fleet does. */
function scalersOf({ desired: { scaling }, scale }: ReconcileRun): OtherScalers | undefined {
  if (scaling?.by === 'cluster') return { minimum: scaling.minimum, isIntended: true };
  return scale?.manager == null ? undefined : { minimum: 1, isIntended: false };
}

function statusOf(
  run: ReconcileRun,
  observed: ObservedWithRedactor,
  podStatuses: readonly PodStatus[],
): DeploymentStatus {
  const { client, desired, awaitedDeletions } = run;
  const [first] = awaitedDeletions;
  if (first !== undefined) return withoutFailure('starting', `Waiting for ${first} to be deleted.`, 'soon');
  const workload = desired.manifest.objects.find(isWorkload);
  const isWorkloadObject = ({ metadata }: { metadata?: { name?: string } }) =>
    workload && metadata?.name === nameOf(workload);
  const deployment = workload?.kind === 'Deployment' ? observed.deployments.find(isWorkloadObject) : undefined;
  const stalledSince = client.now() - client.timing.overdue;
  if (deployment)
    return deploymentStatus(deployment, { ...observed, others: scalersOf(run), stalledSince }, podStatuses);
  const job = workload?.kind === 'Job' ? observed.jobs.find(isWorkloadObject) : undefined;
  if (job) return jobStatus(job, podStatuses, observed.jobWarning);
  return withoutFailure('starting', 'Its workload no longer exists.', 'soon');
}
