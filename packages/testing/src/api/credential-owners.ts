import { onServer } from '../database/databases.ts';

/**
 * For each column that holds a credential (`table.column`): the column that names its owner; null:
 * it needs no owner, for the reason that a comment states.
 */
export type CredentialOwners = Readonly<Record<string, string | null>>;

/** Names of columns that hold a credential or its hash. */
const CREDENTIAL = /_hash$|_token$|_secret$|_code$|password/;

/**
 * Compares the columns of a database that hold credentials with the declared ones.
 * @returns what is wrong: a column without a declaration, or a declaration of a column that does not exist
 */
export async function credentialFaults(databaseUrl: string, owners: CredentialOwners): Promise<readonly string[]> {
  const rows = await onServer(databaseUrl, async (client) => {
    const { rows } = await client.query<{ name: string; holds_text: boolean }>(
      `SELECT c.table_name || '.' || c.column_name AS name, c.data_type IN ('text', 'bytea', 'character varying') AS holds_text
       FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
       WHERE table_schema = 'public' AND t.table_type = 'BASE TABLE' ORDER BY 1`,
    );
    return rows;
  });
  const columns = new Set(rows.map(({ name }) => name));
  const undeclared = rows.filter(({ name, holds_text }) => holds_text && CREDENTIAL.test(name) && !(name in owners));
  const named = Object.entries(owners).flatMap(([column, owner]) => (owner === null ? [column] : [column, owner]));
  return [
    ...undeclared.map(({ name }) => `${name} holds a credential and has no declared owner`),
    ...named.filter((name) => !columns.has(name)).map((name) => `${name} does not exist`),
  ];
}

/** The tables with the column `key_id`, which states the key of their sealed values. */
export const tablesWithKeys = (databaseUrl: string): Promise<readonly string[]> =>
  onServer(databaseUrl, async (client) => {
    const { rows } = await client.query<{ table_name: string }>(
      `SELECT table_name FROM information_schema.columns WHERE column_name = 'key_id' ORDER BY 1`,
    );
    return rows.map(({ table_name }) => table_name);
  });
