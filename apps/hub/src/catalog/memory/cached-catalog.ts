import type { SnapshotReader } from '@svc/database';
import { applications, type Kind, templates } from '../kinds.ts';
import { type CatalogIndex, createCatalogIndex } from './catalog-index.ts';
import { type CategoryLists, createCategoryLists } from './category-lists.ts';
import { createDocuments, type Documents } from './documents.ts';
import { createTemplateLists, type TemplateLists } from './template-lists.ts';

/** The objects of one kind in memory: an index of all of them, and caches of responses. */
export interface CachedObjects {
  readonly kind: Kind;
  readonly index: CatalogIndex;
  readonly documents: Documents;
  readonly lists: TemplateLists;
}

/** The catalog in memory: its templates, applications and categories. */
export interface CachedCatalog extends CachedObjects {
  readonly applications: CachedObjects;
  readonly categories: CategoryLists;
  /** Sets the stored numbers of downloads of objects of any kind. */
  readonly setDownloads: Documents['setDownloads'];
}

export function createCachedCatalog(reader: SnapshotReader): CachedCatalog {
  const ofTemplates = createCachedObjects(reader, templates);
  const ofApplications = createCachedObjects(reader, applications);
  return {
    ...ofTemplates,
    applications: ofApplications,
    categories: createCategoryLists(reader, ofTemplates.index),
    setDownloads: (counts) => {
      for (const { documents, index } of [ofTemplates, ofApplications]) {
        documents.setDownloads(counts);
        index.setDownloads(counts);
      }
    },
  };
}

function createCachedObjects(reader: SnapshotReader, kind: Kind): CachedObjects {
  const documents = createDocuments(reader, kind);
  const index = createCatalogIndex(reader, documents);
  return { kind, index, documents, lists: createTemplateLists({ reader, index, documents }) };
}
