import { countEntries, writeFleetEntry } from '../../audit/entries.ts';
import { upgradeDeployment } from '../../deployments/updates/upgrade.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { THE_FLEET } from '../../identity/principal.ts';
import type { ReturnContext } from '../rollout/restore.ts';

type Transaction = Prisma.TransactionClient;

/** An update that the fleet applies, without a request for this deployment. */
export interface Update {
  readonly id: string;
  /** The message of its event. */
  readonly message: string;
  /** Identifies in the audit log what has requested it. */
  readonly requestId: string;
  /** @returns the digest of its plan; undefined if it is not to be made. It can lock rows */
  readonly prepare: (transaction: Transaction) => Promise<string | undefined>;
  /** Records that it has begun. */
  readonly record: (transaction: Transaction, generation: number) => Promise<unknown>;
}

/**
 * Updates a deployment to the present template as it was planned, in one transaction with an audit entry of the actor `fleet`.
 * @returns whether it was made. @throws Problem if it is refused, and nothing was changed
 */
export async function applyUpdate(context: ReturnContext, update: Update): Promise<boolean> {
  const { database, sealer } = context;
  const { id, message, requestId, prepare, record } = update;
  const isApplied = await database.client.$transaction(async (transaction) => {
    const expected = await prepare(transaction);
    if (expected === undefined) return false;
    const author = { transaction, principal: THE_FLEET, settings: { sealer }, ifMatch: () => () => true };
    const { deployment } = await upgradeDeployment({ ...context, ...author }, id, { expected }, message);
    await record(transaction, deployment.generation);
    const path = `/api/v1/deployments/${id}/upgrade`;
    await writeFleetEntry(transaction, { path, requestId, objectName: deployment.name });
    return true;
  });
  if (isApplied) countEntries('written');
  return isApplied;
}
