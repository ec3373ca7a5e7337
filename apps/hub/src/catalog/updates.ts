import { hubEndpoints } from '@svc/contract/hub';
import { route } from '../context.ts';
import { translated } from '../database/constraints.ts';
import { type TemplateRow, templateColumns, templateSources } from './template-rows.ts';
import { visibleFrom, visiblePeriods, visibleTemplates } from './visibility.ts';

/**
 * What changed for the caller since a moment. `checked_at` is the catalog's clock as the snapshot of the answer saw it:
 * whatever is in the snapshot has stamps up to it, whatever is not has later ones.
 */
export const listTemplateUpdates = route(hubEndpoints.listTemplateUpdates, async ({ database, viewer }, { query }) => {
  const { client } = database;
  const { since } = query;
  const [clock, templates, removed] = await translated(() =>
    client.$transaction(
      [
        client.$queryRaw<{ at: Date }[]>`SELECT at FROM catalog_clock`,
        client.$queryRaw<TemplateRow[]>`
          SELECT ${templateColumns} FROM ${templateSources}
          WHERE ${visibleTemplates(viewer)} AND greatest(t.updated_at, c.shown_at, ${visibleFrom(viewer)}) > ${since}
          ORDER BY greatest(t.updated_at, c.shown_at), t.id`,
        client.$queryRaw<{ id: string }[]>`
          SELECT template_id AS id FROM (${visiblePeriods(viewer)}) AS periods (template_id, until)
          GROUP BY template_id HAVING max(until) > ${since} AND max(until) < 'infinity'
          ORDER BY max(until), template_id`,
      ],
      { isolationLevel: 'RepeatableRead' },
    ),
  );
  const [row] = clock;
  if (!row) throw new Error('catalog_clock has no row');
  return { templates, removed, checked_at: row.at };
});
