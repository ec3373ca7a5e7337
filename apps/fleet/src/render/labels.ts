import { digestOfFiles } from './places/files.ts';
import { type BoundVolume, omitEmpty, type Rendering } from './rendering.ts';
import { secretVersions } from './secrets.ts';

/**
 * Maximum length of an object name, chosen so that no engine has to truncate names: a pod is named
 * `<deployment>-<10>-<5>`, the pod of a job `<deployment>-<generation>-<5>`, and labels and host
 * names have at most 63 characters.
 */
const MAX_OBJECT = 46;
const MAX_VOLUME = 63;

/**
 * The last digits of a UUID, which are random. The first digits of a UUIDv7 are its time, and equal
 * for rows of the same time.
 */
const idSuffix = (id: string): string => id.slice(-8);

/**
 * A readable and unique name: the name of the row, and the end of its id. A deployment that is
 * created again with the name of a deleted one has other object names, so it neither adopts
 * remaining objects of the old one nor waits for their removal.
 */
function nameOf(row: { readonly id: string; readonly name: string }, max: number): string {
  // The name of a Service must start with a letter (RFC 1035). A name in the fleet can start with a
  // digit.
  const named = /^[a-z]/.test(row.name) ? row.name : `d-${row.name}`;
  return `${named.slice(0, max - 9).replace(/(?<!-)-+$/, '')}-${idSuffix(row.id)}`;
}

/** The name of the objects of a deployment. */
export const objectName = (rendering: Pick<Rendering, 'id' | 'name'>): string => nameOf(rendering, MAX_OBJECT);

/**
 * The name of a volume on its engine. It does not depend on the deployments that use the volume.
 */
export const volumeName = ({ id, name }: Pick<BoundVolume, 'id' | 'name'>): string => nameOf({ id, name }, MAX_VOLUME);

/**
 * The name of a network on its engine. It ends with the id of the row, so that a network of another fleet, or of a row
 * that a restored database does not have, has another name.
 */
export const networkName = ({ id, application_id }: NetworkIdentity): string =>
  `${application_id === null ? 'svc-alone' : 'svc-app'}-${idSuffix(id)}`;

/** Whether a name is that of a network of all deployments without an application. */
export const isCommonNetworkName = (name: string): boolean => /^svc-alone-[0-9a-f]{8}$/.test(name);

/** Whether a name is that of a network of a fleet. */
export const isNetworkName = (name: string): boolean => /^svc-(?:alone|app)-[0-9a-f]{8}$/.test(name);

/** The name of the Service with the names of the parts of an application. It is also their domain. */
export const nameServiceName = ({ id }: { readonly id: string }): string => `svc-app-${idSuffix(id)}`;

/** The name of the interface of a network on its host: at most 15 characters. */
export const bridgeName = ({ id }: Pick<NetworkIdentity, 'id'>): string => `svc-${idSuffix(id)}`;

interface NetworkIdentity {
  readonly id: string;
  readonly application_id: string | null;
}

type Texts = Readonly<Record<string, string>>;

/** Keys of the labels and annotations of objects on all engines. */
export const KEYS = {
  name: 'app.kubernetes.io/name',
  managedBy: 'app.kubernetes.io/managed-by',
  deployment: 'fleet/deployment',
  application: 'fleet/application',
  storage: 'fleet/storage',
  generation: 'fleet/generation',
  workload: 'fleet/workload',
  revision: 'fleet/revision',
  variables: 'fleet/variables',
  ordinal: 'fleet/ordinal',
  body: 'fleet/body',
  image: 'fleet/image',
  imageDigest: 'fleet/image-digest',
  secretVersions: 'fleet/secret-versions',
  files: 'fleet/files',
  restartedAt: 'fleet/restarted-at',
  replicas: 'fleet/replicas',
  concurrentJobs: 'fleet/concurrent-jobs',
  vram: 'fleet/vram-request',
  networkTypes: 'fleet/required-network-types',
  network: 'fleet/network',
  networkLosses: 'fleet/network-losses',
} as const;

const MANAGED = { [KEYS.managedBy]: 'fleet' };

/**
 * The label selector for the objects of a deployment. It never changes, because selectors in
 * Kubernetes are immutable.
 */
export const selectorOf = ({ id }: Pick<Rendering, 'id'>): Texts => ({ [KEYS.deployment]: id });

/** The labels of all objects of a deployment. */
export const labelsOf = ({ id, name }: Pick<Rendering, 'id' | 'name'>): Texts => ({
  [KEYS.name]: name,
  ...MANAGED,
  ...selectorOf({ id }),
});

/**
 * The labels of a volume. They do not name a deployment, because several can use the volume, and
 * the removal of a deployment's objects must not select it.
 */
export const volumeLabels = ({ id, name }: BoundVolume): Texts => ({
  [KEYS.name]: name,
  ...MANAGED,
  [KEYS.storage]: id,
});

/** The labels of a network. They name no deployment, because several are in it. */
export const networkLabels = ({ id }: Pick<NetworkIdentity, 'id'>): Texts => ({ ...MANAGED, [KEYS.network]: id });

/** The labels of the Service with the names of the parts of an application. They name no deployment, because all parts use it. */
export const nameServiceLabels = ({ id }: { readonly id: string }): Texts => ({ ...MANAGED, [KEYS.application]: id });

/**
 * The generation for which an object was created, and what it was created from. A worker with an
 * older generation does not change the object. The other labels allow a deployment that is missing
 * in the database to be created again. The labels do not affect what runs: an object that differs
 * only in them is kept.
 */
export const originOf = ({ generation, source }: Pick<Rendering, 'generation' | 'source'>): Texts => ({
  [KEYS.generation]: String(generation),
  [KEYS.workload]: source.workload_id,
  [KEYS.revision]: String(source.revision),
  ...omitEmpty({ [KEYS.variables]: source.variables.join() }),
});

/** The keys of `originOf`, and of the digest of a container's other members. */
export const BOOKKEEPING: readonly string[] = [
  KEYS.generation,
  KEYS.workload,
  KEYS.revision,
  KEYS.variables,
  KEYS.body,
];

/** The inputs of placement, for users who inspect objects on the engine. */
export const placementLabels = ({ spec }: Rendering): Texts =>
  omitEmpty({
    [KEYS.concurrentJobs]: String(spec.concurrent_jobs),
    [KEYS.vram]: spec.vram_request,
    [KEYS.networkTypes]: spec.required_network_types.join(),
  });

/**
 * Annotations whose change restarts pods: the versions of secrets, the digest of the files, and a
 * requested restart.
 */
export const restartTriggers = (rendering: Rendering): Texts =>
  omitEmpty({
    [KEYS.secretVersions]: secretVersions(rendering),
    [KEYS.files]: digestOfFiles(rendering.spec),
    [KEYS.restartedAt]: rendering.restarted_at ?? '',
  });
