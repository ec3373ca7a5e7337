import { CallError } from '@svc/contract';
import { MAX_CHANGES_LISTED } from '@svc/contract/fleet';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Hub } from './hub.ts';
import { readChangelogEntries } from './read.ts';

/** The maximum number of objects of a kind whose changelogs are read after a sync. The others follow after the next one. */
const MAX_READ = 100;

/** Objects of the mirror of which the fleet has copies. */
interface Copied {
  readonly call: 'getChangelog' | 'getApplicationChangelog';
  readonly mirror: Prisma.Sql;
  readonly changelogs: Prisma.Sql;
  /** The id of an object in `changelogs`. */
  readonly id: Prisma.Sql;
  /** A query of the ids of the objects that were copied. */
  readonly copies: Prisma.Sql;
}

const templates: Copied = {
  call: 'getChangelog',
  mirror: Prisma.sql`catalog_templates`,
  changelogs: Prisma.sql`catalog_changelogs`,
  id: Prisma.sql`template_id`,
  copies: Prisma.sql`SELECT v.template_id FROM workload_revisions v WHERE v.template_id IS NOT NULL`,
};

const applications: Copied = {
  call: 'getApplicationChangelog',
  mirror: Prisma.sql`catalog_applications`,
  changelogs: Prisma.sql`catalog_application_changelogs`,
  id: Prisma.sql`application_id`,
  copies: Prisma.sql`SELECT s.catalog_id FROM application_specs s WHERE s.catalog_id IS NOT NULL`,
};

/**
 * Reads what the publishers say about the changes of the templates and applications of which the fleet has copies. They depend on since
 * when the organization sees an object, so the objects that a sync transfers do not contain them.
 * @throws CallError
 */
export async function readChangelogs(
  database: Database,
  hub: Hub,
  isStopped: () => boolean = () => false,
): Promise<void> {
  for (const copied of [templates, applications]) await readChangelogsOf(copied, { database, hub, isStopped });
}

interface Reading {
  readonly database: Database;
  readonly hub: Hub;
  readonly isStopped: () => boolean;
}

async function readChangelogsOf(copied: Copied, { database: { client }, hub, isStopped }: Reading): Promise<void> {
  const { call, mirror, changelogs, id: column, copies } = copied;
  const due = await client.$queryRaw<{ id: string; slug: string; revision: number }[]>`
    SELECT t.id, t.slug, (t.summary->>'revision')::int AS revision
    FROM ${mirror} t LEFT JOIN ${changelogs} c ON c.${column} = t.id
    WHERE t.id IN (${copies})
      AND (t.summary->>'revision') IS NOT NULL
      AND ((t.summary->>'revision')::int, ${hub.source}::text) IS DISTINCT FROM (c.revision, c.source)
    ORDER BY t.id LIMIT ${MAX_READ}`;
  for (const { id, slug, revision } of due) {
    if (isStopped()) return;
    const { entries } = await hub.client[call]({
      params: { slug },
      query: { limit: String(MAX_CHANGES_LISTED) },
    }).catch(nothingFound);
    // The object can have left the mirror meanwhile.
    await client.$executeRaw`
      INSERT INTO ${changelogs} (${column}, source, revision, entries)
      SELECT t.id, ${hub.source}::text, ${revision}::int, ${JSON.stringify(readChangelogEntries(entries))}::jsonb
      FROM ${mirror} t WHERE t.id = ${id}::uuid FOR KEY SHARE
      ON CONFLICT (${column}) DO UPDATE SET source = excluded.source, revision = excluded.revision, entries = excluded.entries`;
  }
}

/** A hub of an earlier version has no changelogs, and an object can be withdrawn meanwhile. */
function nothingFound(error: unknown): { readonly entries: readonly unknown[] } {
  if (error instanceof CallError && error.failure.kind === 'refused' && error.failure.status === 404)
    return { entries: [] };
  throw error;
}
