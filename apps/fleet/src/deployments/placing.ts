import { isDeepStrictEqual } from 'node:util';
import type { Prisma } from '../generated/prisma/client.ts';
import { type Needs, needsOf } from '../placement/demand.ts';
import { type Placement, place } from '../placement/place.ts';
import { allocatedGpus } from './allocated.ts';
import { readCandidates } from './candidates.ts';
import { type Draft, runsOf } from './draft.ts';
import type { Mounted } from './volumes.ts';

type Transaction = Prisma.TransactionClient;

interface Placing {
  readonly draft: Draft;
  readonly needs: Needs;
  readonly mounted: readonly Mounted[];
}

/**
 * Finds the place of a draft. What it has of a place already it keeps, GPUs by name, whatever has become of the place since: only
 * what is more is placed. What asks for something else than before is placed as a whole, and what is stopped nowhere.
 */
export async function placed(transaction: Transaction, { draft, needs, mounted }: Placing): Promise<Placement> {
  if (draft.desired === 'stopped') return { chosen: undefined, judged: [] };
  const held = await heldBy(transaction, draft, needs);
  if (held && held.gpus.length >= needs.replicas) return stays(held, needs.replicas);
  const candidates = await readCandidates(transaction, held ? undefined : draft.id);
  const volumes = mounted.map(({ name, access_mode, boundTo, attachedTo }) => ({
    name,
    access_mode,
    boundTo,
    attached_to: attachedTo,
  }));
  const target = draft.target ?? undefined;
  if (!held) return place({ ...needs, volumes, target }, candidates);
  const more = place({ ...needs, replicas: needs.replicas - held.gpus.length, volumes, target }, candidates);
  return more.chosen ? { ...more, chosen: { ...more.chosen, gpus: [...held.gpus, ...more.chosen.gpus] } } : more;
}

/** What a deployment has of its place. */
interface Held {
  readonly kind: 'host' | 'cluster';
  readonly id: string;
  readonly name: string;
  /** Of each replica that it was given room for. */
  readonly gpus: readonly (readonly string[])[];
}

/** What it runs with now, where a replica is to ask for the same as before. */
async function heldBy(transaction: Transaction, { id, target }: Draft, needs: Needs): Promise<Held | undefined> {
  const row = await transaction.deployment.findUnique({ where: { id }, include: { host: true, cluster: true } });
  if (!row || !target || row.desired_state === 'stopped') return undefined;
  const { spec } = await runsOf(transaction, row.workload_id, row.revision);
  const { replicas } = row;
  if (!isDeepStrictEqual(needsOf(spec, replicas), { ...needs, replicas })) return undefined;
  const gpus = await allocatedGpus(transaction, row);
  return { ...target, name: row.host?.name ?? row.cluster?.name ?? target.id, gpus };
}

const stays = ({ kind, id, name, gpus }: Held, replicas: number): Placement => ({
  chosen: { kind, id, gpus: gpus.slice(0, replicas) },
  judged: [{ kind, id, name, fits: true, reasons: ['chosen: it is there, and asks for no more than it has'] }],
});
