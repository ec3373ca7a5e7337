import type { StatementQuery } from './audit-order.ts';

/** A client of Prisma, or the client of one of its transactions. */
interface RawClient {
  $queryRawUnsafe(sql: string, ...values: readonly unknown[]): PromiseLike<unknown>;
}

/** Runs statements with a client of Prisma, or in its transaction. */
export const statementsOf =
  (client: RawClient): StatementQuery =>
  async (sql, ...values) =>
    client.$queryRawUnsafe(sql, ...values);
