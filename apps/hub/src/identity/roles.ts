import { Problem } from '@svc/http';
import { Prisma } from '../generated/prisma/client.ts';
import type { UserRole } from '../generated/prisma/enums.ts';

/** The roles that a role change depends on. They cannot change until the transaction ends. */
export interface Roles {
  readonly caller: UserRole | undefined;
  readonly target: UserRole | undefined;
  readonly isOwn: boolean;
  readonly superadmins: number;
}

/**
 * Locks the rows of the caller, the target and all superadmins, in the order of their ids to
 * prevent deadlocks.
 */
export async function lockRoles(
  transaction: Prisma.TransactionClient,
  { caller, target }: { readonly caller: string; readonly target: string },
): Promise<Roles> {
  const rows = await transaction.$queryRaw<{ id: string; role: UserRole }[]>`
    SELECT id, role::text AS role FROM users
    WHERE (role = 'superadmin' AND blocked_at IS NULL) OR id IN (${Prisma.join([caller, target])}::uuid)
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

/**
 * @throws 403 if the caller may not make the change, 409 `last_superadmin` if no superadmin would
 * remain
 */
export function checkRoleChange({ caller, target, isOwn, superadmins }: Roles, role: UserRole): void {
  const rank = (of: UserRole | undefined) => (of === undefined ? -1 : RANKS.indexOf(of));
  if (rank(caller) < rank('admin')) throw forbidden('This operation requires the role admin or superadmin.');
  if ((role === 'superadmin' || target === 'superadmin') && caller !== 'superadmin') {
    throw forbidden('Only a superadmin can assign or remove the role superadmin.');
  }
  if (isOwn && rank(role) > rank(target)) throw forbidden('You cannot raise your own role. Ask another administrator.');
  if (target === 'superadmin' && superadmins === 1) {
    throw new Problem(
      'last_superadmin',
      'This user is the last superadmin. Assign the role superadmin to another user first.',
    );
  }
}

const forbidden = (detail: string) =>
  new Problem('insufficient_scope', detail, {
    headers: { 'WWW-Authenticate': 'Bearer realm="hub", error="insufficient_scope"' },
  });
