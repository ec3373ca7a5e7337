import type { Target } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { Prisma } from '../generated/prisma/client.ts';
import type { Dependent } from './field-errors.ts';

const KEY_SHARE_LOCK = Prisma.sql`FOR KEY SHARE`;

/** The deployments and volumes on a target. */
export const dependentsOfTarget = (
  reader: Pick<Prisma.TransactionClient, '$queryRaw'>,
  { kind, id }: Target,
): Promise<Dependent[]> => {
  const onTarget = kind === 'host' ? Prisma.sql`host_id = ${id}::uuid` : Prisma.sql`cluster_id = ${id}::uuid`;
  return reader.$queryRaw<Dependent[]>`
    SELECT 'deployment' AS kind, name FROM deployments WHERE ${onTarget}
    UNION ALL SELECT 'volume', name FROM volumes WHERE ${onTarget} ORDER BY 1, 2`;
};

/** The columns that identify a target. */
export const columnsOfTarget = (target: Target | null) => ({
  host_id: target?.kind === 'host' ? target.id : null,
  cluster_id: target?.kind === 'cluster' ? target.id : null,
});

/** The target that the columns identify. */
export function targetOf({ host_id, cluster_id }: ReturnType<typeof columnsOfTarget>): Target | null {
  if (host_id !== null) return { kind: 'host', id: host_id };
  return cluster_id === null ? null : { kind: 'cluster', id: cluster_id };
}

/**
 * Checks that a target exists. With `hold`, it also locks the row, so that the target is not
 * deleted before the transaction ends; a plan does not need that.
 * @throws 422 if the target does not exist
 */
export async function refuseUnknownTarget(
  reader: Pick<Prisma.TransactionClient, '$queryRaw'>,
  target: Target | null,
  { hold = true } = {},
): Promise<void> {
  if (target === null) return;
  const table = Prisma.raw(target.kind === 'host' ? 'hosts' : 'clusters');
  const rows = await reader.$queryRaw<
    object[]
  >`SELECT id FROM ${table} WHERE id = ${target.id}::uuid ${hold ? KEY_SHARE_LOCK : Prisma.empty}`;
  if (rows.length > 0) return;
  const message = `The ${target.kind} ${target.id} does not exist.`;
  throw new Problem('unknown_target', message, { errors: [{ path: `target.${target.kind}_id`, message }] });
}
