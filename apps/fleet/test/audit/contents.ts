import type { Database } from '../../src/database/client.ts';

/** Tables that also other requests write to: the log itself, counted sign-in failures, and migrations. */
const APART = ['audit_entries', 'sign_in_failures', '_prisma_migrations'];

/** Every row of every table but those, as text, read at one moment. The last use of a token is no change. */
export async function contentsOf({ client }: Pick<Database, 'client'>): Promise<readonly string[]> {
  const tables = await client.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`;
  const kept = tables.map(({ name }) => name).filter((name) => !APART.includes(name));
  const all = kept.map((name) => `SELECT '${name} ' || (to_jsonb(t) - 'last_used_at')::text AS row FROM ${name} t`);
  const rows = await client.$queryRawUnsafe<{ row: string }[]>(`${all.join(' UNION ALL ')} ORDER BY 1`);
  return rows.map(({ row }) => row);
}
