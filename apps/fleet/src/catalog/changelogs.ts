import { CallError } from '@svc/contract';
import { MAX_CHANGES_LISTED } from '@svc/contract/fleet';
import type { Database } from '../database/client.ts';
import type { Hub } from './hub.ts';
import { readChangelogEntries } from './read.ts';

/** The maximum number of templates whose changelogs are read after a sync. The others follow after the next one. */
const MAX_READ = 100;

/**
 * Reads what the publishers say about the changes of the templates of which workloads are copies. They depend on since when the
 * organization sees a template, so the templates that a sync transfers do not contain them.
 * @throws CallError
 */
export async function readChangelogs(
  { client }: Database,
  hub: Hub,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const due = await client.$queryRaw<{ id: string; slug: string; revision: number }[]>`
    SELECT t.id, t.slug, (t.summary->>'revision')::int AS revision
    FROM catalog_templates t LEFT JOIN catalog_changelogs c ON c.template_id = t.id
    WHERE t.id IN (SELECT v.template_id FROM workload_revisions v WHERE v.template_id IS NOT NULL)
      AND (t.summary->>'revision') IS NOT NULL
      AND ((t.summary->>'revision')::int, ${hub.source}::text) IS DISTINCT FROM (c.revision, c.source)
    ORDER BY t.id LIMIT ${MAX_READ}`;
  for (const { id, slug, revision } of due) {
    if (isStopped()) return;
    const { entries } = await hub.client
      .getChangelog({ params: { slug }, query: { limit: String(MAX_CHANGES_LISTED) } })
      .catch(nothingFound);
    // The template can have left the mirror meanwhile.
    await client.$executeRaw`
      INSERT INTO catalog_changelogs (template_id, source, revision, entries)
      SELECT t.id, ${hub.source}::text, ${revision}::int, ${JSON.stringify(readChangelogEntries(entries))}::jsonb
      FROM catalog_templates t WHERE t.id = ${id}::uuid FOR KEY SHARE
      ON CONFLICT (template_id) DO UPDATE SET source = excluded.source, revision = excluded.revision, entries = excluded.entries`;
  }
}

/** A hub of an earlier version has no changelogs, and a template can be withdrawn meanwhile. */
function nothingFound(error: unknown): { readonly entries: readonly unknown[] } {
  if (error instanceof CallError && error.failure.kind === 'refused' && error.failure.status === 404)
    return { entries: [] };
  throw error;
}
