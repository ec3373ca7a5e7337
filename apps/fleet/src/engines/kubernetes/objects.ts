import type { V1DeleteOptions, V1Deployment, V1Job, V1ObjectMeta, V1Pod, V1ReplicaSet } from '@kubernetes/client-node';
import type { KubernetesManifest, KubernetesObject } from '../../render/kubernetes.ts';
import { KEYS } from '../../render/labels.ts';
import { EngineFailure, Permanent, unlessGone } from '../errors.ts';
import type { Running as Base, Ending, Fence, Observation } from '../observation.ts';
import type { Apis, KubernetesClient } from './client.ts';

/** The kinds of objects that are ours. */
export type Kind = KubernetesObject['kind'];

/** An object that is there. */
export interface Found {
  readonly kind: Kind;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  /** What it was made for; 0 where nothing says it. */
  readonly generation: number;
  /** When it was to be gone, where it was deleted. */
  readonly leaving: Date | undefined;
  /** `Pending`, `Bound` or `Lost` of a volume; '' of what has no phase. */
  readonly phase: string;
}

type Item = { readonly metadata?: V1ObjectMeta; readonly status?: object };

/** An object, and what of it is to be applied. */
interface Applied {
  readonly name: string;
  readonly namespace: string;
  readonly body: object;
  readonly fieldManager: string;
  readonly fieldValidation: string;
  readonly force: boolean;
}

interface Calls {
  list(apis: Apis, which: { namespace: string; labelSelector: string }): Promise<{ items?: readonly Item[] }>;
  read(apis: Apis, which: { name: string; namespace: string }): Promise<Item>;
  apply(apis: Apis, what: Applied): Promise<Item>;
  remove(apis: Apis, which: { name: string; namespace: string; body: V1DeleteOptions }): Promise<unknown>;
}

const CALLS: Readonly<Record<Kind, Calls>> = {
  Deployment: {
    list: ({ apps }, it) => apps.listNamespacedDeployment(it),
    read: ({ apps }, it) => apps.readNamespacedDeployment(it),
    apply: ({ apps }, it) => apps.patchNamespacedDeployment(it),
    remove: ({ apps }, it) => apps.deleteNamespacedDeployment(it),
  },
  Job: {
    list: ({ batch }, it) => batch.listNamespacedJob(it),
    read: ({ batch }, it) => batch.readNamespacedJob(it),
    apply: ({ batch }, it) => batch.patchNamespacedJob(it),
    remove: ({ batch }, it) => batch.deleteNamespacedJob(it),
  },
  Service: {
    list: ({ core }, it) => core.listNamespacedService(it),
    read: ({ core }, it) => core.readNamespacedService(it),
    apply: ({ core }, it) => core.patchNamespacedService(it),
    remove: ({ core }, it) => core.deleteNamespacedService(it),
  },
  Secret: {
    list: ({ core }, it) => core.listNamespacedSecret(it),
    read: ({ core }, it) => core.readNamespacedSecret(it),
    apply: ({ core }, it) => core.patchNamespacedSecret(it),
    remove: ({ core }, it) => core.deleteNamespacedSecret(it),
  },
  PersistentVolumeClaim: {
    list: ({ core }, it) => core.listNamespacedPersistentVolumeClaim(it),
    read: ({ core }, it) => core.readNamespacedPersistentVolumeClaim(it),
    apply: ({ core }, it) => core.patchNamespacedPersistentVolumeClaim(it),
    remove: ({ core }, it) => core.deleteNamespacedPersistentVolumeClaim(it),
  },
};

const FIELD_MANAGER = 'fleet';

/** The kinds whose objects belong to one deployment: volumes don't. */
const OWNED = ['Deployment', 'Job', 'Service', 'Secret'] as const;

/** What selects everything of a deployment. */
const selectorOf = (deploymentId: string): string => `${KEYS.managedBy}=fleet,${KEYS.deployment}=${deploymentId}`;

/** Whether it runs pods. */
export const isWorkload = ({ kind }: { readonly kind: Kind }): boolean => kind === 'Deployment' || kind === 'Job';

/** The objects of a deployment, its volumes aside. */
export const objectsOf = (client: KubernetesClient, deploymentId: string): Promise<Found[]> =>
  objectsWith(client, selectorOf(deploymentId));

/** The objects of deployments, or of some other kinds, that a selector selects. */
export async function objectsWith(
  client: KubernetesClient,
  labelSelector: string,
  kinds: readonly Kind[] = OWNED,
): Promise<Found[]> {
  const apis = await client.apis();
  const which = { namespace: client.address.namespace, labelSelector };
  const lists = await Promise.all(
    kinds.map(async (kind) => ((await CALLS[kind].list(apis, which)).items ?? []).map((item) => foundOf(kind, item))),
  );
  return lists.flat();
}

/** The object of a name, whosever it is. */
export async function objectCalled(client: KubernetesClient, kind: Kind, name: string): Promise<Found | undefined> {
  const { namespace } = client.address;
  const item = await unlessGone(CALLS[kind].read(await client.apis(), { name, namespace }));
  return item && foundOf(kind, item);
}

export interface Application {
  /** The object that is there: where it changed meanwhile, nothing is applied. */
  readonly before: Found | undefined;
  readonly force: boolean;
}

/** Applies an object. @returns what is there then */
export async function applyObject(
  client: KubernetesClient,
  object: KubernetesObject,
  { before, force }: Application,
): Promise<Found> {
  const { kind, metadata } = object;
  const only = before && { uid: before.uid, resourceVersion: before.resourceVersion };
  const item = await CALLS[kind].apply(await client.apis(), {
    name: nameOf(object),
    namespace: client.address.namespace,
    body: { ...object, metadata: { ...metadata, ...only } },
    fieldManager: FIELD_MANAGER,
    fieldValidation: 'Strict',
    force,
  });
  return foundOf(kind, item);
}

/** Deletes an object as it was found, and first all that it has made. Where it changed meanwhile nothing is deleted. */
export async function deleteObject(
  client: KubernetesClient,
  { kind, name, uid, resourceVersion }: Found,
): Promise<void> {
  const { namespace } = client.address;
  const body = { propagationPolicy: 'Foreground', preconditions: { uid, resourceVersion } };
  await unlessGone(CALLS[kind].remove(await client.apis(), { name, namespace, body }));
}

/** Makes a namespace. */
const createNamespace = async (client: KubernetesClient, name: string): Promise<void> => {
  const { core } = await client.apis();
  await core.createNamespace({ body: { metadata: { name } }, fieldManager: FIELD_MANAGER });
};

export const nameOf = ({ metadata }: KubernetesObject): string => metadata?.name ?? '';

/** `web-decade01 (Deployment)` */
export const called = ({ name, kind }: Pick<Found, 'name' | 'kind'>): string => `${name} (${kind})`;

const NUMBER = /^\d{1,15}$/;

function foundOf(kind: Kind, { metadata = {}, status = {} }: Item): Found {
  const said = metadata.annotations?.[KEYS.generation] ?? '';
  return {
    kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    labels: metadata.labels ?? {},
    generation: NUMBER.test(said) ? Number(said) : 0,
    leaving: metadata.deletionTimestamp,
    phase: 'phase' in status ? String(status.phase) : '',
  };
}

/** What is to be in a cluster. */
export type Wanted = Running | Ending;

/** What is to run. */
export interface Running extends Base {
  readonly manifest: KubernetesManifest<'values'>;
  /** Take over fields that somebody else has set: a person has said so. */
  readonly takeOver?: boolean;
}

/** A pass under way: what it found, and what it has done. */
export interface Work {
  readonly client: KubernetesClient;
  readonly wanted: Running;
  readonly fence: Fence;
  readonly found: readonly Found[];
  readonly actions: string[];
  /** What must be gone before the pass can go on, by name. */
  readonly awaited: string[];
}

/** Something of a later generation was met in the middle of a pass. */
export class Overtaken extends Error {
  override name = 'Overtaken';
  readonly by: number;
  constructor(by: number) {
    super(`generation ${by} is there already`);
    this.by = by;
  }
}

/** @throws Overtaken where an object was made for a later generation */
export function demandLatest(found: readonly Found[], { generation }: Fence): void {
  const latest = Math.max(generation, ...found.map((object) => object.generation));
  if (latest > generation) throw new Overtaken(latest);
}

/** What a pass comes to; where it was overtaken, that, with what it had done until then. */
export async function unlessOvertaken(
  { generation }: Fence,
  actions: readonly string[],
  work: () => Promise<Observation>,
): Promise<Observation> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error;
    const message = `Generation ${error.by} is there already: generation ${generation} touches nothing.`;
    const nothing = { reason: null, instances: [], endpoints: [], volumes: [] };
    return { ...nothing, phase: 'starting', message, actions, next: 'soon', overtaken: true };
  }
}

/** What runs of a deployment, as its cluster has it. */
export interface Seen {
  readonly deployments: readonly V1Deployment[];
  readonly jobs: readonly V1Job[];
  readonly replicaSets: readonly V1ReplicaSet[];
  readonly pods: readonly V1Pod[];
}

/** Looks at what runs: first at what makes pods and then at the pods, so that no pod is older news than its maker. */
export async function lookAt(client: KubernetesClient, deploymentId: string): Promise<Seen> {
  const { apps, batch } = await client.apis();
  const which = { namespace: client.address.namespace, labelSelector: selectorOf(deploymentId) };
  const [deployments, jobs] = await Promise.all([apps.listNamespacedDeployment(which), batch.listNamespacedJob(which)]);
  const replicaSets = await apps.listNamespacedReplicaSet(which);
  const pods = await podsOf(client, deploymentId);
  return { deployments: deployments.items ?? [], jobs: jobs.items ?? [], replicaSets: replicaSets.items ?? [], pods };
}

/** The pods of a deployment, those that are leaving included, by name. */
export async function podsOf(client: KubernetesClient, deploymentId: string): Promise<V1Pod[]> {
  const { core } = await client.apis();
  const which = { namespace: client.address.namespace, labelSelector: selectorOf(deploymentId) };
  const { items } = await core.listNamespacedPod(which);
  return [...(items ?? [])].sort((a, b) => (podName(a) < podName(b) ? -1 : 1));
}

export const podName = ({ metadata }: V1Pod): string => metadata?.name ?? '';

/** Since when something that was deleted has been late to be gone. */
export const lateBy = (leaving: Date | undefined, now: number): number => (leaving ? now - leaving.getTime() : 0);

/** Makes the namespace of the fleet. @returns what was done @throws Permanent where the credentials may not */
export async function provideNamespace(client: KubernetesClient): Promise<string[]> {
  const { namespace } = client.address;
  try {
    await createNamespace(client, namespace);
    return [`created the namespace ${namespace}`];
  } catch (error) {
    const { reason, answer } = error instanceof EngineFailure ? error : {};
    if (answer?.status === 409) return []; // somebody else has just made it
    if (reason !== 'AuthFailed') throw error;
    const message = `There is no namespace ${namespace} in the cluster, and the credentials that were given may not make one.`;
    throw new Permanent('AuthFailed', message);
  }
}
