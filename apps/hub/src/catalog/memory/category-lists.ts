import { hubEndpoints } from '@svc/contract/hub';
import type { Reader } from '@svc/database';
import { bytesOfRendered, etagOfBody, type Rendered, renderedReply } from '@svc/http';
import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import { Prisma } from '../../generated/prisma/client.ts';
import { type Viewer, viewerKey } from '../../identity/principal.ts';
import { newestCommit } from '../../revision/revision.ts';
import { visibleCategories, visibleObjects } from '../visibility.ts';
import { type CatalogIndex, type IndexedView, OUTDATED, type ReadRequest } from './catalog-index.ts';

type CategoryRow = z.input<typeof hubEndpoints.listCategories.reply>['categories'][number];

interface List {
  readonly rendered: Rendered;
  /** The stamps of the last changes that can change the list, in milliseconds. */
  readonly changedAt: readonly [ofTemplates: number, ofCategories: number];
}

export interface CategoryLists {
  list(request: ReadRequest): Promise<Rendered>;
  /** The same without waiting; undefined if the list is not in memory. */
  inMemory(request: ReadRequest): Rendered | undefined;
}

const MAX_BYTES = 16 * 1024 * 1024;
const OVERHEAD = 1000;

/**
 * Caches the categories that each viewer sees until one of them, or the number of its templates,
 * can have changed.
 */
export function createCategoryLists(reader: Reader, index: CatalogIndex): CategoryLists {
  const lists = new LRUCache<string, List>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ rendered }) => bytesOfRendered(rendered) + OVERHEAD,
  });
  const changesOf = ({ changedAt, entries }: IndexedView) => [changedAt, entries.categoriesChangedAt()] as const;
  const cachedAt = (indexed: IndexedView, viewer: Viewer) => {
    const changedAt = changesOf(indexed);
    const cached = lists.get(viewerKey(viewer));
    return cached?.changedAt.every((stamp, at) => stamp === changedAt[at]) ? cached.rendered : undefined;
  };
  return {
    inMemory: (request) => index.now(request, (indexed) => cachedAt(indexed, request.viewer)),
    list: (request) =>
      index.read(request, async (indexed) => {
        const cached = cachedAt(indexed, request.viewer);
        if (cached) return cached;
        const { state } = indexed;
        const changedAt = changesOf(indexed);
        const rows = await reader.read<CategoryRow & { newest: string }>(categoriesWithCounts(request.viewer));
        if (rows.some(({ newest }) => newest !== state.commit.commit)) return OUTDATED;
        const categories = rows.filter(({ id }) => id !== null).map(({ newest: _, ...category }) => category);
        const body = JSON.stringify(hubEndpoints.listCategories.reply.parse({ categories }));
        const rendered = renderedReply(Buffer.from(body), etagOfBody(body));
        lists.set(viewerKey(request.viewer), { rendered, changedAt });
        return rendered;
      }),
  };
}

/**
 * The categories that a viewer sees, each with the newest commit in the same snapshot.
 * `template_count` counts only the templates that the viewer sees. Without categories, the result
 * is one row without an id.
 */
export const categoriesWithCounts = (viewer: Viewer): Prisma.Sql => Prisma.sql`
  SELECT n.commit AS newest, seen.*
  FROM ${newestCommit} n
  LEFT JOIN (
    SELECT c.id, c.name, c.slug, c.description, c.icon, c.sort_order, c.is_private, c.created_at, c.updated_at,
           (SELECT count(*)::int FROM templates t WHERE t.category_id = c.id AND ${visibleObjects(viewer)})
             AS template_count, c.sort_name
    FROM categories c
    WHERE ${visibleCategories(viewer)}
  ) seen ON true
  ORDER BY seen.sort_order, seen.sort_name, seen.id`;
