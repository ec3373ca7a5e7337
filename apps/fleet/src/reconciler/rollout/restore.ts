import type { Sealer } from '@svc/database';
import { Problem } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../database/client.ts';
import type { Candidates } from '../../deployments/candidates.ts';
import { changeDeployment } from '../../deployments/changes.ts';
import { deployments } from '../../deployments/rows.ts';
import { changeToGood } from '../../deployments/updates/restore.ts';
import { recordNotice } from '../../events/record.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { THE_FLEET } from '../../identity/principal.ts';
import type { DefaultLimits } from '../../render/defaults.ts';
import { readRow } from '../../resources/kind.ts';
import { acquirePlacementLock } from '../../resources/placement-lock.ts';
import type { Claim, ClaimedRow } from '../queue.ts';
import { releaseLease } from '../write.ts';

/** What a return to the last good generation needs. */
export interface ReturnContext {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly candidates: Candidates;
  readonly defaultLimits: DefaultLimits;
}

/**
 * Restores the last good generation of a deployment whose rollout has failed, as a new generation. A worker that has lost its
 * lease, and a generation that is superseded, change nothing. A return that is refused is held.
 */
export async function returnToGood(context: ReturnContext, claim: Claim, row: ClaimedRow): Promise<void> {
  const { client } = context.database;
  try {
    await client.$transaction((transaction) => restore({ ...context, transaction }, claim, row));
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 422) throw error;
    return hold(client, claim, `The fleet cannot return to generation ${row.good_generation}: ${error.message}`);
  }
  await releaseLease(client, claim, 0);
}

async function restore(
  context: ReturnContext & { readonly transaction: Prisma.TransactionClient },
  { id, owner, generation }: Claim,
  { reason, rollout }: ClaimedRow,
): Promise<void> {
  const { transaction, sealer } = context;
  await acquirePlacementLock(transaction);
  const [held] = await transaction.$queryRaw<{ name: string }[]>`
    SELECT name FROM deployments WHERE id = ${id}::uuid AND lease_owner = ${owner}::uuid AND lease_until > now()
      AND generation = ${generation} AND NOT deleting FOR UPDATE`;
  if (!held) return;
  const change = await changeToGood(
    transaction,
    await readRow(transaction, deployments, id),
    `has failed (${rollout?.reason ?? reason})`,
  );
  if (!change) throw new Problem('deployment_refused', 'No other generation is known to be good.');
  const author = { transaction, principal: THE_FLEET, settings: { sealer }, ifMatch: () => () => true };
  await changeDeployment({ ...context, ...author }, id, () => change);
  await transaction.deploymentEvent.create({
    data: {
      id: uuidv7(),
      deployment_id: id,
      kind: 'event',
      generation: generation + 1,
      reason: 'RolledBack',
      message: `${change.message}.`,
    },
  });
  const notice = { kind: 'deployments', objectId: id, name: held.name, reason: 'RolledBack' } as const;
  await recordNotice(transaction, { ...notice, message: `${change.message}.` });
}

/** A person decides about a rollout whose return is refused. */
async function hold(client: Database['client'], { id, owner, generation }: Claim, message: string): Promise<void> {
  await client.$executeRaw`
    UPDATE deployments SET rollout = rollout || jsonb_build_object('state', 'held', 'message', ${message}::text), due_at = now(),
      lease_owner = NULL, lease_until = NULL
    WHERE id = ${id}::uuid AND lease_owner = ${owner}::uuid AND generation = ${generation}`;
}
