import type { Haystacks } from './encoded-forms.ts';

interface Source {
  query(sql: string): Promise<Record<string, string>[]>;
}

/**
 * The contents of a database at one time, as text by table and time: each column of each table,
 * bytes as hex.
 */
export async function dump({ query }: Source, moment: string): Promise<Haystacks> {
  const tables = await query(`
    SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`);
  const texts = tables.map(async ({ name }) => {
    const rows = await query(`SELECT t::text AS row FROM ${name} t`);
    return [`${name}, ${moment}`, rows.map(({ row }) => row).join('\n')] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}
