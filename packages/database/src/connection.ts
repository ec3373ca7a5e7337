import pg from 'pg';

/**
 * A connection that is given up when a query on it ran out of time. pg would go on with it: what comes next waits behind
 * the query without an answer, and a ROLLBACK that gets none is dropped before it is sent, so that the next user of the
 * connection writes into somebody else's open transaction. So is one that the server ends, which the pool would hand to the
 * next in the moment between the server's last words and the end of the socket.
 */
export class Connection extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const query = this.query.bind(this);
    const givingUp = (...given: Parameters<typeof query>): unknown => {
      const answer: unknown = query(...given);
      // Who asks by callback is the pool, which gives up a connection after any error.
      if (answer instanceof Promise) {
        answer.catch(async (error: unknown) => {
          if (isTimeout(error) || isFatal(error)) await this.end();
        });
      }
      return answer;
    };
    this.query = givingUp as typeof this.query; // it has all of its overloads, and hands through what it is given
  }
}

const isFatal = (error: unknown) => error instanceof pg.DatabaseError && /^(FATAL|PANIC)$/.test(error.severity ?? '');
const isTimeout = (error: unknown) => error instanceof Error && error.message === 'Query read timeout';
