import type { CommonBundle } from '@svc/contract';
import type { Query } from './migrations/state.ts';

type Facts = Omit<NonNullable<CommonBundle['database']>, 'pools'>;

const FACTS = `
  SELECT current_setting('server_version') AS version, pg_database_size(current_database())::float8 AS bytes,
    (SELECT coalesce(json_agg(json_build_object('name', c.relname, 'rows', greatest(c.reltuples, 0)::float8,
        'bytes', pg_total_relation_size(c.oid)) ORDER BY c.relname), '[]')
     FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace) AS tables`;

/** Version and size of a database, and its tables with estimated numbers of rows, for a support bundle. */
export async function databaseFacts(query: Query): Promise<Facts> {
  // The columns of this statement are the members of the type.
  const [facts] = (await query(FACTS)) as Facts[];
  if (!facts) throw new Error('the statement returns one row');
  return facts;
}
