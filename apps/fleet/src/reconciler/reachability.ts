import type { Database } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Claim } from './queue.ts';
import { addressOf, type Place, SQL } from './targets.ts';
import type { ReconcilerTimings } from './timings.ts';

interface Due {
  readonly most: number;
  /** Milliseconds until the check after this one. */
  readonly interval: number;
}

/** Takes places whose check is due. No other replica checks them before the next check is due. */
export async function claimPlaces(database: Database, { most, interval }: Due): Promise<Place[]> {
  const hosts = await claimOf<Extract<Place, { kind: 'host' }>['row']>(database, 'host', { most, interval });
  const rest = { most: most - hosts.length, interval };
  const clusters = await claimOf<Extract<Place, { kind: 'cluster' }>['row']>(database, 'cluster', rest);
  return [
    ...hosts.map((row) => ({ kind: 'host' as const, row })),
    ...clusters.map((row) => ({ kind: 'cluster' as const, row })),
  ];
}

const claimOf = <Row>({ client }: Database, kind: Place['kind'], { most, interval }: Due): Promise<Row[]> =>
  client.$queryRaw<Row[]>`
    UPDATE ${SQL[kind].table} SET check_at = now() + make_interval(secs => ${interval / 1000})
    WHERE id = ANY (ARRAY(SELECT id FROM ${SQL[kind].table} WHERE check_at <= now()
                          ORDER BY check_at LIMIT ${most} FOR UPDATE SKIP LOCKED))
    RETURNING *`;

/**
 * Keeps what a place says of itself, as columns, if it is still the address that was asked. Whatever waits for one that is back
 * is due at once. @returns whether it was kept
 */
export async function noteThere(
  client: Pick<Prisma.TransactionClient, '$executeRaw'>,
  place: Place,
  facts: Prisma.Sql,
): Promise<boolean> {
  const { table, column, address } = SQL[place.kind];
  const { id, reachability } = place.row;
  const kept = await client.$executeRaw`
    UPDATE ${table} SET reachability = 'online', last_seen_at = now(), message = '', check_failures = 0, ${facts}
    WHERE id = ${id}::uuid AND ${address} = ${addressOf(place)}`;
  if (reachability !== 'online') {
    await client.$executeRaw`UPDATE deployments SET due_at = now() WHERE ${column} = ${id}::uuid AND due_at > now()`;
  }
  return kept > 0;
}

interface Away {
  readonly message: string;
  /** When it began to be asked: who has seen it since knows better, also after this process was frozen for a while. */
  readonly since: number;
  readonly timings: Pick<ReconcilerTimings, 'checkRetry' | 'checkRetryLimit'>;
}

/** A place that is away changes nothing of what runs there: deployments keep their phase. */
export const noteAway = ({ client }: Database, place: Place, { message, since, timings }: Away) => {
  const { table, address } = SQL[place.kind];
  return client.$executeRaw`
    UPDATE ${table} SET reachability = 'unreachable', message = ${message}, check_failures = check_failures + 1,
      check_at = now() + make_interval(secs => least(${timings.checkRetryLimit / 1000}::float8,
        ${timings.checkRetry / 1000}::float8 * power(2, least(check_failures, 10))) * (0.8 + 0.4 * random()))
    WHERE id = ${place.row.id}::uuid AND ${address} = ${addressOf(place)}
      AND coalesce(last_seen_at < now() - make_interval(secs => ${(Date.now() - since) / 1000}), true)`;
};

/** A worker has missed a place: it is asked at once whether it is away. The word of a worker without a lease is none. */
export const askAtOnce = ({ client }: Database, place: Place, { id, owner }: Claim) =>
  client.$executeRaw`
    UPDATE ${SQL[place.kind].table} SET check_at = now()
    WHERE id = ${place.row.id}::uuid AND reachability = 'online' AND check_at > now()
      AND EXISTS (SELECT FROM deployments
                  WHERE id = ${id}::uuid AND lease_owner = ${owner}::uuid AND lease_until > now())`;
