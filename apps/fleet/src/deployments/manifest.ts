import type { Target } from '@svc/contract/fleet';
import type { Prisma } from '../generated/prisma/client.ts';
import { renderDocker } from '../render/docker.ts';
import { resolveEnv } from '../render/env.ts';
import { renderKubernetes } from '../render/kubernetes.ts';
import type { Rendering } from '../render/rendering.ts';
import { redacted } from '../render/secrets.ts';
import { allocatedGpus } from './allocated.ts';
import { type KnownSecret, knownSecrets } from './decide.ts';
import { type Draft, draftOf, runsOf } from './draft.ts';
import type { DeploymentRow } from './rows.ts';
import { type Mounted, mountVolumes } from './volumes.ts';

type Transaction = Prisma.TransactionClient;

/** One object of a manifest, for people. */
export type Shown = Readonly<Record<string, unknown>>;

/** All that a manifest is made from. */
export interface Manifested {
  readonly draft: Draft;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly mounted: readonly Mounted[];
  readonly secrets: readonly KnownSecret[];
  readonly target: Target | null;
  /** Of each replica, on a host. */
  readonly gpus: readonly (readonly string[])[];
  readonly generation: number;
  readonly restarted_at: Date | null;
}

/** What an engine would be given, without values of secrets; empty where it is nowhere. */
export async function manifestOf(transaction: Transaction, it: Manifested): Promise<Shown[]> {
  const { draft, target, gpus } = it;
  if (target === null) return [];
  const rendering: Rendering<'placeholders'> = {
    id: draft.id,
    name: draft.name,
    generation: it.generation,
    replicas: draft.desired === 'stopped' ? 0 : draft.replicas,
    restarted_at: it.restarted_at?.toISOString() ?? null,
    spec: draft.runs.spec,
    env: it.env,
    volumes: it.mounted,
    secrets: redacted(it.secrets),
  };
  return target.kind === 'cluster'
    ? onCluster(transaction, target, rendering)
    : onHost(transaction, target, { rendering, gpus });
}

/** The manifest of a deployment as it is now. */
export async function presentManifest(transaction: Transaction, row: DeploymentRow): Promise<Shown[]> {
  const runs = await runsOf(transaction, row.workload_id, row.revision);
  const draft = draftOf(row, { runs });
  const { mounted } = await mountVolumes(transaction, draft);
  const { env } = resolveEnv(runs.spec, row.env);
  const gpus = await allocatedGpus(transaction, row);
  const { generation, restarted_at } = row;
  const secrets = await knownSecrets(transaction, runs.secretNames);
  return manifestOf(transaction, {
    draft,
    env,
    mounted,
    secrets,
    target: draft.target,
    gpus,
    generation,
    restarted_at,
  });
}

async function onCluster(transaction: Transaction, { id }: Target, rendering: Rendering<'placeholders'>) {
  const cluster = await transaction.cluster.findUniqueOrThrow({ where: { id } });
  return renderKubernetes(rendering, cluster).objects.map(asShown);
}

interface OnHost {
  readonly rendering: Rendering<'placeholders'>;
  readonly gpus: readonly (readonly string[])[];
}

async function onHost(transaction: Transaction, { id }: Target, { rendering, gpus }: OnHost) {
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
export function titleOf(object: Shown): string {
  const { name } = { ...object, ...(object.metadata as object | undefined) } as { readonly name?: unknown };
  return `${object.kind}/${name}`;
}
