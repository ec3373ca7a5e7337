import type { V1DeleteOptions, V1Deployment, V1Job, V1ObjectMeta, V1Pod, V1ReplicaSet } from '@kubernetes/client-node';
import type { Scaler } from '@svc/contract/fleet';
import type { KubernetesManifest, KubernetesObject } from '../../render/kubernetes.ts';
import { KEYS } from '../../render/labels.ts';
import { supersededObservation } from '../deployment-status.ts';
import { EngineFailure, Permanent, unlessNotFound } from '../errors.ts';
import type { DesiredRunning as Base, DesiredEnd, Fence, Observation, ObservedScale } from '../observation.ts';
import { FIELD_MANAGER } from './applied.ts';
import type { Apis, KubernetesClient } from './client.ts';
import { unlessForbidden } from './errors.ts';

/** The kinds of objects that the fleet creates. */
export type ObjectKind = KubernetesObject['kind'];

/** An existing object. */
export interface FoundObject {
  readonly kind: ObjectKind;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The generation of the deployment that the object was applied for; 0 if unknown. */
  readonly generation: number;
  /** `deletionTimestamp` of an object that is being deleted. */
  readonly deletionTime: Date | undefined;
  /** `Pending`, `Bound` or `Lost` for a volume; '' for objects without a phase. */
  readonly phase: string;
  readonly metadata: V1ObjectMeta;
  /** `spec.replicas` of a Deployment. */
  readonly replicas: number | undefined;
}

type Item = { readonly metadata?: V1ObjectMeta; readonly spec?: object; readonly status?: object };

interface Selection {
  readonly namespace: string;
  readonly labelSelector: string;
  readonly limit?: number;
  readonly _continue?: string;
}

/** The parameters of a server-side apply. */
interface Applied {
  readonly name: string;
  readonly namespace: string;
  readonly body: object;
  readonly fieldManager: string;
  readonly fieldValidation: string;
  readonly force: boolean;
  readonly dryRun?: string;
}

interface KindApi {
  list(apis: Apis, selection: Selection): Promise<{ items?: readonly Item[]; metadata?: { _continue?: string } }>;
  read(apis: Apis, selection: { name: string; namespace: string }): Promise<Item>;
  apply(apis: Apis, what: Applied): Promise<Item>;
  remove(apis: Apis, selection: { name: string; namespace: string; body: V1DeleteOptions }): Promise<unknown>;
}

const KIND_APIS: Readonly<Record<ObjectKind, KindApi>> = {
  Deployment: {
    list: ({ apps }, request) => apps.listNamespacedDeployment(request),
    read: ({ apps }, request) => apps.readNamespacedDeployment(request),
    apply: ({ apps }, request) => apps.patchNamespacedDeployment(request),
    remove: ({ apps }, request) => apps.deleteNamespacedDeployment(request),
  },
  Job: {
    list: ({ batch }, request) => batch.listNamespacedJob(request),
    read: ({ batch }, request) => batch.readNamespacedJob(request),
    apply: ({ batch }, request) => batch.patchNamespacedJob(request),
    remove: ({ batch }, request) => batch.deleteNamespacedJob(request),
  },
  HorizontalPodAutoscaler: {
    list: ({ autoscaling }, request) => autoscaling.listNamespacedHorizontalPodAutoscaler(request),
    read: ({ autoscaling }, request) => autoscaling.readNamespacedHorizontalPodAutoscaler(request),
    apply: ({ autoscaling }, request) => autoscaling.patchNamespacedHorizontalPodAutoscaler(request),
    remove: ({ autoscaling }, request) => autoscaling.deleteNamespacedHorizontalPodAutoscaler(request),
  },
  Service: {
    list: ({ core }, request) => core.listNamespacedService(request),
    read: ({ core }, request) => core.readNamespacedService(request),
    apply: ({ core }, request) => core.patchNamespacedService(request),
    remove: ({ core }, request) => core.deleteNamespacedService(request),
  },
  Secret: {
    list: ({ core }, request) => core.listNamespacedSecret(request),
    read: ({ core }, request) => core.readNamespacedSecret(request),
    apply: ({ core }, request) => core.patchNamespacedSecret(request),
    remove: ({ core }, request) => core.deleteNamespacedSecret(request),
  },
  PersistentVolumeClaim: {
    list: ({ core }, request) => core.listNamespacedPersistentVolumeClaim(request),
    read: ({ core }, request) => core.readNamespacedPersistentVolumeClaim(request),
    apply: ({ core }, request) => core.patchNamespacedPersistentVolumeClaim(request),
    remove: ({ core }, request) => core.deleteNamespacedPersistentVolumeClaim(request),
  },
  NetworkPolicy: {
    list: ({ networking }, request) => networking.listNamespacedNetworkPolicy(request),
    read: ({ networking }, request) => networking.readNamespacedNetworkPolicy(request),
    apply: ({ networking }, request) => networking.patchNamespacedNetworkPolicy(request),
    remove: ({ networking }, request) => networking.deleteNamespacedNetworkPolicy(request),
  },
  PodDisruptionBudget: {
    list: ({ policy }, request) => policy.listNamespacedPodDisruptionBudget(request),
    read: ({ policy }, request) => policy.readNamespacedPodDisruptionBudget(request),
    apply: ({ policy }, request) => policy.patchNamespacedPodDisruptionBudget(request),
    remove: ({ policy }, request) => policy.deleteNamespacedPodDisruptionBudget(request),
  },
};

const OWNED = ['Deployment', 'Job', 'Service', 'Secret'] as const;

/**
 * The kinds whose objects belong to one deployment, without those that the cluster does not have or
 * does not permit. Volumes do not belong to one.
 */
export const ownedKinds = ({ address }: Pick<KubernetesClient, 'address'>): readonly ObjectKind[] => [
  ...OWNED,
  ...(address.has_network_policies ? (['NetworkPolicy'] as const) : []),
  ...(address.has_disruption_budgets ? (['PodDisruptionBudget'] as const) : []),
];

/** The same with those that few deployments have. They come first, and are deleted first. */
const allOwnedKinds = (client: Pick<KubernetesClient, 'address'>): readonly ObjectKind[] => [
  'HorizontalPodAutoscaler',
  ...ownedKinds(client),
];

/** The kinds that need an optional permission. Without it, the fleet has created no object of them. */
const OPTIONAL: readonly ObjectKind[] = ['HorizontalPodAutoscaler'];

/** The label selector for all objects of a deployment. */
export const selectorOf = (deploymentId: string): string =>
  `${KEYS.managedBy}=fleet,${KEYS.deployment}=${deploymentId}`;

/** The label selector for all objects of the parts of an application, and for the Service with their names. */
export const selectorOfApplication = (applicationId: string): string =>
  `${KEYS.managedBy}=fleet,${KEYS.application}=${applicationId}`;

/** Whether it sets the number of pods of a workload. */
export const isScaler = ({ kind }: { readonly kind: ObjectKind }): boolean => kind === 'HorizontalPodAutoscaler';

/** Whether it runs pods. */
export const isWorkload = ({ kind }: { readonly kind: ObjectKind }): boolean => kind === 'Deployment' || kind === 'Job';

/** The objects of a deployment, without volumes, by default of all kinds. */
export const listOwnedObjects = (
  client: KubernetesClient,
  deploymentId: string,
  kinds?: readonly ObjectKind[],
): Promise<FoundObject[]> => listBySelector(client, selectorOf(deploymentId), kinds);

/**
 * The objects that a label selector matches, by default of all kinds that belong to a deployment.
 */
export async function listBySelector(
  client: KubernetesClient,
  labelSelector: string,
  kinds: readonly ObjectKind[] = allOwnedKinds(client),
): Promise<FoundObject[]> {
  const apis = await client.apis();
  const selection = { namespace: client.address.namespace, labelSelector };
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const request = KIND_APIS[kind].list(apis, selection);
      const list = OPTIONAL.includes(kind) ? await unlessForbidden(request) : await request;
      return (list?.items ?? []).map((item) => toFoundObject(kind, item));
    }),
  );
  return lists.flat();
}

const PAGE_LIMIT = 250;

/** The objects of a kind with the labels of the fleet, of all deployments. */
export async function listAllManaged(
  client: KubernetesClient,
  kind: ObjectKind,
  from?: string,
): Promise<{ readonly metadata: V1ObjectMeta; readonly spec: object }[]> {
  const { items, metadata } = await KIND_APIS[kind].list(await client.apis(), {
    namespace: client.address.namespace,
    labelSelector: `${KEYS.managedBy}=fleet`,
    limit: PAGE_LIMIT,
    ...(from && { _continue: from }),
  });
  const page = (items ?? []).map(({ metadata = {}, spec = {} }) => ({ metadata, spec }));
  return metadata?._continue ? [...page, ...(await listAllManaged(client, kind, metadata._continue))] : page;
}

/** Reads an object by name, whether or not the fleet manages it. */
export async function readObject(
  client: KubernetesClient,
  kind: ObjectKind,
  name: string,
): Promise<FoundObject | undefined> {
  const { namespace } = client.address;
  const item = await unlessNotFound(KIND_APIS[kind].read(await client.apis(), { name, namespace }));
  return item && toFoundObject(kind, item);
}

export interface Application {
  /** The existing object. If it has changed since it was read, nothing is applied. */
  readonly before: FoundObject | undefined;
  readonly force: boolean;
  readonly manager?: string | undefined;
  /** Whether nothing is stored. The result is then the object as it would be stored. */
  readonly dryRun?: boolean;
}

/** Applies an object with server-side apply. @returns the resulting object */
export async function applyObject(
  client: KubernetesClient,
  object: KubernetesObject,
  { before, force, manager = FIELD_MANAGER, dryRun = false }: Application,
): Promise<FoundObject> {
  const { kind, metadata } = object;
  const precondition = before && { uid: before.uid, resourceVersion: before.resourceVersion };
  const item = await KIND_APIS[kind].apply(await client.apis(), {
    name: nameOf(object),
    namespace: client.address.namespace,
    body: { ...object, metadata: { ...metadata, ...precondition } },
    fieldManager: manager,
    fieldValidation: 'Strict',
    force,
    ...(dryRun && { dryRun: 'All' }),
  });
  const after = toFoundObject(kind, item);
  if (manager === FIELD_MANAGER && !dryRun) client.applied.record(object, after.metadata);
  return after;
}

/**
 * Deletes an object after its dependents (foreground deletion), or at once if it has none. If it
 * has changed since it was read, nothing is deleted.
 */
export async function deleteObject(
  client: KubernetesClient,
  { kind, name, uid, resourceVersion }: FoundObject,
): Promise<void> {
  const { namespace } = client.address;
  const propagationPolicy = isScaler({ kind }) ? 'Background' : 'Foreground';
  const body = { propagationPolicy, preconditions: { uid, resourceVersion } };
  await unlessNotFound(KIND_APIS[kind].remove(await client.apis(), { name, namespace, body }));
}

const createNamespace = async (client: KubernetesClient, name: string): Promise<void> => {
  const { core } = await client.apis();
  await core.createNamespace({ body: { metadata: { name } }, fieldManager: FIELD_MANAGER });
};

export const nameOf = ({ metadata }: KubernetesObject): string => metadata?.name ?? '';

/** `web-decade01 (Deployment)` */
export const displayNameOf = ({ name, kind }: Pick<FoundObject, 'name' | 'kind'>): string => `${name} (${kind})`;

const NUMBER = /^\d{1,15}$/;

function toFoundObject(kind: ObjectKind, { metadata = {}, spec = {}, status = {} }: Item): FoundObject {
  const annotation = metadata.annotations?.[KEYS.generation] ?? '';
  return {
    kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    labels: metadata.labels ?? {},
    generation: NUMBER.test(annotation) ? Number(annotation) : 0,
    deletionTime: metadata.deletionTimestamp,
    phase: 'phase' in status ? String(status.phase) : '',
    metadata,
    replicas: kind === 'Deployment' && 'replicas' in spec ? Number(spec.replicas ?? 1) : undefined,
  };
}

/** The desired state of a deployment in a cluster. */
export type DesiredObjects = RunningObjects | DesiredEnd;

/** Who sets the number of replicas of a deployment that runs. */
export interface Scaling {
  readonly by: Scaler;
  /**
   * What happens to the number in the cluster when the fleet sets it again: it is kept, or the
   * desired one is set. Null: the fleet has not handed it over.
   */
  readonly handover: 'keep' | 'set' | null;
  /** With `cluster`: the number of replicas that must be up. */
  readonly minimum: number;
}

/** The desired state of a deployment that should run. */
export interface RunningObjects extends Base {
  readonly manifest: KubernetesManifest<'values'>;
  /** Whether to take over fields that other field managers own, because a user requested it. */
  readonly takeOver?: boolean;
  /** Who sets the number of replicas; by default the fleet. */
  readonly scaling?: Scaling;
}

/** A reconciliation in progress: the objects found, and the actions taken. */
export interface ReconcileRun {
  readonly client: KubernetesClient;
  readonly desired: RunningObjects;
  readonly fence: Fence;
  readonly found: readonly FoundObject[];
  readonly actions: string[];
  /** Descriptions of objects that must be deleted before the reconciliation can continue. */
  readonly awaitedDeletions: string[];
  /** The number of replicas that was found or set; undefined before its Deployment is applied, and for a job. */
  scale?: ObservedScale;
}

/** An object of a later generation was found during a reconciliation. */
export class Superseded extends Error {
  override name = 'Superseded';
  readonly by: number;
  constructor(by: number) {
    super(`superseded by generation ${by}`);
    this.by = by;
  }
}

/** @throws Superseded if an object was applied for a later generation */
export function assertNotSuperseded(found: readonly FoundObject[], { generation }: Fence): void {
  const latest = Math.max(generation, ...found.map((object) => object.generation));
  if (latest > generation) throw new Superseded(latest);
}

/**
 * Returns the observation of `work`. If it was superseded, the observation states that, with the
 * actions taken so far.
 */
export async function unlessSuperseded(
  { generation }: Fence,
  actions: readonly string[],
  work: () => Promise<Observation>,
): Promise<Observation> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
    return supersededObservation(generation, error.by, actions);
  }
}

/** The workloads and pods of a deployment, as observed in the cluster. */
export interface ObservedObjects {
  readonly deployments: readonly V1Deployment[];
  readonly jobs: readonly V1Job[];
  readonly replicaSets: readonly V1ReplicaSet[];
  readonly pods: readonly V1Pod[];
}

/**
 * Lists controllers before pods, so that the state of the pods is never older than that of their
 * controllers.
 */
export async function listObjects(client: KubernetesClient, deploymentId: string): Promise<ObservedObjects> {
  const { apps, batch } = await client.apis();
  const selection = { namespace: client.address.namespace, labelSelector: selectorOf(deploymentId) };
  const [deployments, jobs] = await Promise.all([
    apps.listNamespacedDeployment(selection),
    batch.listNamespacedJob(selection),
  ]);
  const replicaSets = await apps.listNamespacedReplicaSet(selection);
  const pods = await podsOf(client, deploymentId);
  return { deployments: deployments.items ?? [], jobs: jobs.items ?? [], replicaSets: replicaSets.items ?? [], pods };
}

/** The pods of a deployment sorted by name, including terminating pods. */
export async function podsOf(client: KubernetesClient, deploymentId: string): Promise<V1Pod[]> {
  const { core } = await client.apis();
  const selection = { namespace: client.address.namespace, labelSelector: selectorOf(deploymentId) };
  const { items } = await core.listNamespacedPod(selection);
  return [...(items ?? [])].sort((a, b) => (podName(a) < podName(b) ? -1 : 1));
}

export const podName = ({ metadata }: V1Pod): string => metadata?.name ?? '';

/** Milliseconds since an object should have been deleted; 0 if it is not being deleted. */
export const overdueBy = (deletionTime: Date | undefined, now: number): number =>
  deletionTime ? now - deletionTime.getTime() : 0;

/**
 * Creates the namespace of the fleet.
 *
 * @returns the actions taken
 * @throws Permanent if the credentials do not permit it
 */
export async function ensureNamespace(client: KubernetesClient): Promise<string[]> {
  const { namespace } = client.address;
  try {
    await createNamespace(client, namespace);
    return [`created the namespace ${namespace}`];
  } catch (error) {
    const { reason, response } = error instanceof EngineFailure ? error : {};
    if (response?.status === 409) return []; // created concurrently
    if (reason !== 'AuthFailed') throw error;
    const message = `The namespace ${namespace} does not exist, and the credentials lack permission to create it.`;
    throw new Permanent('AuthFailed', message);
  }
}
