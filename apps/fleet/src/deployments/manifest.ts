import { isDeepStrictEqual } from 'node:util';
import type { Reply } from '@svc/contract';
import type { fleetEndpoints, Target } from '@svc/contract/fleet';
import type { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Host } from '../render/allocation.ts';
import { renderDocker } from '../render/docker.ts';
import { type ResolvedEnv, resolveEnv } from '../render/env.ts';
import { renderKubernetes } from '../render/kubernetes.ts';
import { BOOKKEEPING } from '../render/labels.ts';
import { renderedCluster } from '../render/pod.ts';
import type { Rendering, Secrecy, Secrets } from '../render/rendering.ts';
import { idOfSealedName, SEALED_KEY, sealedName, secretsWithPlaceholders } from '../render/secrets.ts';
import { listBindings } from './addresses/list.ts';
import { readBound } from './bindings.ts';
import { type Draft, draftOf, readWorkloadRevision, runSpecOf, type StoredDraft } from './draft.ts';
import { readAdmission } from './networks/admission.ts';
import { readHostNetworks } from './networks/attached.ts';
import type { WorkloadRevision } from './plans/revision.ts';
import { allocatedGpus, allocatedPorts } from './ports.ts';
import type { DeploymentRow } from './rows.ts';
import { namesOfSecrets, readSecretMetadata } from './values/secret-metadata.ts';
import { listSecretUses } from './values/secret-uses.ts';
import { type MountedVolume, mountVolumes } from './volumes.ts';

type Transaction = Prisma.TransactionClient;
type Reader = Pick<Transaction, 'volume' | 'attachment' | '$queryRaw'>;

/** A deployment with all inputs of its rendering except the secrets. */
export interface Renderable extends Pick<Rendering, 'bound' | 'composed' | 'generation' | 'admission'> {
  readonly env: ResolvedEnv['env'];
  readonly draft: Draft;
  readonly mounted: readonly MountedVolume[];
  readonly restarted_at: Date | null;
}

/** The columns of a deployment that its rendering depends on. */
type StoredDeployment = StoredDraft & Pick<DeploymentRow, 'generation' | 'restarted_at'>;

/** The stored state of a deployment with its revision of the workload. */
export async function readRenderable(
  reader: Reader,
  row: StoredDeployment,
  workload: WorkloadRevision,
): Promise<Renderable> {
  const draft = draftOf(row, { workload });
  const { mounted } = await mountVolumes(reader, draft);
  const { env, bindings } = resolveEnv(workload.spec, row.env, workload.secretVariables);
  const { bound, composed } = await readBound(reader, draft, bindings);
  return { draft, env, bound, composed, mounted, generation: row.generation, restarted_at: row.restarted_at };
}

/** The rendering of a deployment. Whether it contains secret values depends on `secrets`. */
export const renderingOf = <S extends Secrecy>(
  { draft, env, bound, composed, mounted, generation, restarted_at, admission }: Renderable,
  secrets: Secrets<S>,
): Rendering<S> => ({
  id: draft.id,
  name: draft.name,
  generation,
  source: {
    workload_id: draft.workload.workloadId,
    revision: draft.workload.revision,
    variables: Object.keys(draft.env).sort(),
  },
  replicas: draft.desiredState === 'stopped' ? 0 : draft.replicas,
  autoscaling: draft.autoscaling,
  restarted_at: restarted_at?.toISOString() ?? null,
  defaults: draft.defaultsVersion,
  defaultLimits: draft.defaultLimits,
  labels: draft.labels,
  podSettings: draft.podSettings,
  updates: draft.updates,
  application: draft.application,
  admission,
  spec: runSpecOf(draft),
  pull: draft.pull,
  env: env.map((variable) => ({ name: variable.name, value: textOf(variable, secrets) })),
  bound,
  composed,
  volumes: mounted,
  secrets,
});

/**
 * The text of a variable in the environment. The text of a secret variable is only in a manifest
 * for an engine.
 */
function textOf({ value, sealed, isSecret }: ResolvedEnv['env'][number], secrets: Secrets<Secrecy>): string {
  if (sealed !== undefined) return secrets.value(sealedName(sealed), SEALED_KEY);
  return isSecret ? secrets.text(value) : value;
}

/** The ids of the sealed values that a rendering contains. */
export const sealedIdsOf = ({ env, bound }: Pick<Renderable, 'env' | 'bound'>): string[] => [
  ...env.flatMap(({ sealed }) => sealed ?? []),
  ...bound.flatMap(({ name }) => idOfSealedName(name) ?? []),
];

/** An object of a manifest without secret values, as the API returns it. */
export type ManifestObject = Readonly<Record<string, unknown>>;

/** The inputs of a manifest. */
interface ManifestInput {
  readonly rendering: Rendering<'placeholders'>;
  /** The allocated GPUs, host ports and addresses of each replica; used for hosts only. */
  readonly allocated: Pick<Host, 'gpus' | 'ports' | 'networks'>;
}

/** The objects that the engine would receive, without secret values; empty without a target. */
export const manifestOf = async (
  transaction: Transaction,
  { target, ...input }: ManifestInput & { readonly target: Target | null },
): Promise<ManifestObject[]> =>
  target === null ? [] : renderedManifest(await readRenderer(transaction, target), input);

/** What the manifests of all deployments on a target need of it. */
export type Renderer =
  | { readonly kind: 'host'; readonly engine: Host['engine'] }
  | { readonly kind: 'cluster'; readonly cluster: z.output<typeof renderedCluster> };

export async function readRenderer(transaction: Transaction, { kind, id }: Target): Promise<Renderer> {
  const where = { id };
  if (kind === 'cluster')
    return { kind, cluster: renderedCluster.parse(await transaction.cluster.findUniqueOrThrow({ where })) };
  const { engine } = await transaction.host.findUniqueOrThrow({ where });
  return { kind, engine };
}

/** The objects that the engine of a target would receive, without secret values. */
export const renderedManifest = (renderer: Renderer, input: ManifestInput): ManifestObject[] =>
  renderer.kind === 'cluster'
    ? renderKubernetes(input.rendering, renderer.cluster).objects.map(toPlainJson)
    : hostManifest(renderer.engine, input);

/** The manifest of the stored state of a deployment, and the variables that receive values of secrets. */
export async function presentManifest(
  transaction: Transaction,
  row: DeploymentRow,
): Promise<Reply<typeof fleetEndpoints.getDeploymentManifest>> {
  const workload = await readWorkloadRevision(transaction, row.workload_id, row.revision);
  const stored = await readRenderable(transaction, row, workload);
  const { draft, bound } = stored;
  const allocated = {
    gpus: await allocatedGpus(transaction, row),
    ports: await allocatedPorts(transaction, row),
    networks: await readHostNetworks(transaction, row),
  };
  const secrets = await readSecretMetadata(transaction, namesOfSecrets(draft, bound));
  const admitted = { ...stored, admission: await readAdmission(transaction, draft) };
  const rendering = renderingOf(admitted, secretsWithPlaceholders(secrets));
  return {
    manifest: await manifestOf(transaction, { rendering, target: draft.target, allocated }),
    secrets: listSecretUses(rendering, secrets),
    bindings: listBindings(row.env, allocated.networks),
  };
}

/** The value as plain JSON, without members that are undefined. */
const toPlainJson = (object: object): ManifestObject => JSON.parse(JSON.stringify(object));

function hostManifest(engine: Host['engine'], { rendering, allocated }: ManifestInput): ManifestObject[] {
  const { image, volumes, networks = [], files = [], containers } = renderDocker(rendering, { engine, ...allocated });
  return [
    { kind: 'Image', name: image },
    ...volumes.map((volume) => ({ kind: 'Volume', name: volume.Name, body: volume })),
    ...networks.map(({ Name, Subnet, Labels }) => ({ kind: 'Network', name: Name, body: { Subnet, Labels } })),
    ...files.map(({ path, ...body }) => ({ kind: 'File', name: path, body })),
    ...containers.map(({ name, body }) => ({ kind: 'Container', name, body })),
  ];
}

/** The identifier of an object within its manifest: `<kind>/<name>`. */
export function titleOf(object: ManifestObject): string {
  // Each Kubernetes object has metadata; a Docker object has its name at the top.
  const { name } = { ...object, ...(object.metadata as object | undefined) } as { readonly name?: unknown };
  return `${object.kind}/${name}`;
}

export interface Difference {
  readonly action: 'create' | 'replace' | 'delete';
  readonly object: string;
  /** JSON pointers (RFC 6901). */
  readonly paths: string[];
}

/** The differences between two manifests, object by object. */
export function differencesOf(before: readonly ManifestObject[], after: readonly ManifestObject[]): Difference[] {
  const oldObjects = byTitle(before);
  const newObjects = byTitle(after);
  const changed = [...newObjects].flatMap(([object, value]): Difference[] => {
    const oldValue = oldObjects.get(object);
    if (oldValue === undefined) return [{ action: 'create', object, paths: [] }];
    const paths = pathsOf(oldValue, value, '');
    return paths.length === 0 ? [] : [{ action: 'replace', object, paths }];
  });
  const deleted = [...oldObjects.keys()].filter((object) => !newObjects.has(object));
  return [...changed, ...deleted.map((object): Difference => ({ action: 'delete', object, paths: [] }))];
}

const byTitle = (objects: readonly ManifestObject[]) => new Map(objects.map((object) => [titleOf(object), object]));

/**
 * The paths at which two values differ. Arrays of different lengths differ as a whole.
 * Hand-written: a JSON Patch library (RFC 6902) lists each insertion and removal inside an array
 * instead.
 */
function pathsOf(one: unknown, other: unknown, path: string): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (!isBranch(one) || !isBranch(other) || Array.isArray(one) !== Array.isArray(other)) return [path];
  if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length) return [path];
  const left = one as ManifestObject; // isBranch has checked both
  const right = other as ManifestObject; // isBranch has checked both
  const all = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  const keys = all.filter((key) => !BOOKKEEPING.includes(key));
  return keys.flatMap((key) => pathsOf(left[key], right[key], `${path}/${escaped(key)}`));
}

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null;

const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
