import { hubEndpoints } from '@svc/contract/hub';
import { route } from '../context.ts';
import { translated } from '../database/constraints.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Viewer } from '../principal.ts';
import { type TemplateRow, templateColumns, templateSources } from './template-rows.ts';
import { endedSince, touchedSince, visibleFrom, visiblePeriods, visibleTemplates } from './visibility.ts';

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
        client.$queryRaw<TemplateRow[]>(changedTemplates(viewer, since)),
        client.$queryRaw<{ id: string }[]>(removedTemplates(viewer, since)),
      ],
      { isolationLevel: 'RepeatableRead' },
    ),
  );
  const [row] = clock;
  if (!row) throw new Error('catalog_clock has no row');
  return { templates, removed, checked_at: row.at };
});

/** What the viewer sees now, and changed or became visible after a moment. */
export const changedTemplates = (viewer: Viewer, since: Date): Prisma.Sql => Prisma.sql`
  SELECT ${templateColumns} FROM ${templateSources}
  WHERE ${visibleTemplates(viewer)} AND ${touchedSince(viewer, since)}
    AND greatest(t.updated_at, c.shown_at, ${visibleFrom(viewer)}) > ${since}
  ORDER BY greatest(t.updated_at, c.shown_at), t.id`;

/** What the viewer stopped seeing after a moment, and does not see now. */
export const removedTemplates = (viewer: Viewer, since: Date): Prisma.Sql => Prisma.sql`
  SELECT template_id AS id FROM (${visiblePeriods(viewer)}) AS periods (template_id, until)
  WHERE template_id = ANY (ARRAY(${endedSince(viewer, since)}))
  GROUP BY template_id HAVING max(until) > ${since} AND max(until) < 'infinity'
  ORDER BY max(until), template_id`;
