import type { V1DeleteOptions, V1ObjectMeta } from '@kubernetes/client-node';
import type { KubernetesObject } from '../../render/kubernetes.ts';
import { KEYS } from '../../render/labels.ts';
import { unlessGone } from '../errors.ts';
import type { Apis } from './apis.ts';
import type { Client } from './cluster-client.ts';

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
export const selectorOf = (deploymentId: string): string =>
  `${KEYS.managedBy}=fleet,${KEYS.deployment}=${deploymentId}`;

/** Whether it runs pods. */
export const isWorkload = ({ kind }: { readonly kind: Kind }): boolean => kind === 'Deployment' || kind === 'Job';

/** The objects of a deployment, its volumes aside. */
export const objectsOf = (client: Client, deploymentId: string): Promise<Found[]> =>
  objectsWith(client, selectorOf(deploymentId));

/** The objects of deployments, or of some other kinds, that a selector selects. */
export async function objectsWith(
  client: Client,
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
export async function objectCalled(client: Client, kind: Kind, name: string): Promise<Found | undefined> {
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
  client: Client,
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
export async function deleteObject(client: Client, { kind, name, uid, resourceVersion }: Found): Promise<void> {
  const { namespace } = client.address;
  const body = { propagationPolicy: 'Foreground', preconditions: { uid, resourceVersion } };
  await unlessGone(CALLS[kind].remove(await client.apis(), { name, namespace, body }));
}

/** Makes a namespace. */
export const createNamespace = async (client: Client, name: string): Promise<void> => {
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
