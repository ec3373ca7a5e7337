import { problemPhases } from '@svc/contract/fleet';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/client.ts';
import { columnsOfGeneration, REVISION_COLUMNS, REVISION_VALUES } from '../deployments/generations.ts';
import { removeDeployment } from '../deployments/store.ts';
import { isCrashReason } from '../engines/errors.ts';
import type { HostImage, Observation } from '../engines/observation.ts';
import { NO_RECORD, problemRecord, RECORDED, type RecordedEvent, recoveryRecord } from '../events/record.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import { THE_FLEET } from '../identity/principal.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { conditionColumn } from './columns/conditions.ts';
import { gpuCount, keptScaleRecord, scaleColumns } from './columns/scale.ts';
import { stateAfter } from './crash-loop.ts';
import type { Desired } from './desired.ts';
import type { Claim } from './queue.ts';
import { outcomeRecords, releaseRecords, rolloutColumns } from './rollout/columns.ts';
import { type RolloutAfter, rolloutAfter, withFailedRollout } from './rollout/state.ts';
import { backoffOf, type ReconcilerTimings } from './timings.ts';

type Transaction = Prisma.TransactionClient;

/** Spreads reconciliations that would otherwise be due at the same time. */
const jitter = () => 0.8 + 0.4 * Math.random();

const backoff = (failures: number, timings: ReconcilerTimings) => backoffOf(failures, timings) * jitter();

/** The clocks of engines and of the database have milliseconds. */
const MARGIN_MS = 10;

/** Milliseconds until the next reconciliation. */
function dueIn({ observed, assignment, timings }: Result, failures: number): number {
  const { next, changesInMs } = observed;
  if (next === 'soon') return changesInMs === undefined ? timings.progress : changesInMs + MARGIN_MS;
  if (next === 'retry') return backoff(failures, timings);
  return (isCompared(assignment, observed) ? timings.resyncCompared : timings.resync) * jitter();
}

/**
 * Whether the checks of the target find each change that a reconciliation would repair
 * (compare.ts). Checks of clusters list no pods, and the lists of Podman do not show health.
 */
function isCompared({ kind, row, desired }: Desired['assignment'], { phase }: Observation): boolean {
  if (kind !== 'host' || phase !== COMPARED_PHASES[desired.kind]) return false;
  const isShown = row.engine === 'docker' || desired.kind !== 'running';
  return isShown || desired.manifest.containers.every(({ body }) => body.Healthcheck === undefined);
}

const COMPARED_PHASES = { running: 'running', stopped: 'stopped', gone: undefined } as const;

type Result = Desired & {
  readonly observed: Observation;
  readonly timings: ReconcilerTimings;
  /** The image that the pass has chosen, if it has chosen one. */
  readonly chosen?: ChosenImage | undefined;
};

/**
 * In these phases everything has been applied, so the request to take over fields has been
 * fulfilled, and the number of replicas has been handed over.
 */
const TAKEN_OVER: readonly Observation['phase'][] = ['starting', 'running', 'stopped'];

/**
 * Writes the observed state, the chosen image and the events of a pass, if the worker still holds the lease and the
 * generation is not superseded. Otherwise writes nothing of the pass, and the deployment is due at
 * once.
 * @returns the events for the whole fleet
 */
export async function writeObserved(
  { client, statements }: Database,
  claim: Claim,
  result: Result,
): Promise<readonly RecordedEvent[]> {
  const { row, volumes, timings, chosen } = result;
  if (result.observed.phase === 'gone') {
    await removeRow(client, claim);
    return [];
  }
  const { resync, progress } = timings;
  const clock = { now: row.now, delayOf: (count: number) => backoff(count, timings), resync, progress };
  const { observed: seen, crashLoop, failures } = stateAfter(row, result.observed, clock);
  const { isService, canWrite } = result;
  const rollout = rolloutAfter({ row, observed: seen, isService, canWrite, drain: timings.drain });
  const observed = withFailedRollout(seen, rollout?.rollout);
  const { phase, reason, message, instances, endpoints, imageDigest = null } = observed;
  const isRunning = result.assignment.desired.kind === 'running';
  const records = [
    eventsRecord(claim, [...eventsOf(row, observed, crashLoop !== null), ...eventsOfRollout(rollout)]),
    ...outcomeRecords(claim, { after: rollout, imageDigest, hostImage: chosen?.image ?? row.host_image }),
    ...releaseRecords(claim, row, rollout),
    ...keptScaleRecord(claim, row, observed),
    ...volumeRecords(volumes, observed),
    ...addressRecord(claim, observed),
    ...networkRecord(observed),
    ...gpuRecord(claim, observed),
  ];
  const [written] = await statements.read<Written>(Prisma.sql`
    WITH updated AS (
      UPDATE deployments SET ${chosen ? Prisma.sql`${imageColumns(chosen)},` : Prisma.empty} phase = ${phase}, reason = ${reason}, message = ${message},
        instances = ${JSON.stringify(instances)}::jsonb, endpoints = ${JSON.stringify(endpoints)}::jsonb,
        image_digest = ${imageDigest}, crash_loop = ${crashLoop === null ? null : JSON.stringify(crashLoop)}::jsonb, gpu_count = CASE WHEN ${releasesGpus(observed)} THEN 0 ELSE ${gpuCount(row, observed)} END, observed_generation = ${claim.generation}, observed_at = now(), failures = ${failures},
        ${rolloutColumns(row, rollout)} ${scaleColumns({ row, observed, isRunning })} ${conditionColumn({ row, observed, isRunning })}
        take_over = take_over AND ${!TAKEN_OVER.includes(phase)},
        handover = CASE WHEN ${!TAKEN_OVER.includes(phase)} THEN handover END,
        due_at = now() + make_interval(secs => ${dueWithRollout({ ...result, observed }, failures, rollout) / 1000}), lease_owner = NULL, lease_until = NULL
      WHERE id = ${claim.id}::uuid AND lease_owner = ${claim.owner}::uuid AND lease_until > now()
        AND generation = ${claim.generation}
      RETURNING id, name),
    ${Prisma.join(records.map((record, index) => Prisma.sql`${Prisma.raw(`record_${index}`)} AS (${record})`))},
    ${healthRecord(observed)}
    SELECT (SELECT count(*)::int FROM updated) AS updated, ${RECORDED} AS recorded`);
  if (!written?.updated) await releaseLease(client, claim, 0);
  return written?.recorded ?? [];
}

/** Milliseconds until the next reconciliation, also for the rollout in progress. */
function dueWithRollout(result: Result, failures: number, rollout: RolloutAfter | undefined): number {
  if (rollout?.changesInMs === undefined) return dueIn(result, failures);
  const { timings } = result;
  return Math.min(rollout.isWaiting ? timings.resync : dueIn(result, failures), rollout.changesInMs + MARGIN_MS);
}

const eventsOfRollout = (rollout: RolloutAfter | undefined): Event[] =>
  rollout?.failure ? [{ reason: 'RolloutFailed', message: rollout.failure.message }] : [];

interface Written {
  /** The number of updated deployments. */
  readonly updated: number;
  readonly recorded: readonly RecordedEvent[];
}

const PROBLEM_PHASES: readonly Observation['phase'][] = problemPhases;
const HEALTHY_PHASES: readonly Observation['phase'][] = ['running', 'stopped'];

/**
 * Records whether a deployment has a problem or has recovered. A deployment that starts has not
 * recovered yet, so one that crashes again and again has one event.
 */
function healthRecord({ phase, reason, message }: Observation): Prisma.Sql {
  if (PROBLEM_PHASES.includes(phase) || reason !== null) {
    return problemRecord({ kind: 'deployments', reason: reason ?? DEGRADED, message });
  }
  return HEALTHY_PHASES.includes(phase) ? recoveryRecord('deployments') : NO_RECORD;
}

/**
 * The reason of an event of a deployment whose instances are not all up, if its engine reports no
 * other one.
 */
const DEGRADED = 'Degraded';

/** Writes what a worker is doing in the first pass of a generation. */
export async function writeProgress({ client }: Database, claim: Claim, message: string): Promise<void> {
  await client.$executeRaw`
    UPDATE deployments SET message = ${message}
    WHERE id = ${claim.id}::uuid AND lease_owner = ${claim.owner}::uuid AND lease_until > now()
      AND generation = ${claim.generation} AND phase = 'pending'`;
}

/** The image that the containers of a generation run. */
export interface ChosenImage {
  readonly image: HostImage;
  /** Why a requested pull failed. */
  readonly notPulled: { readonly reason: string; readonly message: string } | undefined;
}

/** The columns that state the image of a generation, and that a requested pull is done. */
function imageColumns({ image, notPulled }: ChosenImage): Prisma.Sql {
  const message = `The image that the host had is used, because its pull failed: ${notPulled?.message}`;
  const conditions = notPulled
    ? [{ type: 'ImagePulled', status: 'False', reason: notPulled.reason, message, at: new Date().toISOString() }]
    : [];
  return Prisma.sql`host_image = ${JSON.stringify(image)}::jsonb, pull_requested = false,
    conditions = ${JSON.stringify(conditions)}::jsonb`;
}

/** Writes the chosen image of a pass that has no result. */
export async function writeImage({ client }: Database, claim: Claim, chosen: ChosenImage): Promise<void> {
  await client.$executeRaw`
    UPDATE deployments SET ${imageColumns(chosen)}
    WHERE id = ${claim.id}::uuid AND lease_owner = ${claim.owner}::uuid AND lease_until > now()
      AND generation = ${claim.generation}`;
}

interface Later {
  /** The generation of the objects on the engine. */
  readonly by: number;
  readonly timings: ReconcilerTimings;
}

/** The largest value of the column. A label with a larger number was not written by the fleet. */
const MAX_GENERATION = 2 ** 31 - 2;

/**
 * Raises the generation of a deployment above that of its objects on the engine, so that the next
 * pass can change them. A generation is stored before an engine receives it. If the row still has
 * the generation of the pass, the engine is therefore ahead of the database: the database was
 * restored from a backup. Otherwise a later generation is waiting, and the pass ends.
 * @returns the events for the whole fleet
 */
export async function raiseGeneration(
  database: Database,
  claim: Claim,
  { by, timings }: Later,
): Promise<readonly RecordedEvent[]> {
  const { id, owner, generation } = claim;
  if (by > MAX_GENERATION) {
    const message = `Its objects on the engine have the generation ${by}, which the fleet cannot have written. Remove them, or their label.`;
    return writeFailed(database, claim, { failure: { reason: 'Superseded', message }, timings });
  }
  const message = `Superseded on the engine: its objects have generation ${by}, and the database has generation ${generation}. The database was probably restored from a backup. The deployment continues with generation ${by + 1}.`;
  const raised = await database.client.$executeRaw`
    WITH updated AS (
      UPDATE deployments SET generation = ${by + 1}, reason = 'Superseded', message = ${message}, observed_at = now(), failures = 0,
        due_at = now() + make_interval(secs => ${timings.progress / 1000}), lease_owner = NULL, lease_until = NULL
      WHERE id = ${id}::uuid AND lease_owner = ${owner}::uuid AND lease_until > now() AND generation = ${generation}
      RETURNING ${columnsOfGeneration}),
    revision AS (
      INSERT INTO deployment_revisions (deployment_id, generation, operation, ${REVISION_COLUMNS}, created_by)
      SELECT id, generation, 'supersede', ${REVISION_VALUES}, ${authorOf(THE_FLEET)} FROM updated),
    events AS (${eventsRecord({ generation: by + 1 }, [{ reason: 'Superseded', message }])})
    SELECT FROM updated`;
  if (raised === 0) await releaseLease(database.client, claim, timings.progress);
  return [];
}

/** Ends the lease. Any worker can claim the deployment after the given number of milliseconds. */
export const releaseLease = async (
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
 * Writes the failure of a reconciliation. The last observed state is kept. The reconciliation is
 * retried with a backoff, or at once if the generation is superseded. A worker that has lost its
 * lease writes nothing.
 * @returns the events for the whole fleet
 */
export async function writeFailed(
  { client }: Database,
  claim: Claim,
  { failure, timings }: Failed,
): Promise<readonly RecordedEvent[]> {
  const { reason, message } = failure;
  // The phase of a deployment that was running is kept, because the failure is not one of its
  // instances.
  const when = Prisma.sql`phase NOT IN ('running', 'stopped')`;
  const [row] = await client.$queryRaw<{ failures: number | null; recorded: readonly RecordedEvent[] }[]>`
    WITH updated AS (
      UPDATE deployments SET phase = CASE WHEN phase IN ('deleting', 'stopping') OR observed_generation = generation THEN phase ELSE 'retrying' END,
        reason = ${reason}, message = ${message}, failures = failures + 1, observed_at = now()
      WHERE id = ${claim.id}::uuid AND lease_owner = ${claim.owner}::uuid AND lease_until > now()
        AND generation = ${claim.generation}
      RETURNING id, name, phase, failures),
    ${problemRecord({ kind: 'deployments', reason, message, when })}
    SELECT (SELECT failures FROM updated) AS failures, ${RECORDED} AS recorded`;
  const failures = row?.failures ?? undefined;
  await releaseLease(client, claim, failures === undefined ? 0 : backoff(failures, timings));
  return row?.recorded ?? [];
}

/**
 * Deletes the row of a deployment whose objects have been removed from the engine, with its own
 * volumes.
 */
async function removeRow(client: Database['client'], { id, owner }: Claim): Promise<void> {
  await client.$transaction(async (transaction) => {
    await acquirePlacementLock(transaction);
    const deployment = await transaction.deployment.findFirst({ where: { id, lease_owner: owner, deleting: true } });
    if (deployment) await removeDeployment(transaction, id);
  });
}

/** Statements that record which volumes exist, and which are lost. */
function volumeRecords(volumes: Desired['volumes'], { volumes: present, reason }: Observation): Prisma.Sql[] {
  const found = present.flatMap((name) => volumes.get(name) ?? []);
  const lost =
    reason === 'VolumeLost' ? [...volumes].filter(([name]) => !present.includes(name)).map(([, id]) => id) : [];
  return [
    ...(found.length === 0 ? [] : [volumePhase(found, { from: ['pending', 'lost'], to: 'bound' })]),
    ...(lost.length === 0 ? [] : [volumePhase(lost, { from: ['bound'], to: 'lost' })]),
  ];
}

const volumePhase = (ids: readonly string[], { from, to }: { readonly from: readonly string[]; readonly to: string }) =>
  Prisma.sql`
    UPDATE volumes SET phase = ${to}::"VolumePhase"
    WHERE id = ANY (${ids}::uuid[]) AND phase::text = ANY (${from}::text[]) AND EXISTS (SELECT FROM updated)`;

/**
 * A statement that records whether the host has the addresses to which the ports of a deployment
 * bind: the engine has bound them, or could not.
 */
function addressRecord({ id }: Claim, { phase, reason, endpoints }: Observation): Prisma.Sql[] {
  const isBound = phase === 'running' && endpoints.length > 0;
  if (!isBound && reason !== 'AddressNotAvailable') return [];
  const used = Prisma.sql`SELECT host_id, array_agg(DISTINCT address) AS addresses
    FROM allocated_ports, unnest(addresses) address WHERE deployment_id = ${id}::uuid AND EXISTS (SELECT FROM updated) GROUP BY host_id`;
  return [
    phase === 'running'
      ? Prisma.sql`
        UPDATE hosts SET verified_addresses = ARRAY(SELECT DISTINCT unnest(verified_addresses || used.addresses))
        FROM (${used}) used WHERE hosts.id = used.host_id AND NOT verified_addresses @> used.addresses`
      : Prisma.sql`
        UPDATE hosts SET verified_addresses = ARRAY(SELECT unnest(verified_addresses) EXCEPT SELECT unnest(used.addresses))
        FROM (${used}) used WHERE hosts.id = used.host_id AND verified_addresses && used.addresses`,
  ];
}

/** A statement that records that networks exist, and whether their engine isolates them. */
const networkRecord = ({ networks = [] }: Observation): Prisma.Sql[] =>
  networks.length === 0
    ? []
    : [
        Prisma.sql`
          UPDATE networks n SET isolation = found.isolation
          FROM jsonb_to_recordset(${JSON.stringify(networks.map(({ id, isolated }) => ({ id, isolation: isolated ? 'isolated' : 'open' })))}::jsonb)
            AS found (id uuid, isolation text)
          WHERE n.id = found.id AND n.isolation IS DISTINCT FROM found.isolation AND EXISTS (SELECT FROM updated)`,
      ];

/**
 * Whether nothing runs because the engine does not give GPUs to the containers. The generation is not
 * tried again, and the next change allocates GPUs again.
 */
const releasesGpus = ({ phase, reason }: Observation): boolean => phase === 'failed' && reason === 'GpuMissing';

/** A statement that releases the GPUs of a deployment that cannot use them. */
const gpuRecord = ({ id }: Claim, observed: Observation): Prisma.Sql[] =>
  releasesGpus(observed)
    ? [Prisma.sql`DELETE FROM allocated_gpus WHERE deployment_id = ${id}::uuid AND EXISTS (SELECT FROM updated)`]
    : [];

interface Event {
  readonly reason: string;
  readonly message: string;
}

/**
 * An event for each action of the pass, and one for the result if phase or reason changed. A crash
 * loop has one event, also if its attempts fail for different reasons.
 */
function eventsOf(
  before: Desired['row'],
  { actions, phase, reason, message }: Observation,
  isInCrashLoop: boolean,
): Event[] {
  const done = actions.map((action) => ({ reason: 'engine', message: action }));
  const isSameLoop = before.crash_loop !== null && isInCrashLoop && isCrashReason(reason);
  const isNew = before.phase !== phase || (before.reason !== reason && !isSameLoop);
  const hasCompleted = phase === 'stopped' && before.desired_state === 'running';
  return isNew ? [...done, { reason: reason ?? (hasCompleted ? 'Completed' : phase), message }] : done;
}

/** A statement that records the events of a deployment in `updated`. */
function eventsRecord({ generation }: Pick<Claim, 'generation'>, events: readonly Event[]): Prisma.Sql {
  const rows = events.map((event) => ({ id: uuidv7(), ...event }));
  return Prisma.sql`
    INSERT INTO deployment_events (id, deployment_id, kind, generation, reason, message)
    SELECT e.id, updated.id, 'event'::"EventKind", ${generation}::int, e.reason, e.message
    FROM updated, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS e (id uuid, reason text, message text)`;
}
