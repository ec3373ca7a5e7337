import type { Target } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import { columnsOfTarget } from '../resources/target-rows.ts';
import { removeDeployment } from './store.ts';

interface Abandoned {
  readonly target: Target;
  readonly reachability: 'unknown' | 'online' | 'unreachable';
}

/** Forgets all that is on a host or cluster that is gone for good: what runs there goes on. @throws 409 where it answers */
export async function abandon(
  transaction: Prisma.TransactionClient,
  { target, reachability }: Abandoned,
): Promise<void> {
  if (reachability === 'online') {
    throw new Problem('in_use', 'It answers, so what is on it can be ended there: delete that first.');
  }
  const { host_id, cluster_id } = columnsOfTarget(target);
  const where = { host_id, cluster_id };
  for (const { id } of await transaction.deployment.findMany({ where, select: { id: true } })) {
    await removeDeployment(transaction, id);
  }
  await transaction.volume.deleteMany({ where });
}
