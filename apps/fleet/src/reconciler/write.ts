import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/client.ts';
import { removeDeployment } from '../deployments/store.ts';
import type { Observation } from '../engines/observation.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { decideAlone } from '../resources/placement-lock.ts';
import type { Desired } from './desired.ts';
import type { Claim } from './queue.ts';
import type { ReconcilerTimings } from './timings.ts';

type Transaction = Prisma.TransactionClient;

/** Spreads passes that would come at the same time. */
const jitter = () => 0.8 + 0.4 * Math.random();

const backoff = (failures: number, { retry, retryLimit }: ReconcilerTimings) =>
  Math.min(retryLimit, retry * 2 ** Math.min(failures, 8)) * jitter();

/** Milliseconds until the next pass. */
function dueIn({ next }: Observation, failures: number, timings: ReconcilerTimings): number {
  if (next === 'soon') return timings.progress;
  return next === 'retry' ? backoff(failures, timings) : timings.resync * jitter();
}

/** By then everything has been applied: what somebody sets later is that one's again. */
const TAKEN_OVER: readonly Observation['phase'][] = ['starting', 'running', 'stopped'];

/**
 * Keeps what was observed, where the lease is still this worker's and nobody asked for anything else meanwhile; else it is
 * looked at again at once. What happened is an event.
 */
export async function writeObserved(
  { client }: Database,
  claim: Claim,
  it: Desired & { readonly observed: Observation; readonly timings: ReconcilerTimings },
): Promise<void> {
  const { row, observed, volumes, timings } = it;
  if (observed.phase === 'gone') return removeRow(client, claim);
  const failures = observed.next === 'retry' ? row.failures + 1 : observed.next === 'soon' ? row.failures : 0;
  const { phase, reason, message, instances, endpoints } = observed;
  await client.$transaction(async (transaction) => {
    const kept = await transaction.$executeRaw`
      UPDATE deployments SET phase = ${phase}, reason = ${reason}, message = ${message},
        instances = ${JSON.stringify(instances)}::jsonb, endpoints = ${JSON.stringify(endpoints)}::jsonb,
        observed_generation = ${claim.generation}, observed_at = now(), failures = ${failures},
        take_over = take_over AND ${!TAKEN_OVER.includes(phase)},
        due_at = now() + make_interval(secs => ${dueIn(observed, failures, timings) / 1000}), lease_owner = NULL, lease_until = NULL
      WHERE id = ${claim.id}::uuid AND lease_owner = ${claim.owner}::uuid AND lease_until > now()
        AND generation = ${claim.generation}`;
    if (kept === 0) return letGo(transaction, claim, 0);
    await noteVolumes(transaction, volumes, observed);
    await noteEvents(transaction, claim, eventsOf(row, observed));
  });
}

/** Ends the lease. Any worker may take the deployment after so many milliseconds. */
export const letGo = async (
  client: Pick<Transaction, '$executeRaw'>,
  { id, owner }: Claim,
  milliseconds: number,
): Promise<void> => {
  await client.$executeRaw`
    UPDATE deployments SET lease_owner = NULL, lease_until = NULL, due_at = now() + make_interval(secs => ${milliseconds / 1000})
    WHERE id = ${id}::uuid AND lease_owner = ${owner}::uuid`;
};

interface Failed {
  readonly failure: { readonly reason: string; readonly message: string };
  readonly timings: ReconcilerTimings;
}

/**
 * A pass that could not be made, or not to its end: what is known of the deployment stays, and it is tried again; at once where
 * somebody asked for something else meanwhile.
 */
export async function writeFailed({ client }: Database, claim: Claim, { failure, timings }: Failed): Promise<void> {
  const [row] = await client.$queryRaw<{ failures: number }[]>`
    UPDATE deployments SET phase = CASE WHEN phase IN ('deleting', 'stopping') OR observed_generation = generation THEN phase ELSE 'retrying' END,
      reason = ${failure.reason}, message = ${failure.message}, failures = failures + 1, observed_at = now()
    WHERE id = ${claim.id}::uuid AND lease_owner = ${claim.owner}::uuid AND lease_until > now()
      AND generation = ${claim.generation}
    RETURNING failures`;
  await letGo(client, claim, row ? backoff(row.failures, timings) : 0);
}

/** Nothing is left of it on any engine, so its row goes, with its own volumes. */
async function removeRow(client: Database['client'], { id, owner }: Claim): Promise<void> {
  await client.$transaction(async (transaction) => {
    await decideAlone(transaction);
    const held = await transaction.deployment.findFirst({ where: { id, lease_owner: owner, deleting: true } });
    if (held) await removeDeployment(transaction, id);
  });
}

async function noteVolumes(
  transaction: Transaction,
  volumes: Desired['volumes'],
  { volumes: there, reason }: Observation,
) {
  const ids = there.flatMap((name) => volumes.get(name) ?? []);
  await transaction.volume.updateMany({
    where: { id: { in: ids }, phase: { not: 'bound' } },
    data: { phase: 'bound' },
  });
  if (reason !== 'VolumeLost') return;
  const lost = [...volumes].filter(([name]) => !there.includes(name)).map(([, id]) => id);
  await transaction.volume.updateMany({ where: { id: { in: lost }, phase: 'bound' }, data: { phase: 'lost' } });
}

interface Event {
  readonly reason: string;
  readonly message: string;
}

/** What was done, and what it came to where that is new. */
function eventsOf(before: Desired['row'], { actions, phase, reason, message }: Observation): Event[] {
  const done = actions.map((action) => ({ reason: 'engine', message: action }));
  const isNew = before.phase !== phase || before.reason !== reason;
  return isNew ? [...done, { reason: reason ?? phase, message }] : done;
}

const noteEvents = (transaction: Transaction, { id, generation }: Claim, events: readonly Event[]) =>
  transaction.deploymentEvent.createMany({
    data: events.map((event) => ({ id: uuidv7(), deployment_id: id, kind: 'event' as const, generation, ...event })),
  });
