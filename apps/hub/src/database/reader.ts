import { type ConstraintProblems, translateDatabaseError } from '@svc/database';
import type pg from 'pg';
import type { Prisma } from '../generated/prisma/client.ts';

/** Runs single statements without Prisma, which costs several times as much per row. */
export interface Reader {
  /** Runs a prepared statement. @returns its rows as `pg` parses them @throws the problems of `translateDatabaseError` */
  read<Row extends pg.QueryResultRow>(statement: Prisma.Sql): Promise<Row[]>;
}

/** The number of statements that each connection keeps prepared. Filters create statements with different texts. */
const MAX_PREPARED = 100;

export function createReader(pool: pg.Pool, constraints: ConstraintProblems): Reader {
  const names = new Map<string, string>();
  const nameOf = (text: string): string | undefined => {
    if (!names.has(text) && names.size < MAX_PREPARED) names.set(text, `read_${names.size}`);
    return names.get(text);
  };
  return {
    async read<Row extends pg.QueryResultRow>({ text, values }: Prisma.Sql) {
      const name = nameOf(text);
      try {
        const { rows } = await pool.query<Row>({ text, values, ...(name === undefined ? {} : { name }) });
        return rows;
      } catch (error) {
        throw translateDatabaseError(error, constraints);
      }
    },
  };
}
