import type { Category } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { route } from '../context.ts';

export const listMirroredCategories = route(fleetEndpoints.listMirroredCategories, async ({ database }) => {
  const rows = await database.client.$queryRaw<{ document: Category; template_count: number }[]>`
      SELECT document,
             (SELECT count(*)::int FROM catalog_templates t WHERE t.category_id = c.id) AS template_count
      FROM catalog_categories c ORDER BY sort_order, sort_name, id`;
  return { categories: rows.map(({ document, template_count }) => ({ ...document, template_count })) };
});
