import { currentTracer, tracedWithin } from '@svc/http';

/** What runs statements: a pool or a connection. */
interface Queries {
  // biome-ignore lint/suspicious/noExplicitAny: `pg` has one overload per kind of statement
  query: (...given: any[]) => any;
}

/** Traces the statements of a pool or connection, if this process traces. */
export function traceQueries(target: Queries): void {
  if (!currentTracer()) return;
  const query = target.query.bind(target);
  target.query = (...given) => {
    const text = textOf(given[0]);
    // A pool passes a callback to its connections, and has a span for the statement and the wait
    // for a connection.
    if (text === undefined || typeof given.at(-1) === 'function') return query(...given);
    return tracedWithin(
      () => spanOf(text),
      () => query(...given),
    );
  };
}

/** The text of a statement; undefined for objects of `pg` that run themselves. */
function textOf(statement: unknown): string | undefined {
  if (typeof statement === 'string') return statement;
  if (typeof statement !== 'object' || statement === null || 'submit' in statement || !('text' in statement))
    return undefined;
  return String(statement.text);
}

const OPERATIONS = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|LOCK)\b/i;
/** The first table. Values are parameters, so the text contains only what the code states. */
const TABLE = /\b(?:FROM|INTO|UPDATE)\s+(?:ONLY\s+)?(?:"?public"?\.)?"?([a-z_][a-z0-9_]*)/i;
/** Longer statements have their first table before this position, or none in the span. */
const SEARCHED = 4000;

/** The span of a statement: its operation and its first table, without its text and its values. */
function spanOf(text: string) {
  const start = text.slice(0, SEARCHED);
  const operation = OPERATIONS.exec(start)?.[1]?.toUpperCase() ?? 'statement';
  const table = TABLE.exec(start)?.[1];
  return {
    name: table === undefined ? operation : `${operation} ${table}`,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      ...(table !== undefined && { 'db.collection.name': table }),
    },
  } as const;
}
