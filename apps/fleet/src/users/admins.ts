import { Problem } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';

/**
 * Locks every local admin, in one order, so that two who demote each other at the same moment leave one.
 * @throws last_admin when the user is the last of them
 */
export async function refuseLastAdmin(transaction: Prisma.TransactionClient, userId: string): Promise<void> {
  const admins = await transaction.$queryRaw<{ id: string }[]>`
    SELECT id FROM users WHERE source = 'local' AND role = 'admin' ORDER BY id FOR UPDATE`;
  if (admins.length === 1 && admins[0]?.id === userId) {
    throw new Problem('last_admin', 'This is the last local admin: make another one first.');
  }
}
