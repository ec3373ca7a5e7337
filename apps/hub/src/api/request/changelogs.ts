import { FEED_ENTRIES } from '@svc/contract/hub';
import { etagOfBody, fileReply, notFound } from '@svc/http';
import type { CachedObjects } from '../../catalog/memory/cached-catalog.ts';
import { atomOf } from '../../catalog/revisions/atom.ts';
import { readChangelog } from '../../catalog/revisions/changelog.ts';
import type { Revised } from '../../catalog/revisions/content.ts';
import type { RequestContext } from './context.ts';

/** Objects with changelogs. */
interface Objects {
  readonly revised: Revised;
  readonly cached: CachedObjects;
}

interface Asked {
  readonly slug: string;
  readonly page: number;
  readonly limit: number;
}

/** An unknown object and one that the caller cannot see give the same response. @throws 404 */
export async function changelogOf(context: RequestContext, { revised, cached }: Objects, { slug, ...page }: Asked) {
  const { database, viewer, revision } = context;
  const found = await cached.index.read({ viewer, revision: await revision() }, ({ entries, view }) => {
    const entry = entries.bySlug(slug);
    return entry && view.sees(entry) ? entry : undefined;
  });
  if (!found) throw notFound();
  const { id } = found;
  return database.reader.inSnapshot(async (reader) => ({
    id,
    ...(await readChangelog(reader, revised, { viewer, id, ...page })),
  }));
}

/** The newest entries of a changelog as an Atom feed. @throws 404 */
export async function feedOf(context: RequestContext, objects: Objects, slug: string) {
  const { id, name, since, entries } = await changelogOf(context, objects, { slug, page: 1, limit: FEED_ENTRIES });
  const [newest] = entries;
  const { publicUrl } = context;
  const { member } = objects.revised.kind;
  const feed = Buffer.from(atomOf({ id, name, slug, member, updatedAt: newest?.at ?? since, publicUrl, entries }));
  return fileReply(feed, { contentType: 'application/atom+xml; charset=utf-8', etag: etagOfBody(feed) });
}
