import { Problem } from '@svc/http';
import { PENDING } from '../deployments/generations.ts';
import type { DeploymentRow } from '../deployments/rows.ts';
import { resumeHeld } from '../deployments/updates/restore.ts';
import { presentRollout } from '../deployments/updates/rollout.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { nextVersion } from '../resources/kind.ts';
import type { ApplicationChange } from './change.ts';
import { readOpenParts, recordOutcome } from './outcome.ts';
import { readPartRows } from './parts.ts';
import type { ApplicationRow } from './rows.ts';
import { recordEvent } from './store.ts';

type Transaction = Prisma.TransactionClient;

/** Whether the parts of a generation are still being replaced, or it has failed and a person decides. */
const isOpen = ({ deleting, desired_state, generation, good_generation, outcome }: ApplicationRow): boolean =>
  !deleting && desired_state === 'running' && generation !== good_generation && outcome !== 'good';

/**
 * The change with which a caller ends an update and restores the last good generation. @throws 409 without an update that can be
 * aborted, or without a generation to restore
 */
export async function abortedUpdate(transaction: Transaction, row: ApplicationRow): Promise<ApplicationChange> {
  const { generation, good_generation: good, failed_generation, outcome } = row;
  if (!isOpen(row)) throw noUpdate(row, 'has no update in progress, and none that is held');
  if (good === null || failed_generation !== null) throw nothingToRestore(row);
  if (outcome === null) await recordOutcome(transaction, row, { outcome: 'failed', outcome_reason: 'Aborted' });
  return {
    operation: 'rollback',
    message: `returned to generation ${good}: generation ${generation} was aborted`,
    restores: good,
    isReturn: true,
  };
}

/**
 * Continues the generation of an application that is held: the crashes and the time of its parts count from 0. @throws 409 if it is not
 * held, or if a part cannot continue
 */
export async function resumeUpdate(transaction: Transaction, row: ApplicationRow, actor: string): Promise<void> {
  const { id, generation, outcome } = row;
  if (!isOpen(row) || outcome !== 'failed') throw noUpdate(row, 'has no update that is held');
  const failed = (await readOpenParts(transaction, id)).filter(({ state }) => state === 'failed');
  const parts = await readPartRows(transaction, row);
  for (const { part, reason } of failed) {
    const deployment = parts.find((each) => each.part === part);
    if (!deployment || !(await resumePart(transaction, deployment)))
      throw noUpdate(row, `cannot continue, because the part ${part} has ended (${reason}): change it, or roll back`);
  }
  await recordOutcome(transaction, row, { outcome: null, outcome_reason: null });
  await transaction.application.update({ where: { id }, data: nextVersion() });
  await recordEvent(transaction, { id, generation, reason: 'resume', message: 'the update continues', actor });
}

/** Lets a part continue that has failed: its rollout, or its wait for others. @returns whether it can */
async function resumePart(transaction: Transaction, row: DeploymentRow): Promise<boolean> {
  const { id, waiting } = row;
  if (waiting !== null && waiting.length > 0) {
    await transaction.$executeRaw`
      UPDATE deployments SET waits_for = jsonb_set(waits_for, '{since}', to_jsonb(now())) WHERE id = ${id}::uuid`;
    return true;
  }
  const rollout = presentRollout(row);
  if (rollout?.state !== 'held') return false;
  await resumeHeld(transaction, row, rollout);
  // The phase of the failure describes the rollout that continues no more.
  await transaction.deployment.updateMany({ where: { id, phase: 'failed' }, data: PENDING });
  return true;
}

const noUpdate = ({ name }: ApplicationRow, what: string) =>
  new Problem('no_rollout', `Nothing was changed: the application ${name} ${what}.`);

/** That no other generation can be restored. */
export const nothingToRestore = ({ name }: ApplicationRow) =>
  new Problem(
    'nothing_to_restore',
    `Nothing was changed: no other generation of the application ${name} is known to be good.`,
  );
