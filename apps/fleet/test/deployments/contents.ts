import type { Database } from '../../src/database/client.ts';

/** Written by every request, or by nobody: the log, the last use of a token, guesses that are counted, migrations. */
const APART = ['audit_entries', 'tokens', 'sign_in_failures', '_prisma_migrations'];

/** Every row of every table, as text, read at one moment. */
export async function contentsOf({ client }: Pick<Database, 'client'>): Promise<readonly string[]> {
  const tables = await client.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`;
  const kept = tables.map(({ name }) => name).filter((name) => !APART.includes(name));
  const all = kept.map((name) => `SELECT '${name} ' || t::text AS row FROM ${name} t`);
  const rows = await client.$queryRawUnsafe<{ row: string }[]>(`${all.join(' UNION ALL ')} ORDER BY 1`);
  return rows.map(({ row }) => row);
}
