import { countEntries, writeFleetEntry } from '../../audit/entries.ts';
import { upgradeDeployment } from '../../deployments/updates/upgrade.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { THE_FLEET } from '../../identity/principal.ts';
import type { UpdateKind } from '../../resources/updates.ts';
import type { ReturnContext } from '../rollout/restore.ts';

type Transaction = Prisma.TransactionClient;

/** An update that the fleet applies, without a request for this deployment. */
export interface Update {
  readonly id: string;
  /** By what it is made, for the message of its event. */
  readonly by: string;
  /** Identifies in the audit log what has requested it. */
  readonly requestId: string;
  /** @returns its plan; undefined if it is not to be made. It can lock rows */
  readonly prepare: (transaction: Transaction) => Promise<Planned | undefined>;
  /** Records that it has begun. */
  readonly record: (transaction: Transaction, generation: number) => Promise<unknown>;
}

interface Planned {
  /** The digest of the plan. */
  readonly expected: string;
  /** What it updates. Default: what has changed. */
  readonly kinds?: readonly UpdateKind[];
}

/**
 * Updates a deployment to the present template and the latest known image as it was planned, in one transaction with an audit
 * entry of the actor `fleet`.
 * @returns whether it was made. @throws Problem if it is refused, and nothing was changed
 */
export async function applyUpdate(context: ReturnContext, update: Update): Promise<boolean> {
  const { database, sealer } = context;
  const { id, by, requestId, prepare, record } = update;
  const isApplied = await database.client.$transaction(async (transaction) => {
    const planned = await prepare(transaction);
    if (planned === undefined) return false;
    const author = { transaction, principal: THE_FLEET, settings: { sealer }, ifMatch: () => () => true };
    const { deployment } = await upgradeDeployment({ ...context, ...author }, id, { ...planned, by });
    await record(transaction, deployment.generation);
    const path = `/api/v1/deployments/${id}/upgrade`;
    await writeFleetEntry(transaction, { path, requestId, objectName: deployment.name });
    return true;
  });
  if (isApplied) countEntries('written');
  return isApplied;
}
