import { type Cursor, writeCursor } from '@svc/contract';
import type { Reader } from '@svc/database';
import { type Streamed, streamedReply } from '@svc/http';
import type { Database } from '../../database/client.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Principal, Viewer } from '../../identity/principal.ts';
import type { Kind } from '../kinds.ts';
import { type Documents, elementsOf } from '../memory/documents.ts';
import { endedSince, touchedSince, visibleObjects, visiblePeriods } from '../visibility.ts';
import { renderUpdates } from './body.ts';
import { readDocuments, type Source } from './read-documents.ts';
import { finishedCursor, NO_ID, type Snapshot, stampFor } from './state.ts';
import type { StreamSlots } from './stream-slots.ts';

/** The changes in a period, as one viewer sees them: with stamps after `from` and up to `upTo`. */
interface Changes {
  readonly kind: Kind;
  readonly viewer: Viewer;
  readonly from: Date;
  /** The catalog clock in the first snapshot. It is the `checked_at` of the response. */
  readonly upTo: Date;
  /**
   * `since` is before the floor, so the response contains all visible templates and no removals.
   */
  readonly reset: boolean;
  readonly cursor: Cursor;
}

/** The maximum size of a response that is read at once. A larger one is streamed. */
const PART = { templates: 250, bytes: 1024 * 1024, removals: 5000 } as const;

/**
 * The maximum size of a part of a stream. It bounds the time for which other requests wait while a
 * part is built.
 */
const STREAM_PART = { templates: 25, bytes: 64 * 1024 } as const;

const EPOCH = new Date(0);

export function changesSince({ documents: { kind }, viewer, state }: Snapshot, since: Date): Changes {
  const reset = state.floor !== null && since < state.floor;
  return {
    kind,
    viewer,
    from: reset ? EPOCH : since,
    upTo: state.at,
    reset,
    cursor: finishedCursor(kind, viewer, state),
  };
}

/**
 * The body of a response with changes that fit in one part; undefined for others. `changes.upTo` is
 * the state of the snapshot.
 */
export async function readAtOnce(snapshot: Snapshot, changes: Changes): Promise<Buffer | undefined> {
  const { kind, viewer, from, upTo, reset, cursor } = changes;
  const found = await snapshot.reader.read<Found>(changedObjects(kind, viewer, from, PART.templates + 1));
  if (firstPart(found, PART).length < found.length) return undefined;
  const removed = await readRemovals(snapshot.reader, changes, NO_ID);
  if (removed.length === PART.removals) return undefined;
  const documents = await readDocuments(snapshot, idsOf(found));
  return renderUpdates(kind, documents, { removed, checked_at: upTo, cursor, reset, has_more: false });
}

const idsOf = (found: readonly Found[]): string[] => found.map(({ id }) => id);

/** A template that belongs in a response, with its size. */
interface Found {
  readonly id: string;
  readonly bytes: number;
}

interface PartSize {
  readonly templates: number;
  readonly bytes: number;
}

/** The templates that fit in a part: at least one, whatever its size. */
function firstPart(found: readonly Found[], { templates, bytes: maxBytes }: PartSize): readonly Found[] {
  let total = 0;
  const fits = ({ bytes }: Found, index: number) => {
    total += bytes;
    return index < templates && (total <= maxBytes || index === 0);
  };
  const end = found.findIndex((entry, index) => !fits(entry, index));
  return end === -1 ? found : found.slice(0, end);
}

/** Changes that do not fit in one part, with the entity tag of the response. */
export class LargeChanges {
  readonly changes: Changes;
  readonly etag: string;
  constructor(changes: Changes, etag: string) {
    this.changes = changes;
    this.etag = etag;
  }
}

/** What a streamed response needs of its request. */
interface StreamRequest {
  readonly database: Pick<Database, 'catalogStreams'>;
  readonly documents: Documents;
  readonly principal: Principal;
  /** The address of the client. */
  readonly address: string;
  readonly streamSlots: StreamSlots;
  readonly headOnly: boolean;
}

/**
 * Streams changes that do not fit in one part. The templates are read in parts, in the order of
 * their ids. The statement that reads a template checks that the caller can see it, and omits it if
 * it changed after `upTo`: the next request has `upTo` as its `since`, and receives each later
 * change. @throws 503 `overloaded`
 */
export function streamChanges(
  { database, documents, principal, address, streamSlots, headOnly }: StreamRequest,
  { changes, etag }: LargeChanges,
): Streamed {
  const release = headOnly ? () => undefined : streamSlots.take(principal, address);
  const source = { reader: database.catalogStreams, documents };
  return streamedReply('application/json; charset=utf-8', () => jsonOf(source, changes), {
    etag,
    pace: streamSlots.pace,
    onEnd: release,
  });
}

async function* jsonOf(source: Source, changes: Changes): AsyncGenerator<string | Buffer> {
  const { member, updates } = changes.kind;
  const { upTo: checked_at, reset } = changes;
  const cursor = writeCursor(changes.cursor);
  const envelope = updates.parse({ [member]: [], removed: [], checked_at, cursor, reset, has_more: false });
  yield `{"${member}":[`;
  yield* separated(templatesOf(source, changes));
  yield '],"removed":[';
  yield* separated(removalsOf(source.reader, changes));
  const { checked_at: last, ...others } = envelope;
  const rest = Object.entries(others).filter(([name]) => name !== member && name !== 'removed');
  yield `],${JSON.stringify({ ...Object.fromEntries(rest), checked_at: last }).slice(1)}`;
}

/** Parts with a comma between them. */
async function* separated<Part>(parts: AsyncIterable<Part>): AsyncGenerator<Part | string> {
  let isFirst = true;
  for await (const part of parts) {
    if (!isFirst) yield ',';
    isFirst = false;
    yield part;
  }
}

/** The elements of `templates`, in parts that are not empty. */
async function* templatesOf(source: Source, changes: Changes): AsyncGenerator<Buffer> {
  const { reader } = source;
  let after: string | undefined = NO_ID;
  while (after !== undefined) {
    const upTo: string | undefined = await endOfRange(changes.kind, reader, after);
    let found: readonly Found[] = await reader.read<Found>(changedInRange(changes, { after, upTo }));
    while (found.length > 0) {
      const part = firstPart(found, STREAM_PART);
      found = found.slice(part.length);
      const documents = await readDocuments(source, idsOf(part), isIn(changes));
      if (documents.length > 0) yield Buffer.concat(elementsOf(documents));
    }
    after = upTo;
  }
}
/**
 * The number of templates that one statement examines. It bounds the duration of a statement for a
 * viewer who sees few.
 */
const RANGE = 1000;

async function endOfRange({ table }: Kind, reader: Reader, after: string): Promise<string | undefined> {
  const [end] = await reader.read<{ id: string }>(Prisma.sql`
    SELECT id FROM ${table} WHERE id > ${after}::uuid ORDER BY id OFFSET ${RANGE - 1} LIMIT 1`);
  return end?.id;
}

interface Range {
  readonly after: string;
  /** Undefined: the range extends to the last id. */
  readonly upTo: string | undefined;
}

const changedInRange = (changes: Changes, { after, upTo }: Range): Prisma.Sql => Prisma.sql`
  SELECT t.id, t.weight AS bytes FROM ${changes.kind.sources}
  WHERE t.id > ${after}::uuid ${upTo === undefined ? Prisma.empty : Prisma.sql`AND t.id <= ${upTo}::uuid`}
    AND ${isIn(changes)}
  ORDER BY t.id`;

/** The viewer sees the template now, and its stamp for the viewer is in the period. */
const isIn = ({ kind, viewer, from, upTo }: Changes): Prisma.Sql =>
  Prisma.sql`${visibleObjects(viewer)} AND ${stampFor(kind, viewer)} > ${from} AND ${stampFor(kind, viewer)} <= ${upTo}`;

/** The elements of `removed`, in parts that are not empty. */
async function* removalsOf(reader: Reader, changes: Changes): AsyncGenerator<string> {
  if (changes.reset) return;
  let after = NO_ID;
  for (let full = true; full; ) {
    const part = await readRemovals(reader, changes, after);
    if (part.length > 0) yield part.map((removal) => JSON.stringify({ id: removal.id })).join(',');
    full = part.length === PART.removals;
    after = part.at(-1)?.id ?? after;
  }
  const [clock] = await reader.read<{ floor: Date | null }>(Prisma.sql`SELECT floor FROM catalog_clock`);
  if (clock?.floor && changes.from < clock.floor) throw new Error('the history of a response was pruned meanwhile');
}

interface Removal {
  readonly id: string;
}

const readRemovals = async (
  reader: Reader,
  { kind, viewer, from, reset }: Changes,
  after: string,
): Promise<Removal[]> =>
  reset ? [] : reader.read<Removal>(removedObjects(kind, viewer, from, { after, limit: PART.removals }));

/**
 * The templates that the viewer sees now and that changed or became visible after `since`, up to a
 * number of them.
 */
export const changedObjects = (kind: Kind, viewer: Viewer, since: Date, limit: number): Prisma.Sql => Prisma.sql`
  SELECT id, bytes FROM (
    SELECT t.id, t.weight AS bytes, greatest(t.updated_at, c.shown_at) AS at FROM ${kind.sources}
    WHERE ${visibleObjects(viewer)} AND ${touchedSince(viewer, since)} AND ${stampFor(kind, viewer)} > ${since}
    LIMIT ${limit}
  ) changed
  ORDER BY at, id`;

interface Page {
  readonly after: string;
  readonly limit: number;
}

/**
 * The templates that the viewer stopped seeing after `since` and does not see now, in the order of
 * their ids.
 */
export const removedObjects = (
  kind: Kind,
  viewer: Viewer,
  since: Date,
  { after, limit }: Page,
): Prisma.Sql => Prisma.sql`
  SELECT id FROM (${visiblePeriods(kind, viewer)}) AS periods (id, since, until)
  WHERE id > ${after}::uuid AND id = ANY (ARRAY(${endedSince(kind, viewer, since)}))
  GROUP BY id HAVING max(until) > ${since} AND max(until) < 'infinity'
  ORDER BY id LIMIT ${limit}`;
