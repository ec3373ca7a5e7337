import { FEED_ENTRIES, hubEndpoints } from '@svc/contract/hub';
import { etagOfBody, fileReply, notFound } from '@svc/http';
import { atomOf } from '../../../catalog/revisions/atom.ts';
import { readChangelog } from '../../../catalog/revisions/changelog.ts';
import { type RequestContext, route } from '../../request/context.ts';

interface Page {
  readonly page: number;
  readonly limit: number;
}

/** An unknown template and one that the caller cannot see give the same response. @throws 404 */
async function changelogOf({ catalog, database, viewer, revision }: RequestContext, slug: string, page: Page) {
  const found = await catalog.index.read({ viewer, revision: await revision() }, ({ entries, view }) => {
    const entry = entries.bySlug(slug);
    return entry && view.sees(entry) ? entry : undefined;
  });
  if (!found) throw notFound();
  const { id } = found;
  return database.reader.inSnapshot(async (reader) => ({
    id,
    ...(await readChangelog(reader, { viewer, id, ...page })),
  }));
}

export const getChangelog = route(hubEndpoints.getChangelog, (context, { params: { slug }, query }) =>
  changelogOf(context, slug, query),
);

export const getChangelogFeed = route(hubEndpoints.getChangelogFeed, async (context, { params: { slug } }) => {
  const { id, name, since, entries } = await changelogOf(context, slug, { page: 1, limit: FEED_ENTRIES });
  const [newest] = entries;
  const { publicUrl } = context;
  const feed = Buffer.from(atomOf({ id, name, slug, updatedAt: newest?.at ?? since, publicUrl, entries }));
  return fileReply(feed, { contentType: 'application/atom+xml; charset=utf-8', etag: etagOfBody(feed) });
});
