import { type Log, type PeriodicTask, Problem, runPeriodically } from '@svc/http';
import { changeApplication } from '../applications/apply.ts';
import { type OpenPart, readOpenParts, recordOutcome, settled } from '../applications/outcome.ts';
import { type ApplicationRow, applications } from '../applications/rows.ts';
import { recordEvent, removeRetired } from '../applications/store.ts';
import { deployments } from '../deployments/rows.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { nextVersion, readRow, readRows } from '../resources/kind.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import type { ReturnContext } from './rollout/restore.ts';
import type { ReconcilerTimings } from './timings.ts';
import { authoredByFleet } from './updates/apply.ts';

export interface ApplicationContext extends ReturnContext {
  readonly log: Log;
  readonly timings: Pick<ReconcilerTimings, 'updates' | 'afterError'>;
}

type Transaction = Prisma.TransactionClient;

/**
 * Observes the generations of applications that have not ended, until stopped. Each step is one transaction that locks the application, so that
 * replicas share the work, and a killed one leaves a step that the next pass makes.
 */
export const startApplications = (context: ApplicationContext): PeriodicTask =>
  runPeriodically(Math.random() * context.timings.updates, async (ending) => {
    try {
      const open = await context.database.client.$queryRaw<{ id: string }[]>`
        SELECT a.id FROM applications a JOIN application_generations g ON g.application_id = a.id AND g.generation = a.generation
        WHERE a.good_generation IS DISTINCT FROM a.generation AND NOT a.deleting AND a.desired_state = 'running' AND g.outcome IS NULL`;
      for (const { id } of open) if (!ending.aborted) await continueApplication(context, id);
      return context.timings.updates;
    } catch (error) {
      context.log.warn({ err: error }, 'observing applications failed; will retry');
      return context.timings.afterError;
    }
  });

/** A pass of an application: records that its generation is good or has failed, and then returns to the last good one. */
export async function continueApplication(context: ApplicationContext, id: string): Promise<void> {
  const { client } = context.database;
  const parts = await readOpenParts(client, id);
  if (settled(parts) === undefined) return;
  await client.$transaction(async (transaction) => {
    await acquirePlacementLock(transaction);
    const [locked] = await transaction.$queryRaw<{ id: string }[]>`
      SELECT a.id FROM applications a JOIN application_generations g ON g.application_id = a.id AND g.generation = a.generation
      WHERE a.id = ${id}::uuid AND NOT a.deleting AND a.desired_state = 'running' AND g.outcome IS NULL FOR UPDATE OF a`;
    if (!locked) return;
    const now = await readOpenParts(transaction, id);
    const failed = settled(now);
    if (failed === undefined) return;
    const row = await readRow(transaction, applications, id);
    if (failed === 'good') await recordGood(context, transaction, row);
    else await recordFailure(context, transaction, { row, failed, parts: now });
  });
}

async function recordGood(context: ApplicationContext, transaction: Transaction, row: ApplicationRow): Promise<void> {
  const { id, generation } = row;
  await recordOutcome(transaction, row, { outcome: 'good' });
  await transaction.application.update({ where: { id }, data: { good_generation: generation, ...nextVersion() } });
  const retired = await transaction.$queryRaw<{ id: string }[]>`
    SELECT d.id FROM deployments d JOIN application_generations g ON g.application_id = d.application_id AND g.generation = ${generation}
    WHERE d.application_id = ${id}::uuid AND NOT d.deleting AND NOT g.parts ? d.part`;
  const ids = retired.map((part) => part.id);
  if (ids.length > 0)
    await removeRetired(authoredByFleet(context, transaction), row, await readRows(transaction, deployments, ids));
}

interface Failure {
  readonly row: ApplicationRow;
  readonly failed: OpenPart;
  readonly parts: readonly OpenPart[];
}

/** Records a failure, and returns to the last good generation if the policy says so. A return that is refused is not tried again. */
async function recordFailure(context: ApplicationContext, transaction: Transaction, { row, failed, parts }: Failure) {
  const { id, generation, good_generation: good } = row;
  const reason = `the part ${failed.part} has failed (${failed.reason})`;
  await recordOutcome(transaction, row, { outcome: 'failed', outcome_reason: `${failed.part}: ${failed.reason}` });
  const whyNot = whyNoReturn(row, parts);
  const next = whyNot === undefined ? `The fleet returns to generation ${good}.` : whyNot;
  const message = `Generation ${generation} has failed: ${reason}. ${next}`;
  await recordEvent(transaction, { id, generation, reason: 'Failed', message, actor: null });
  if (whyNot !== undefined || good === null) return;
  const change = {
    operation: 'rollback' as const,
    message: `returned to generation ${good}: in generation ${generation}, ${reason}`,
    restores: good,
    isReturn: true,
  };
  try {
    await changeApplication(authoredByFleet(context, transaction), row, change);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    const refused = `The fleet cannot return to generation ${good}: ${error.message}`;
    await recordEvent(transaction, { id, generation, reason: 'NotReturned', message: refused, actor: null });
  }
}

/** Why a person decides what follows a failure; undefined if the application returns. */
function whyNoReturn(row: ApplicationRow, parts: readonly OpenPart[]): string | undefined {
  const { good_generation: good, failed_generation, on_failure } = row;
  if (failed_generation !== null) return 'The fleet does not try another generation.';
  if (good === null) return 'No earlier generation is known to be good.';
  if (on_failure === 'stop') return 'The application is configured to stop after a failure.';
  const written = parts.find(({ has_written }) => has_written);
  if (on_failure === 'auto' && written)
    return `The part ${written.part} has already run with its volumes, so the fleet does not return by itself.`;
  const migrated = parts.find(({ has_migrated }) => has_migrated);
  if (on_failure === 'auto' && migrated)
    return `The job ${migrated.part} has already run for this version, so the fleet does not return by itself.`;
  return undefined;
}
