import { isDeepStrictEqual } from 'node:util';
import type { Target } from '@svc/contract/fleet';
import type { Prisma } from '../generated/prisma/client.ts';
import { renderDocker } from '../render/docker.ts';
import { resolveEnv } from '../render/env.ts';
import { renderKubernetes } from '../render/kubernetes.ts';
import type { Rendering, Secrecy, Secrets } from '../render/rendering.ts';
import { redacted } from '../render/secrets.ts';
import { knownSecrets } from './decision.ts';
import { type Draft, draftOf, runsOf } from './draft.ts';
import { allocatedGpus } from './ports.ts';
import type { DeploymentRow } from './rows.ts';
import { type Mounted, mountVolumes } from './volumes.ts';

/** A deployment with all that it is rendered from, but its secrets. */
export interface Renderable extends Pick<Rendering, 'env' | 'generation'> {
  readonly draft: Draft;
  readonly mounted: readonly Mounted[];
  readonly restarted_at: Date | null;
}

/** A deployment as it is now. */
export async function storedOf(transaction: Prisma.TransactionClient, row: DeploymentRow): Promise<Renderable> {
  const runs = await runsOf(transaction, row.workload_id, row.revision);
  const draft = draftOf(row, { runs });
  const { mounted } = await mountVolumes(transaction, draft);
  const { env } = resolveEnv(runs.spec, row.env);
  return { draft, env, mounted, generation: row.generation, restarted_at: row.restarted_at };
}

/** What the renderers are given of a deployment: with values of secrets only where they are given. */
export const renderingOf = <S extends Secrecy>(
  { draft, env, mounted, generation, restarted_at }: Renderable,
  secrets: Secrets<S>,
): Rendering<S> => ({
  id: draft.id,
  name: draft.name,
  generation,
  replicas: draft.desired === 'stopped' ? 0 : draft.replicas,
  restarted_at: restarted_at?.toISOString() ?? null,
  spec: draft.runs.spec,
  env,
  volumes: mounted,
  secrets,
});

type Transaction = Prisma.TransactionClient;

/** One object of a manifest, for people. */
export type Shown = Readonly<Record<string, unknown>>;

/** All that a manifest is made from. */
interface Manifested {
  readonly rendering: Rendering<'placeholders'>;
  readonly target: Target | null;
  /** Of each replica, on a host. */
  readonly gpus: readonly (readonly string[])[];
}

/** What an engine would be given, without values of secrets; empty where it is nowhere. */
export async function manifestOf(transaction: Transaction, { target, ...it }: Manifested): Promise<Shown[]> {
  if (target === null) return [];
  return target.kind === 'cluster' ? onCluster(transaction, target, it.rendering) : onHost(transaction, target, it);
}

/** The manifest of a deployment as it is now. */
export async function presentManifest(transaction: Transaction, row: DeploymentRow): Promise<Shown[]> {
  const stored = await storedOf(transaction, row);
  const { runs, target } = stored.draft;
  const gpus = await allocatedGpus(transaction, row);
  const secrets = redacted(await knownSecrets(transaction, runs.secretNames));
  return manifestOf(transaction, { rendering: renderingOf(stored, secrets), target, gpus });
}

async function onCluster(transaction: Transaction, { id }: Target, rendering: Rendering<'placeholders'>) {
  const cluster = await transaction.cluster.findUniqueOrThrow({ where: { id } });
  return renderKubernetes(rendering, cluster).objects.map(asShown);
}

async function onHost(transaction: Transaction, { id }: Target, { rendering, gpus }: Omit<Manifested, 'target'>) {
  const { engine } = await transaction.host.findUniqueOrThrow({ where: { id } });
  const { image, volumes, containers } = renderDocker(rendering, { engine, gpus, ports: [] });
  return [
    { kind: 'Image', name: image },
    ...volumes.map((volume) => ({ kind: 'Volume', name: volume.Name, body: volume })),
    ...containers.map(({ name, body }) => ({ kind: 'Container', name, body })),
  ].map(asShown);
}

/** As it travels: plain JSON. */
const asShown = (object: object): Shown => JSON.parse(JSON.stringify(object));

/** What one object is called among those of a manifest. */
function titleOf(object: Shown): string {
  const { name } = { ...object, ...(object.metadata as object | undefined) } as { readonly name?: unknown };
  return `${object.kind}/${name}`;
}

export interface Difference {
  readonly action: 'create' | 'replace' | 'delete';
  readonly object: string;
  /** JSON pointers (RFC 6901). */
  readonly paths: string[];
}

/** What a manifest would change of another one, object by object. */
export function differencesOf(before: readonly Shown[], after: readonly Shown[]): Difference[] {
  const [old, fresh] = [byTitle(before), byTitle(after)];
  const changed = [...fresh].flatMap(([object, value]): Difference[] => {
    const former = old.get(object);
    if (former === undefined) return [{ action: 'create', object, paths: [] }];
    const paths = pathsOf(former, value, '');
    return paths.length === 0 ? [] : [{ action: 'replace', object, paths }];
  });
  const gone = [...old.keys()].filter((object) => !fresh.has(object));
  return [...changed, ...gone.map((object): Difference => ({ action: 'delete', object, paths: [] }))];
}

const byTitle = (objects: readonly Shown[]) => new Map(objects.map((object) => [titleOf(object), object]));

/**
 * The paths at which two values differ. Arrays of different lengths differ as a whole. Hand-written: a JSON Patch library
 * (RFC 6902) lists each insertion and removal inside an array instead.
 */
function pathsOf(one: unknown, other: unknown, path: string): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (!isBranch(one) || !isBranch(other) || Array.isArray(one) !== Array.isArray(other)) return [path];
  if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length) return [path];
  const [left, right] = [one as Shown, other as Shown];
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return keys.flatMap((key) => pathsOf(left[key], right[key], `${path}/${escaped(key)}`));
}

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null;

const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
