import type { Database } from '../../src/database/client.ts';

/** Kept for reasons of their own: the log itself, guesses that are counted, and migrations. */
const APART = ['audit_entries', 'sign_in_failures', '_prisma_migrations'];

/** Everything that is in the database but the log, as text; when a token was last used does not count as a change. */
export async function contentsOf({ client }: Pick<Database, 'client'>): Promise<readonly string[]> {
  const tables = await client.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`;
  const kept = tables.filter(({ name }) => !APART.includes(name));
  const rows = await Promise.all(
    kept.map(({ name }) =>
      client.$queryRawUnsafe<{ row: string }[]>(
        `SELECT '${name} ' || (to_jsonb(t) - 'last_used_at')::text AS row FROM ${name} t ORDER BY 1`,
      ),
    ),
  );
  return rows.flat().map(({ row }) => row);
}
