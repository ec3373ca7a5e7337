import { hubEndpoints } from '@svc/contract/hub';
import { notFound, renderedReply } from '@svc/http';
import { OUTDATED } from '../../catalog/memory/catalog-index.ts';
import { type Documents, jsonOf } from '../../catalog/memory/documents.ts';
import { type Entry, versionOf } from '../../catalog/memory/entries.ts';
import { largeReadsOf, route } from '../context.ts';

export const listTemplates = route(hubEndpoints.listTemplates, async (context, { query }) => {
  const { catalog, viewer, revision } = context;
  return catalog.lists.page({ viewer, revision: await revision(), large: largeReadsOf(context) }, query);
});

/** The entity tag does not cover the number of downloads. */
export const getTemplate = route(hubEndpoints.getTemplate, async (context, { params }) => {
  const { catalog, viewer, revision, principal, headOnly, usage } = context;
  const found = await catalog.index.read({ viewer, revision: await revision() }, ({ entries, view }) => {
    const entry = entries.bySlug(params.slug);
    return entry && view.sees(entry) ? documentOf(catalog.documents, entry) : undefined;
  });
  if (!found) throw notFound();
  const { id, document } = found;
  if (principal.kind === 'organization' && !headOnly) usage.countDownload(id);
  const json = jsonOf(document, document.downloads + usage.pendingDownloads(id));
  return renderedReply(Buffer.concat(json), document.etag);
});

/** The document of a template, with its id; OUTDATED if the database has a later version. */
function documentOf(documents: Documents, entry: Entry) {
  const { id } = entry;
  const version = versionOf(entry);
  const cached = documents.cached(version);
  if (cached) return { id, document: cached };
  return documents.of([version]).then((read) => (read?.[0] ? { id, document: read[0] } : OUTDATED));
}
