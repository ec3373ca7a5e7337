import { offsetOf, paginationOf } from '@svc/contract';
import type { Reader } from '@svc/database';
import { notFound } from '@svc/http';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Viewer } from '../../identity/principal.ts';
import type { Kind } from '../kinds.ts';
import { visiblePeriods } from '../visibility.ts';
import type { Revised } from './content.ts';
import { changedMembers, inOrder, previous } from './read.ts';

/** A change of an object, as everyone who sees the object receives it. */
export interface ChangelogEntry {
  readonly revision: number;
  readonly version: string;
  readonly at: Date;
  readonly message: string;
  /** Null: the viewer does not see the content before, or it is not known. */
  readonly changed: string[] | null;
}

interface Request {
  readonly viewer: Viewer;
  readonly id: string;
  readonly page: number;
  readonly limit: number;
}

/** Only administrators receive the owner of an object. */
const isShown = (member: string) => member !== 'owner_org_id';

/**
 * The changes of an object since the viewer sees it without interruption, newest first. What happened before, and
 * who changed the object, is not shown. @throws 404
 */
export async function readChangelog(reader: Reader, revised: Revised, { viewer, id, page, limit }: Request) {
  const { kind } = revised;
  const since = await visibleSince(reader, kind, { viewer, id });
  const [object] = await reader.read<{ name: string }>(
    Prisma.sql`SELECT name FROM ${kind.table} WHERE id = ${id}::uuid`,
  );
  if (!object) throw notFound();
  const shown = Prisma.sql`
    FROM ${kind.revisions} WHERE ${kind.id} = ${id}::uuid AND at >= ${since} AND content IS NOT NULL`;
  const rows = await reader.read<ChangelogEntry>(Prisma.sql`
    SELECT r.revision, r.content ->> 'version' AS version, r.at, r.message,
           CASE WHEN r.at > ${since} AND p.content IS NOT NULL THEN ${changedMembers(revised)} END AS changed
    FROM (SELECT * ${shown} ORDER BY revision DESC LIMIT ${limit} OFFSET ${offsetOf({ page, limit })}) r ${previous(kind)}
    ORDER BY r.revision DESC`);
  const [counted] = await reader.read<{ total: number }>(Prisma.sql`SELECT count(*)::int AS total ${shown}`);
  return {
    name: object.name,
    since,
    entries: rows.map((row) => ({ ...row, changed: row.changed && inOrder(revised, row.changed).filter(isShown) })),
    pagination: paginationOf({ page, limit }, counted?.total ?? 0),
  };
}

/**
 * The time since which a viewer sees an object without interruption: the start of the intervals that overlap or meet
 * and have not ended. It is later than the true start if the history of visibility was pruned. @throws 404
 */
async function visibleSince(reader: Reader, kind: Kind, { viewer, id }: Pick<Request, 'viewer' | 'id'>): Promise<Date> {
  const periods = await reader.read<{ since: Date; until: Date | null }>(Prisma.sql`
    SELECT since, nullif(until, 'infinity') AS until
    FROM (${visiblePeriods(kind, viewer)}) AS periods (id, since, until)
    WHERE id = ${id}::uuid ORDER BY since DESC`);
  const open = periods.filter(({ until }) => until === null).map(({ since }) => since);
  const [first] = open.toSorted((one, other) => one.getTime() - other.getTime());
  if (!first) throw notFound();
  let start = first;
  for (;;) {
    const earlier = periods.find(({ since, until }) => since < start && (until === null || until >= start));
    if (!earlier) return start;
    start = earlier.since;
  }
}
