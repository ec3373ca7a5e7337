import type { Database } from '../../src/database/client.ts';

/**
 * Tables to which other requests also write: the audit log, counted sign-in failures, and
 * migrations.
 */
const APART = ['audit_entries', 'sign_in_failures', '_prisma_migrations'];

/** Columns that the service itself changes after a request. */
const IGNORED = "'{last_used_at,claimed_at,reported_at}'::text[]";

/**
 * Each row of all other tables as text, read in one snapshot. The time of a token's last use and
 * the progress of a report to the hub do not count as changes.
 */
export async function contentsOf({ client }: Pick<Database, 'client'>): Promise<readonly string[]> {
  const tables = await client.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`;
  const kept = tables.map(({ name }) => name).filter((name) => !APART.includes(name));
  const all = kept.map((name) => `SELECT '${name} ' || (to_jsonb(t) - ${IGNORED})::text AS row FROM ${name} t`);
  const rows = await client.$queryRawUnsafe<{ row: string }[]>(`${all.join(' UNION ALL ')} ORDER BY 1`);
  return rows.map(({ row }) => row);
}
