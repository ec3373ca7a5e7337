import { hubEndpoints } from '@svc/contract/hub';
import { notFound, renderedReply } from '@svc/http';
import { type IndexedView, OUTDATED } from '../../catalog/memory/catalog-index.ts';
import { type Document, jsonOf } from '../../catalog/memory/documents.ts';
import { type Entry, versionOf } from '../../catalog/memory/entries.ts';
import { frequentRead, largeReadsOf, type MemoryContext } from '../request/context.ts';

export const listTemplates = frequentRead(
  hubEndpoints.listTemplates,
  ({ catalog, viewer }, revision, { query }) => catalog.lists.inMemory({ viewer, revision }, query),
  async (context, { query }) => {
    const { catalog, viewer, revision } = context;
    return catalog.lists.page({ viewer, revision: await revision(), large: largeReadsOf(context) }, query);
  },
);

export const getTemplate = frequentRead(
  hubEndpoints.getTemplate,
  (context, revision, { params }) => {
    const { catalog, viewer } = context;
    const found = catalog.index.now({ viewer, revision }, (indexed) => {
      const entry = visibleEntry(indexed, params.slug);
      const document = catalog.documents.cached(versionOf(entry));
      return document && { id: entry.id, document };
    });
    return found && download(context, found);
  },
  async (context, { params }) => {
    const { catalog, viewer, revision } = context;
    const found = await catalog.index.read({ viewer, revision: await revision() }, async (indexed) => {
      const entry = visibleEntry(indexed, params.slug);
      const [document] = (await catalog.documents.of([versionOf(entry)])) ?? [];
      return document ? { id: entry.id, document } : OUTDATED;
    });
    return download(context, found);
  },
);

/** @throws 404 */
function visibleEntry({ entries, view }: IndexedView, slug: string): Entry {
  const entry = entries.bySlug(slug);
  if (!entry || !view.sees(entry)) throw notFound();
  return entry;
}

interface FoundTemplate {
  readonly id: string;
  readonly document: Document;
}

/** Counts a download, and returns the template. The entity tag does not cover the number of downloads. */
function download({ principal, headOnly, usage }: MemoryContext, { id, document }: FoundTemplate) {
  if (principal.kind === 'organization' && !headOnly) usage.countDownload(id);
  const json = jsonOf(document, document.downloads + usage.pendingDownloads(id));
  return renderedReply(Buffer.concat(json), document.etag);
}
