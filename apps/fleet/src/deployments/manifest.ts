import type { Target } from '@svc/contract/fleet';
import type { Prisma } from '../generated/prisma/client.ts';
import { renderDocker } from '../render/docker.ts';
import { renderKubernetes } from '../render/kubernetes.ts';
import type { Rendering } from '../render/rendering.ts';
import { redacted } from '../render/secrets.ts';
import { allocatedGpus } from './allocated.ts';
import { knownSecrets } from './decide.ts';
import type { DeploymentRow } from './rows.ts';
import { renderingOf, storedOf } from './stored.ts';

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
export function titleOf(object: Shown): string {
  const { name } = { ...object, ...(object.metadata as object | undefined) } as { readonly name?: unknown };
  return `${object.kind}/${name}`;
}
