import { changeApplication } from '../../applications/apply.ts';
import { presentOrigin } from '../../applications/origin.ts';
import { applications } from '../../applications/rows.ts';
import { upgradeTo } from '../../applications/updates/upgrade.ts';
import { countEntries, writeFleetEntry } from '../../audit/entries.ts';
import { upgradeDeployment } from '../../deployments/updates/upgrade.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { THE_FLEET } from '../../identity/principal.ts';
import { lockRow, readRow } from '../../resources/kind.ts';
import { acquirePlacementLock } from '../../resources/placement-lock.ts';
import type { UpdateKind } from '../../resources/updates.ts';
import type { ReturnContext } from '../rollout/restore.ts';

type Transaction = Prisma.TransactionClient;

/** An update that the fleet applies, without a request for this object. */
export interface Update {
  /** Identifies in the audit log what has requested it. */
  readonly requestId: string;
  /** Makes and records it. It can lock rows. @returns what was changed; undefined if it is not to be made */
  readonly make: (transaction: Transaction) => Promise<Changed | undefined>;
}

/** What an update has changed, as the audit log names it. */
export interface Changed {
  readonly path: string;
  readonly objectName: string;
}

/**
 * Applies an update in one transaction with an audit entry of the actor `fleet`.
 * @returns whether it was made. @throws Problem if it is refused, and nothing was changed
 */
export async function applyUpdate(
  { database }: Pick<ReturnContext, 'database'>,
  { requestId, make }: Update,
): Promise<boolean> {
  const isApplied = await database.client.$transaction(async (transaction) => {
    const changed = await make(transaction);
    if (changed === undefined) return false;
    await writeFleetEntry(transaction, { ...changed, requestId });
    return true;
  });
  if (isApplied) countEntries('written');
  return isApplied;
}

/** What the fleet needs to make a change itself. */
export const authoredByFleet = (context: ReturnContext, transaction: Transaction) => ({
  ...context,
  transaction,
  principal: THE_FLEET,
  settings: { sealer: context.sealer },
  ifMatch: () => () => true,
});

interface Planned {
  readonly id: string;
  /** The digest of the plan. */
  readonly expected: string;
  /** What it updates. Default: what has changed. */
  readonly kinds?: readonly UpdateKind[];
  /** By what it is made, for the message of its event. */
  readonly by: string;
}

/** What an update of a run has made. */
type Made = Promise<Changed & { readonly generation: number }>;

/** Updates a deployment to the present template and the latest known image as it was planned. */
export async function updateAsPlanned(
  context: ReturnContext,
  transaction: Transaction,
  { id, ...planned }: Planned,
): Made {
  const { deployment } = await upgradeDeployment(authoredByFleet(context, transaction), id, planned);
  const { generation, name } = deployment;
  return { generation, path: `/api/v1/deployments/${id}/upgrade`, objectName: name };
}

/** Upgrades an application to the present one of the catalog as it was planned, and as a whole. */
export async function upgradeAsPlanned(
  context: ReturnContext,
  transaction: Transaction,
  { id, expected, by }: Planned,
): Made {
  await acquirePlacementLock(transaction); // before the row, as each change
  const row = await lockRow(transaction, applications, { id, ifMatch: () => () => true });
  const change = upgradeTo(await presentOrigin(transaction, row, []), { expected, by });
  await changeApplication(authoredByFleet(context, transaction), row, change);
  const { generation } = await readRow(transaction, applications, id);
  return { generation, path: `/api/v1/applications/${id}/upgrade`, objectName: row.name };
}
