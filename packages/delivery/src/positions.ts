import type { StatementQuery } from '@svc/database';
import { z } from 'zod';

// The table `deliveries` has one row per delivery: its position, its last failure, and the lease of the
// replica that delivers.

const state = z.object({ position: z.string(), failure: z.string().nullable() });

/** What is stored about a delivery. `failure` is why the last attempt failed; null if it succeeded. */
type State = z.output<typeof state>;

/** The row of a delivery, and the lease of one process on it. All times are those of the database. */
export interface Positions {
  /** Undefined before the first `create`. */
  read(): Promise<State | undefined>;
  /** Stores the first position, unless another replica has done so. */
  create(position: string): Promise<void>;
  /**
   * Acquires or renews the lease for `seconds`.
   * @returns the position, or undefined while another replica holds the lease
   */
  take(seconds: number): Promise<string | undefined>;
  /**
   * Stores the position and renews the lease. @param inTransaction runs statements of a transaction
   * @returns false if another replica has acquired the lease: nothing is stored then
   */
  advance(position: string, seconds: number, inTransaction?: StatementQuery): Promise<boolean>;
  /** Stores why an attempt failed, and releases the lease, so that another replica can try. */
  fail(reason: string): Promise<void>;
  release(): Promise<void>;
}

interface Options {
  readonly query: StatementQuery;
  /** The name of the delivery. */
  readonly name: string;
  /** The id of this process. */
  readonly owner: string;
}

export function createPositions({ query, name, owner }: Options): Positions {
  const rowsOf =
    (run: StatementQuery) =>
    async (sql: string, ...values: readonly unknown[]) =>
      z.array(z.unknown()).parse(await run(sql, ...values));
  const rows = rowsOf(query);
  const stateIn = ([row]: readonly unknown[]): State | undefined => (row === undefined ? undefined : state.parse(row));
  const ownRow = 'name = $1 AND lease_owner = $2::uuid';
  const leaseUntil = (parameter: string) => `lease_until = now() + make_interval(secs => ${parameter}::float8)`;
  const noLease = 'lease_owner = NULL, lease_until = NULL';
  return {
    read: async () => stateIn(await rows('SELECT position, failure FROM deliveries WHERE name = $1', name)),
    create: async (position) => {
      await rows('INSERT INTO deliveries (name, position) VALUES ($1, $2) ON CONFLICT DO NOTHING', name, position);
    },
    take: async (seconds) =>
      stateIn(
        await rows(
          `UPDATE deliveries SET lease_owner = $2::uuid, ${leaseUntil('$3')}
           WHERE name = $1 AND (lease_owner IS NULL OR lease_owner = $2::uuid OR lease_until < now())
           RETURNING position, failure`,
          ...[name, owner, seconds],
        ),
      )?.position,
    advance: async (position, seconds, inTransaction = query) => {
      const stored = await rowsOf(inTransaction)(
        `UPDATE deliveries SET position = $3, failure = NULL, failing_since = NULL, ${leaseUntil('$4')}
         WHERE ${ownRow} RETURNING name`,
        ...[name, owner, position, seconds],
      );
      return stored.length > 0;
    },
    fail: async (reason) => {
      await rows(
        `UPDATE deliveries SET failure = $3, failing_since = coalesce(failing_since, now()), ${noLease} WHERE ${ownRow}`,
        ...[name, owner, reason],
      );
    },
    release: async () => {
      await rows(`UPDATE deliveries SET ${noLease} WHERE ${ownRow}`, name, owner);
    },
  };
}
