import { type Metrics, observe } from '@svc/http';
import type { CachedCatalog } from './cached-catalog.ts';
import type { CacheUse } from './documents.ts';

/** Registers the metrics of the catalog in memory. */
export const observeCatalog =
  ({ documents, lists, applications }: CachedCatalog) =>
  (metrics: Metrics): void => {
    const caches: Readonly<Record<string, CacheUse>> = {
      documents: documents.use,
      summaries: documents.summaries.use,
      pages: lists.use,
      application_documents: applications.documents.use,
      application_summaries: applications.documents.summaries.use,
      application_pages: applications.lists.use,
    };
    const perCache = (name: string, help: string, figure: (use: ReturnType<CacheUse>) => number) =>
      observe(metrics, { name, help, labelNames: ['cache'] }, () =>
        Object.entries(caches).map(([cache, use]) => ({ value: figure(use()), labels: { cache } })),
      );
    observe(
      metrics,
      {
        name: 'catalog_cache_reads_total',
        help: 'Reads of a cache of the catalog, by their result: hit or miss',
        type: 'counter',
        labelNames: ['cache', 'result'],
      },
      () =>
        Object.entries(caches).flatMap(([cache, use]) => [
          { value: use().hits, labels: { cache, result: 'hit' } },
          { value: use().misses, labels: { cache, result: 'miss' } },
        ]),
    );
    perCache('catalog_cache_entries', 'Entries of a cache of the catalog', ({ entries }) => entries);
    perCache('catalog_cache_bytes', 'Estimated size of a cache of the catalog', ({ bytes }) => bytes);
  };
