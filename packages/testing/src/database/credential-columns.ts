interface Reader {
  $queryRaw<T>(query: TemplateStringsArray): Promise<T>;
}

/**
 * The columns of a database that identify a credential, as `table.column`: hashes of codes, keys, tokens, references of
 * browsers and passwords. A test compares them with the owners that it knows, so that a new table needs one.
 */
export async function credentialColumns(client: Reader): Promise<string[]> {
  const rows = await client.$queryRaw<{ name: string }[]>`
    SELECT table_name || '.' || column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND column_name ~ '(hash|digest|secret|password|code)$'
    ORDER BY name`;
  return rows.map(({ name }) => name);
}

/** The columns among `columns`, as `table.column`, that do not exist. */
export async function missingColumns(client: Reader, columns: readonly string[]): Promise<string[]> {
  const rows = await client.$queryRaw<{ name: string }[]>`
    SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = current_schema()`;
  const known = new Set(rows.map(({ name }) => name));
  return columns.filter((column) => !known.has(column));
}
