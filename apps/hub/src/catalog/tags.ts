import { fold } from '@svc/contract';
import { type Log, type PeriodicTask, runPeriodically } from '@svc/http';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';

/**
 * A condition that a template `t` has at least one of the tags, regardless of case. The index on
 * the tags of templates contains them as they are written, so the written forms are looked up
 * first.
 */
export const hasAnyTag = (tags: readonly string[]): Prisma.Sql => Prisma.sql`t.tags && ARRAY(
  SELECT tag FROM catalog_tags WHERE folded = ANY(${tags.map(fold)}::text[])
  UNION SELECT unnest(${tags}::text[]))`;

/** Stores the folded form of tags that the catalog has not had before. */
export async function registerTags(
  writer: Pick<Prisma.TransactionClient, 'catalogTag'>,
  tags: readonly string[],
): Promise<void> {
  if (tags.length === 0) return;
  // Sorted, so that writers do not deadlock.
  const data = [...new Set(tags)].sort().map((tag) => ({ tag, folded: fold(tag) }));
  await writer.catalogTag.createMany({ data, skipDuplicates: true });
}

const BATCH = 1000;

/**
 * Registers the tags of templates that version 0.1.0 wrote. @returns their number
 *
 * Delete after 0.2: this function and `startTagRegistration`.
 */
export async function registerStoredTags({ client }: Pick<Database, 'client'>): Promise<number> {
  for (let total = 0; ; ) {
    const rows = await client.$queryRaw<{ tag: string }[]>`
      SELECT DISTINCT s.tag FROM templates, unnest(tags) AS s(tag)
      WHERE NOT EXISTS (SELECT FROM catalog_tags c WHERE c.tag = s.tag) LIMIT ${BATCH}`;
    await registerTags(
      client,
      rows.map(({ tag }) => tag),
    );
    total += rows.length;
    if (rows.length < BATCH) return total;
  }
}

const HOUR_MS = 3_600_000;

/**
 * Registers stored tags at the start, and then hourly, because replicas of version 0.1.0 can run
 * during an upgrade.
 */
export const startTagRegistration = ({
  database,
  log,
}: {
  readonly database: Database;
  readonly log: Log;
}): PeriodicTask =>
  runPeriodically(0, async () => {
    try {
      const tags = await registerStoredTags(database);
      if (tags > 0) log.info({ tags }, 'tags registered');
    } catch (error) {
      log.warn({ err: error }, 'registering tags failed; will retry in an hour');
    }
    return HOUR_MS;
  });
