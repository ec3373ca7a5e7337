import { Problem } from '@svc/http';
import { Prisma } from '../generated/prisma/client.ts';
import type { UserRole } from '../generated/prisma/enums.ts';

/** Who stands where, while nobody can change it. */
export interface Roles {
  readonly caller: UserRole | undefined;
  readonly target: UserRole | undefined;
  readonly isOwn: boolean;
  readonly superadmins: number;
}

/** Locks everybody whose role decides: the caller, whom it is about, and all superadmins; in one order, so nobody deadlocks. */
export async function lockRoles(
  transaction: Prisma.TransactionClient,
  { caller, target }: { readonly caller: string; readonly target: string },
): Promise<Roles> {
  const rows = await transaction.$queryRaw<{ id: string; role: UserRole }[]>`
    SELECT id, role::text AS role FROM users
    WHERE role = 'superadmin' OR id IN (${Prisma.join([caller, target])}::uuid)
    ORDER BY id FOR UPDATE`;
  const roleOf = (id: string) => rows.find((row) => row.id === id)?.role;
  return {
    caller: roleOf(caller),
    target: roleOf(target),
    isOwn: caller === target,
    superadmins: rows.filter(({ role }) => role === 'superadmin').length,
  };
}

const RANKS: readonly UserRole[] = ['user', 'admin', 'superadmin'];

/** @throws 403 when the caller may not make that change, 409 when it would leave no superadmin */
export function refuseRoleChange({ caller, target, isOwn, superadmins }: Roles, role: UserRole): void {
  const rank = (of: UserRole | undefined) => (of === undefined ? -1 : RANKS.indexOf(of));
  if (rank(caller) < rank('admin')) throw forbidden('Only a user with the role admin or superadmin may do this.');
  if ((role === 'superadmin' || target === 'superadmin') && caller !== 'superadmin') {
    throw forbidden('Only a superadmin makes and unmakes superadmins.');
  }
  if (isOwn && rank(role) > rank(target)) throw forbidden('Nobody raises themself: ask another administrator.');
  if (target === 'superadmin' && superadmins === 1) {
    throw new Problem('last_superadmin', 'This is the last superadmin: make another one first.');
  }
}

const forbidden = (detail: string) =>
  new Problem('insufficient_scope', detail, {
    headers: { 'WWW-Authenticate': 'Bearer realm="hub", error="insufficient_scope"' },
  });
