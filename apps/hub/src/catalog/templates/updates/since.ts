import { type Cursor, writeCursor } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { Streamed } from '@svc/http';
import type { RequestContext } from '../../../context.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import type { Viewer } from '../../../principal.ts';
import {
  endedSince,
  type TemplateRow,
  templateColumns,
  templateSources,
  touchedSince,
  visiblePeriods,
  visibleTemplates,
} from '../../visibility.ts';
import { finishedCursor, NO_ID, type Snapshot, stampFor } from './state.ts';

/** The changes in a period, as one viewer sees them: with stamps after `from` and up to `upTo`. */
interface Changes {
  readonly viewer: Viewer;
  readonly from: Date;
  /** The catalog clock in the first snapshot. It is the `checked_at` of the response. */
  readonly upTo: Date;
  /** `since` is before the floor, so the response contains all visible templates and no removals. */
  readonly reset: boolean;
  readonly cursor: Cursor;
}

/** The maximum size of a response that is read at once. A larger one is streamed. */
const PART = { templates: 250, bytes: 1024 * 1024, removals: 5000 } as const;

/** The maximum size of a part of a stream. It bounds the time for which other requests wait while a part is built. */
const STREAM_PART = { templates: 25, bytes: 64 * 1024 } as const;

const EPOCH = new Date(0);

export function changesSince({ viewer, state }: Snapshot, since: Date): Changes {
  const reset = state.floor !== null && since < state.floor;
  return { viewer, from: reset ? EPOCH : since, upTo: state.at, reset, cursor: finishedCursor(viewer, state) };
}

/** Reads changes if they fit in one part; undefined otherwise. `transaction` has the snapshot to which `changes.upTo` belongs. */
export async function readAtOnce(transaction: Prisma.TransactionClient, changes: Changes) {
  const { viewer, from, upTo, reset, cursor } = changes;
  const found = await transaction.$queryRaw<Found[]>(changedTemplates(viewer, from, PART.templates + 1));
  if (firstPart(found, PART).length < found.length) return undefined;
  const removed = await readRemovals(transaction, changes, NO_ID);
  if (removed.length === PART.removals) return undefined;
  const templates = await readTemplates(transaction, changes, found);
  return { templates, removed, checked_at: upTo, cursor, reset, has_more: false };
}

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

/**
 * Streams changes that do not fit in one part. The templates are read in parts, in the order of their ids. The statement
 * that reads a template checks that the caller can see it, and omits it if it changed after `upTo`: the next request has
 * `upTo` as its `since`, and receives each later change. @throws 503 `overloaded`
 */
export function streamChanges(
  { database, principal, address, streamSlots, headOnly }: RequestContext,
  { changes, etag }: LargeChanges,
): Streamed {
  const release = headOnly ? undefined : streamSlots.take(principal, address);
  return new Streamed('application/json; charset=utf-8', () => jsonOf(database.catalogStreams, changes), {
    etag,
    pace: streamSlots.pace,
    ...(release ? { onEnd: release } : {}),
  });
}

async function* jsonOf(client: Reader, changes: Changes): AsyncGenerator<string> {
  const { reply } = hubEndpoints.listTemplateUpdates;
  const { templates, removed } = reply.shape;
  const { upTo: checked_at, reset } = changes;
  const cursor = writeCursor(changes.cursor);
  const envelope = reply.parse({ templates: [], removed: [], checked_at, cursor, reset, has_more: false });
  yield '{"templates":[';
  yield* elementsOf(templates.element, partsOf(client, changes));
  yield '],"removed":[';
  yield* elementsOf(removed.element, removalsOf(client, changes));
  const { checked_at: last, templates: _, removed: __, ...rest } = envelope;
  yield `],${JSON.stringify({ ...rest, checked_at: last }).slice(1)}`;
}

interface Schema<Item> {
  parse(item: Item): unknown;
}

async function* elementsOf<Item>(schema: Schema<Item>, parts: AsyncIterable<readonly Item[]>): AsyncGenerator<string> {
  let separator = '';
  for await (const part of parts) {
    if (part.length === 0) continue;
    yield separator + part.map((item) => JSON.stringify(schema.parse(item))).join(',');
    separator = ',';
  }
}

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

async function* partsOf(client: Reader, changes: Changes): AsyncGenerator<TemplateRow[]> {
  let after: string | undefined = NO_ID;
  while (after !== undefined) {
    const upTo: string | undefined = await endOfRange(client, after);
    let found: readonly Found[] = await client.$queryRaw<Found[]>(changedInRange(changes, { after, upTo }));
    while (found.length > 0) {
      const part = firstPart(found, STREAM_PART);
      found = found.slice(part.length);
      yield await readTemplates(client, changes, part);
    }
    after = upTo;
  }
}

/** The number of templates that one statement examines. It bounds the duration of a statement for a viewer who sees few. */
const RANGE = 1000;

async function endOfRange(client: Reader, after: string): Promise<string | undefined> {
  const [end] = await client.$queryRaw<{ id: string }[]>`
    SELECT id FROM templates WHERE id > ${after}::uuid ORDER BY id OFFSET ${RANGE - 1} LIMIT 1`;
  return end?.id;
}

interface Range {
  readonly after: string;
  /** Undefined: the range extends to the last id. */
  readonly upTo: string | undefined;
}

const changedInRange = (changes: Changes, { after, upTo }: Range): Prisma.Sql => Prisma.sql`
  SELECT t.id, t.weight AS bytes FROM ${templateSources}
  WHERE t.id > ${after}::uuid ${upTo === undefined ? Prisma.empty : Prisma.sql`AND t.id <= ${upTo}::uuid`}
    AND ${isIn(changes)}
  ORDER BY t.id`;

/** The viewer sees the template now, and its stamp for the viewer is in the period. */
const isIn = ({ viewer, from, upTo }: Changes): Prisma.Sql =>
  Prisma.sql`${visibleTemplates(viewer)} AND ${stampFor(viewer)} > ${from} AND ${stampFor(viewer)} <= ${upTo}`;

/** The templates with these ids that still belong in the response, in the same order. */
async function readTemplates(client: Reader, changes: Changes, found: readonly Found[]): Promise<TemplateRow[]> {
  if (found.length === 0) return [];
  return client.$queryRaw<TemplateRow[]>`
    SELECT ${templateColumns} FROM ${templateSources}
      JOIN unnest(${found.map(({ id }) => id)}::uuid[]) WITH ORDINALITY AS part (id, place) ON part.id = t.id
    WHERE ${isIn(changes)}
    ORDER BY part.place`;
}

async function* removalsOf(client: Reader, changes: Changes): AsyncGenerator<Removal[]> {
  if (changes.reset) return;
  let after = NO_ID;
  for (let full = true; full; ) {
    const part = await readRemovals(client, changes, after);
    yield part;
    full = part.length === PART.removals;
    after = part.at(-1)?.id ?? after;
  }
  const [clock] = await client.$queryRaw<{ floor: Date | null }[]>`SELECT floor FROM catalog_clock`;
  if (clock?.floor && changes.from < clock.floor) throw new Error('the history of a response was pruned meanwhile');
}

interface Removal {
  readonly id: string;
}

const readRemovals = async (client: Reader, { viewer, from, reset }: Changes, after: string): Promise<Removal[]> =>
  reset ? [] : client.$queryRaw<Removal[]>(removedTemplates(viewer, from, { after, limit: PART.removals }));

/** The templates that the viewer sees now and that changed or became visible after `since`, up to a number of them. */
export const changedTemplates = (viewer: Viewer, since: Date, limit: number): Prisma.Sql => Prisma.sql`
  SELECT id, bytes FROM (
    SELECT t.id, t.weight AS bytes, greatest(t.updated_at, c.shown_at) AS at FROM ${templateSources}
    WHERE ${visibleTemplates(viewer)} AND ${touchedSince(viewer, since)} AND ${stampFor(viewer)} > ${since}
    LIMIT ${limit}
  ) changed
  ORDER BY at, id`;

interface Page {
  readonly after: string;
  readonly limit: number;
}

/** The templates that the viewer stopped seeing after `since` and does not see now, in the order of their ids. */
export const removedTemplates = (viewer: Viewer, since: Date, { after, limit }: Page): Prisma.Sql => Prisma.sql`
  SELECT template_id AS id FROM (${visiblePeriods(viewer)}) AS periods (template_id, until)
  WHERE template_id > ${after}::uuid AND template_id = ANY (ARRAY(${endedSince(viewer, since)}))
  GROUP BY template_id HAVING max(until) > ${since} AND max(until) < 'infinity'
  ORDER BY template_id LIMIT ${limit}`;
