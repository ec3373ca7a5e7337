import type pg from 'pg';
import type { StatementNames } from './statement-names.ts';
import { type ConstraintProblems, translateDatabaseError } from './translate-error.ts';

/** A statement with parameters, such as `Prisma.sql`. */
interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** Runs single statements without Prisma, which costs several times as much per statement and row. */
export interface Reader {
  /**
   * Runs a prepared statement. @returns its rows as `pg` parses them @throws the problems of
   * `translateDatabaseError`
   */
  read<Row extends pg.QueryResultRow>(statement: Statement): Promise<Row[]>;
}

/** Runs the statements of `work` in a transaction, which is rolled back if one of them fails. */
type InTransaction = <T>(work: (transaction: Reader) => Promise<T>) => Promise<T>;

/** A reader that can also run several statements in one transaction. */
export interface SnapshotReader extends Reader {
  /** The statements read the database as it was at the first of them. */
  readonly inSnapshot: InTransaction;
  /** The statements can write. If COMMIT fails, the transaction may be committed nevertheless. */
  readonly inTransaction: InTransaction;
}

/**
 * The statement in progress rejects with the error of its connection. Without a listener, the
 * process would end.
 */
const ignoreError = () => undefined;

interface ReaderOptions {
  readonly constraints: ConstraintProblems;
  /** The names of all prepared statements of the connections of the pool. */
  readonly nameOf: StatementNames;
}

export function createReader(pool: pg.Pool, { constraints, nameOf }: ReaderOptions): SnapshotReader {
  const translated = async <T>(work: () => Promise<T>) => {
    try {
      return await work();
    } catch (error) {
      throw translateDatabaseError(error, constraints);
    }
  };
  const readerOn = (connection: Pick<pg.Pool, 'query'>): Reader => ({
    read: <Row extends pg.QueryResultRow>({ text, values }: Statement) =>
      translated(async () => {
        const name = nameOf({ sql: text });
        const query = name === '' ? { text, values } : { text, values, name };
        const { rows } = await connection.query<Row>(query);
        return rows;
      }),
  });
  const within =
    (begin: string): InTransaction =>
    async (work) => {
      const connection = await translated(() => pool.connect());
      connection.on('error', ignoreError);
      const release = (failure?: Error) => {
        connection.off('error', ignoreError);
        connection.release(failure);
      };
      const run = (statement: string) => translated(() => connection.query(statement));
      try {
        await run(begin);
        const result = await work(readerOn(connection));
        await run('COMMIT');
        release();
        return result;
      } catch (error) {
        await run('ROLLBACK').then(
          () => release(),
          (failure) => release(failure), // closes the connection
        );
        throw error;
      }
    };
  return {
    ...readerOn(pool),
    inSnapshot: within('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    inTransaction: within('BEGIN'),
  };
}
