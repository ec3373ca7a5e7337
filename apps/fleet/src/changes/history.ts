import { z } from 'zod';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';

/**
 * A position in the history of changes, in the form that clients receive:
 * `<sequence number>-<microseconds since 1970>`. After a restored backup, the same number belongs
 * to a change at another time, so that a position of the lost history is unknown.
 */
export type Position = string;

const POSITION = /^(\d{1,18})-(\d{1,18})$/;

/** The sequence number of a position; undefined if the text is not a position. */
export function seqOf(position: Position): bigint | undefined {
  const seq = POSITION.exec(position)?.[1];
  return seq === undefined ? undefined : BigInt(seq);
}

/** Whether a position is before another one of the same history. */
export const isBefore = (one: Position, other: Position): boolean => (seqOf(one) ?? 0n) < (seqOf(other) ?? 0n);

/** The position of a row of the history. */
export const positionColumn = Prisma.sql`seq || '-' || (extract(epoch FROM at) * 1000000)::bigint`;

const changeRow = z.object({ seq: z.bigint(), position: z.string(), kind: z.string(), object_id: z.string() });
export type ChangeRow = z.output<typeof changeRow>;

/** The position of the newest change. Every later commit has a later position. */
export async function readNewest({ client }: Database): Promise<Position> {
  const [newest] = await client.$queryRaw<{ position: string }[]>`
    SELECT ${positionColumn} AS position FROM changes ORDER BY seq DESC LIMIT 1`;
  if (!newest) throw new Error('the table changes is empty');
  return newest.position;
}

/** Whether the history still contains a position. */
export async function isKnown({ client }: Database, position: Position): Promise<boolean> {
  const seq = seqOf(position);
  if (seq === undefined) return false;
  const found = await client.$queryRaw<unknown[]>`
    SELECT FROM changes WHERE seq = ${seq} AND ${positionColumn} = ${position}`;
  return found.length > 0;
}

export interface ChangeFilter {
  readonly kinds: readonly string[];
  /** The only object; undefined: all. */
  readonly id: string | undefined;
}

interface Range {
  readonly after: Position;
  /** The last position; undefined: the newest one. */
  readonly until?: Position;
  readonly filter?: ChangeFilter;
  readonly limit: number;
}

/**
 * The changes after a position, in the order of their commits; undefined if the history does not
 * contain the position.
 */
export async function readChanges(
  { client }: Database,
  { after, until, filter, limit }: Range,
): Promise<ChangeRow[] | undefined> {
  const last = until === undefined ? undefined : seqOf(until);
  const conditions = [
    Prisma.sql`seq > known.from_seq`,
    ...(last === undefined ? [] : [Prisma.sql`seq <= ${last}`]),
    ...(filter ? [Prisma.sql`kind = ANY(${filter.kinds}::text[])`] : []),
    ...(filter?.id === undefined ? [] : [Prisma.sql`object_id = ${filter.id}::uuid`]),
  ];
  const rows = await client.$queryRaw<{ seq: bigint | null }[]>`
    SELECT later.* FROM
      (SELECT seq AS from_seq FROM changes WHERE seq = ${seqOf(after) ?? 0n} AND ${positionColumn} = ${after}) known
      LEFT JOIN LATERAL (
        SELECT seq, ${positionColumn} AS position, kind, object_id FROM changes
        WHERE ${Prisma.join(conditions, ' AND ')} ORDER BY seq LIMIT ${limit}
      ) later ON true ORDER BY later.seq`;
  if (rows.length === 0) return undefined;
  return rows.filter(({ seq }) => seq !== null).map((row) => changeRow.parse(row));
}

/** The bounds of the history. */
const MAX_ROWS = 100_000;
const MAX_AGE_HOURS = 24;
/** The maximum number of rows per statement. */
const BATCH = 5000;

/**
 * Deletes the changes beyond the bounds, except the newest one. @returns the number of deleted rows
 */
export async function pruneChanges({ client }: Database, ending: AbortSignal, maxRows = MAX_ROWS): Promise<number> {
  let rows = 0;
  for (let batch = BATCH; batch === BATCH && !ending.aborted; rows += batch) {
    // The oldest rows are read first, so that a round without deletions reads one batch.
    batch = await client.$executeRaw`
      DELETE FROM changes WHERE seq = ANY (ARRAY(
        SELECT seq FROM (SELECT seq, at FROM changes ORDER BY seq LIMIT ${BATCH}) oldest,
          (SELECT max(seq) AS newest FROM changes) history
        WHERE seq < newest AND (seq <= newest - ${maxRows} OR at < now() - make_interval(hours => ${MAX_AGE_HOURS}))))`;
  }
  return rows;
}
