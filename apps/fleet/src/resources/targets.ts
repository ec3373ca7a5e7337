import type { Target } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { Prisma } from '../generated/prisma/client.ts';
import type { User } from './field-errors.ts';

const FOR_GOOD = Prisma.sql`FOR KEY SHARE`;

/** What is on a cluster or a host: its deployments, and volumes. */
export const usersOfTarget = (
  reader: Pick<Prisma.TransactionClient, '$queryRaw'>,
  { kind, id }: Target,
): Promise<User[]> => {
  const there = kind === 'host' ? Prisma.sql`host_id = ${id}::uuid` : Prisma.sql`cluster_id = ${id}::uuid`;
  return reader.$queryRaw<User[]>`
    SELECT 'deployment' AS kind, name FROM deployments WHERE ${there}
    UNION ALL SELECT 'volume', name FROM volumes WHERE ${there} ORDER BY 1, 2`;
};

/** A target as the columns that name it. */
export const columnsOfTarget = (target: Target | null) => ({
  host_id: target?.kind === 'host' ? target.id : null,
  cluster_id: target?.kind === 'cluster' ? target.id : null,
});

/** The target that columns name. */
export function targetOf({ host_id, cluster_id }: ReturnType<typeof columnsOfTarget>): Target | null {
  if (host_id !== null) return { kind: 'host', id: host_id };
  return cluster_id === null ? null : { kind: 'cluster', id: cluster_id };
}

/**
 * Holds a target that something is to be on, so that it does not go meanwhile; what is only planned holds nothing.
 * @throws 422 for one that is not there
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
  >`SELECT id FROM ${table} WHERE id = ${target.id}::uuid ${hold ? FOR_GOOD : Prisma.empty}`;
  if (rows.length > 0) return;
  const message = `There is no ${target.kind} ${target.id}.`;
  throw new Problem('unknown_target', message, { errors: [{ path: `target.${target.kind}_id`, message }] });
}
