import pg from 'pg';
import { traceQueries } from './traced-queries.ts';

/**
 * A connection that is closed after a query timed out or the server terminated it. pg would
 * continue to use it. After a timeout, later queries wait behind the query without a response, and
 * a ROLLBACK that times out is removed from the queue before it is sent, so that the next user of
 * the connection writes into a transaction that is still open. After a termination, the pool could
 * reuse the connection between the last message of the server and the end of the socket.
 */
export class Connection extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const query = this.query.bind(this);
    const queryOrEnd = (...given: Parameters<typeof query>): unknown => {
      const result: unknown = query(...given);
      // Only the pool passes a callback, and the pool closes a connection after any error.
      if (result instanceof Promise) {
        result.catch(async (error: unknown) => {
          if (isTimeout(error) || isFatal(error)) await this.end();
        });
      }
      return result;
    };
    // Passes on the arguments, so it supports all overloads.
    this.query = queryOrEnd as typeof this.query;
    traceQueries(this);
  }
}

const isFatal = (error: unknown) => error instanceof pg.DatabaseError && /^(FATAL|PANIC)$/.test(error.severity ?? '');
const isTimeout = (error: unknown) => error instanceof Error && error.message === 'Query read timeout';
