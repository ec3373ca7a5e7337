/**
 * A result with all columns of a table changes when a later version adds a column. A prepared
 * statement would fail from then on. A `*` that multiplies is not such a result: it
 * follows a value, and a value follows it.
 */
const ALL_COLUMNS = /(?:\b(?:SELECT|ALL|DISTINCT|RETURNING)\s|[,.])\s{0,100}\*|\*\s{0,100}(?:,|FROM\b)/i;

/** Returns the name of a prepared statement; empty: it is not prepared. */
export type StatementNames = (statement: { readonly sql: string }) => string;

const namesColumns = (sql: string): boolean => !ALL_COLUMNS.test(sql);

/**
 * Names of prepared statements for readers and for the adapter of Prisma. Each connection then
 * parses and plans a statement once, which costs PostgreSQL more than its execution. At most `max`
 * statements are prepared per connection, because each uses memory there. The name of other
 * statements, and of those that `isPreparable` excludes, is empty.
 */
export function createStatementNames(max: number, isPreparable = namesColumns): StatementNames {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= max || !isPreparable(sql)) return '';
    const name = `statement_${names.size}`;
    names.set(sql, name);
    return name;
  };
}
