import { statementsOf } from '@svc/database';
import { type Row, type Source, type Store, storeMessages } from '@svc/delivery';
import { z } from 'zod';
import { auditQueryOf } from '../audit/entries.ts';
import { positionColumn, readNewest, seqOf } from '../changes/history.ts';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type FollowedEvent, messageOf } from './messages.ts';

/** What was recorded at a position of the history of changes. */
interface Followed {
  /** undefined: a change that is no new event. */
  readonly event: FollowedEvent | undefined;
}

/** An event that is older than its change was not recorded by it: the change is its end. */
const RECORDED_WITHIN = Prisma.sql`interval '5 minutes'`;
/** The events that are read again if the history no longer contains the position. */
const MAX_READ_AGAIN = 10_000;

const eventColumns = Prisma.sql`e.id, e.at AS event_at, e.kind, e.object_id, e.name, e.severity, e.reason`;

const followedRow = z.object({
  position: z.string(),
  at: z.date(),
  id: z.string().nullable(),
  event_at: z.date().nullable(),
  kind: z.string().nullable(),
  object_id: z.string().nullable(),
  name: z.string().nullable(),
  severity: z.string().nullable(),
  reason: z.string().nullable(),
});

const event = z.object({
  id: z.string(),
  at: z.date(),
  kind: z.string(),
  object_id: z.string(),
  name: z.string(),
  severity: z.string(),
  reason: z.string(),
});

function rowOf(given: unknown): Row<Followed> {
  const { position, at, event_at, ...columns } = followedRow.parse(given);
  return { position, at, data: { event: columns.id === null ? undefined : event.parse({ ...columns, at: event_at }) } };
}

/** The recorded events in the order of their commits. Nothing is read while there is no webhook. */
export const recordedEvents = (database: Database): Source<Followed> => ({
  start: () => readNewest(database),
  read: async (after, limit) => (await readAfter(database, after, limit)) ?? readAgain(database, after),
  ageAfter: async (position) => {
    const [row] = await database.client.$queryRaw<{ seconds: number }[]>`
      SELECT greatest(0, extract(epoch FROM clock_timestamp() - at))::float8 AS seconds FROM changes
      WHERE seq > ${seqOf(position) ?? 0n} AND EXISTS (SELECT FROM webhooks) ORDER BY seq LIMIT 1`;
    return row?.seconds;
  },
});

/** The changes after a position; undefined if the history no longer contains it. */
async function readAfter({ client }: Database, after: string, limit: number): Promise<Row<Followed>[] | undefined> {
  const rows = await client.$queryRaw<{ position: string | null }[]>`
    SELECT later.position, later.at, ${eventColumns} FROM
      (SELECT seq AS from_seq FROM changes WHERE seq = ${seqOf(after) ?? 0n} AND ${positionColumn} = ${after}) known
      LEFT JOIN LATERAL (
        SELECT seq, ${positionColumn} AS position, at, kind, object_id FROM changes
        WHERE seq > known.from_seq ORDER BY seq LIMIT ${limit}) later ON true
      LEFT JOIN events e ON later.kind = 'events' AND e.id = later.object_id AND later.at - e.at < ${RECORDED_WITHIN}
    ORDER BY later.seq`;
  return rows.length === 0 ? undefined : rows.filter(({ position }) => position !== null).map(rowOf);
}

/**
 * The events since the time of a position that the history no longer contains, because no replica has run for a day. They are
 * kept longer than the history.
 */
async function readAgain(database: Database, after: string): Promise<Row<Followed>[]> {
  const newest = await readNewest(database); // first: what follows is read from the history
  const micros = Number(after.split('-')[1] ?? 0);
  const rows = await database.client.$queryRaw<unknown[]>`
    SELECT * FROM (
      SELECT ${newest} AS position, e.at AS at, e.seq, ${eventColumns} FROM events e
      WHERE e.at >= to_timestamp(${micros / 1_000_000}::float8) - ${RECORDED_WITHIN} ORDER BY e.seq DESC LIMIT ${MAX_READ_AGAIN}) e
    ORDER BY seq`;
  return [...rows.map(rowOf), { position: newest, at: new Date(), data: { event: undefined } }];
}

interface StoreOptions {
  readonly database: Database;
  readonly publicUrl: string | undefined;
  /** Is called when there are new deliveries. */
  readonly onStored: () => void;
}

/** Stores a delivery for each event and each webhook that reports it. */
export const deliveryStore = ({ database, publicUrl, onStored }: StoreOptions): Store<Followed> => ({
  store: async (rows, advance) => {
    const messages = rows.flatMap(({ data }) => (data.event && messageOf(data.event, publicUrl)) ?? []);
    if (messages.length === 0) return advance(auditQueryOf(database));
    const stored = await database.client.$transaction(async (transaction) => {
      const query = statementsOf(transaction);
      return (await advance(query)) ? storeMessages(query, messages) : undefined;
    });
    if (stored) onStored();
    return stored !== undefined;
  },
});
