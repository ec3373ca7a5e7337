import { hubEndpoints } from '@svc/contract/hub';
import { notFound, Rendered } from '@svc/http';
import { route } from '../context.ts';
import { OUTDATED } from './index/catalog-index.ts';
import { jsonOf } from './index/documents.ts';
import { versionOf } from './index/entries.ts';

export const listTemplates = route(hubEndpoints.listTemplates, async ({ catalog, viewer, revision }, { query }) =>
  catalog.lists.page({ viewer, revision: await revision() }, query),
);

/** The entity tag does not cover the number of downloads. */
export const getTemplate = route(hubEndpoints.getTemplate, async (context, { params }) => {
  const { catalog, viewer, revision, principal, headOnly, usage } = context;
  const found = await catalog.index.read({ viewer, revision: await revision() }, async ({ entries, view }) => {
    const entry = entries.bySlug(params.slug);
    if (!entry || !view.sees(entry)) return undefined;
    const [document] = (await catalog.documents.of([versionOf(entry)])) ?? [];
    return document ? { id: entry.id, document } : OUTDATED;
  });
  if (!found) throw notFound();
  const { id, document } = found;
  if (principal.kind === 'organization' && !headOnly) usage.countDownload(id);
  const json = jsonOf(document, document.downloads + usage.pendingDownloads(id));
  return new Rendered(Buffer.concat(json), document.etag);
});
