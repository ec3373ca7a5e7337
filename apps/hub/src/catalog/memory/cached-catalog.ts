import type { Reader } from '@svc/database';
import { type CatalogIndex, createCatalogIndex } from './catalog-index.ts';
import { type CategoryLists, createCategoryLists } from './category-lists.ts';
import { createDocuments, type Documents } from './documents.ts';
import { createTemplateLists, type TemplateLists } from './template-lists.ts';

/** The catalog in memory: an index of all templates, and caches of responses. */
export interface CachedCatalog {
  readonly index: CatalogIndex;
  readonly documents: Documents;
  readonly lists: TemplateLists;
  readonly categories: CategoryLists;
  /** Sets the stored numbers of downloads. */
  readonly setDownloads: Documents['setDownloads'];
}

export function createCachedCatalog(reader: Reader): CachedCatalog {
  const documents = createDocuments(reader);
  const index = createCatalogIndex(reader, documents);
  const lists = createTemplateLists({ reader, index, documents });
  return {
    index,
    documents,
    lists,
    categories: createCategoryLists(reader, index),
    setDownloads: (counts) => {
      documents.setDownloads(counts);
      index.setDownloads(counts);
    },
  };
}
