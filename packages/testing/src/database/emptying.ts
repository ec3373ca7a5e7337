/** Runs a statement. @returns its rows */
type Query = (sql: string) => Promise<unknown>;

/**
 * A statement that deletes all rows of tables. No trigger runs. With the few rows of a test, it takes a small part of the
 * time of TRUNCATE, which creates new files for each table and index. Like TRUNCATE, it waits for other transactions.
 */
export const deletionOf = (tables: readonly string[]): string => `
  DO $$ BEGIN
    SET LOCAL session_replication_role = replica;
    LOCK TABLE ${tables.join()} IN ACCESS EXCLUSIVE MODE;
    ${tables.map((table) => `DELETE FROM ${table};`).join('\n    ')}
  END $$`;

/** These tables, and those that refer to them, also indirectly. */
export async function withReferring(query: Query, tables: readonly string[]): Promise<readonly string[]> {
  const rows = await query(`
    WITH RECURSIVE found AS (
      SELECT oid FROM pg_class WHERE oid = ANY(ARRAY[${tables.map((table) => `'${table}'`).join()}]::regclass[])
      UNION SELECT conrelid FROM pg_constraint JOIN found ON confrelid = found.oid WHERE contype = 'f'
    )
    SELECT oid::regclass::text AS name FROM found`);
  return (rows as readonly { readonly name: string }[]).map(({ name }) => name); // the columns of the statement
}
