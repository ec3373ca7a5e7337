import type { Category } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { etagOfState, Unchanged, WithEtag } from '@svc/http';
import { route } from '../context.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type Viewer, viewerKey } from '../principal.ts';
import { readState } from './templates/updates/state.ts';
import { visibleCategories, visibleTemplates } from './visibility.ts';

type CategoryRow = Omit<Category, 'created_at' | 'updated_at'> & {
  readonly created_at: Date;
  readonly updated_at: Date;
};

export const listCategories = route(hubEndpoints.listCategories, async ({ database, viewer, hasEtag }) =>
  database.client.$transaction(
    async (transaction) => {
      const etag = etagOfState(viewerKey(viewer), await readState(transaction));
      if (hasEtag(etag)) return new Unchanged(etag);
      return new WithEtag(
        { categories: await transaction.$queryRaw<CategoryRow[]>(categoriesWithCounts(viewer)) },
        etag,
      );
    },
    { isolationLevel: 'RepeatableRead' },
  ),
);

/** The categories that a viewer sees. `template_count` counts only the templates that the viewer sees. */
export const categoriesWithCounts = (viewer: Viewer): Prisma.Sql => Prisma.sql`
  SELECT c.id, c.name, c.slug, c.description, c.icon, c.sort_order, c.is_private, c.created_at, c.updated_at,
         (SELECT count(*)::int FROM templates t WHERE t.category_id = c.id AND ${visibleTemplates(viewer)})
           AS template_count
  FROM categories c
  WHERE ${visibleCategories(viewer)}
  ORDER BY c.sort_order, c.sort_name, c.id`;
