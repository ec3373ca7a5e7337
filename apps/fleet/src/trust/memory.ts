import type { History, Remembered } from '@svc/trust';
import type { Prisma } from '../generated/prisma/client.ts';

type Transaction = Prisma.TransactionClient;

/** What was verified before of the content that `keyOf` of its kind names `slug`. With `lock`, another transaction waits that would compare the same. */
export async function readHistory(
  transaction: Pick<Transaction, '$executeRaw' | '$queryRaw'>,
  slug: string,
  { lock }: { lock: boolean },
): Promise<History> {
  if (lock) {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`trust ${slug}`}, 0))`;
  }
  const historyOf = await readHistories(transaction, [slug]);
  return historyOf(slug);
}

/**
 * What was verified of several slugs before. The statements are written out: Prisma would plan a list of values for each of its lengths.
 * @returns the history of each of them
 */
export async function readHistories(
  client: Pick<Transaction, '$queryRaw'>,
  slugs: readonly string[],
): Promise<(slug: string) => History> {
  const rows = await client.$queryRaw<(Omit<Remembered, 'serial'> & { readonly serial: bigint })[]>`
    SELECT publisher, slug, kid, serial, content FROM trust_memory WHERE slug = ANY(${slugs})`;
  const remembered = Map.groupBy(
    rows.map(({ serial, ...row }) => ({ ...row, serial: Number(serial) })),
    ({ slug }) => slug,
  );
  const owners = await client.$queryRaw<{ readonly slug: string; readonly publisher: string }[]>`
    SELECT slug, publisher FROM trust_slugs WHERE slug = ANY(${slugs})`;
  const ownerOf = new Map(owners.map(({ slug, publisher }) => [slug, publisher]));
  return (slug) => ({ remembered: remembered.get(slug) ?? [], owner: ownerOf.get(slug) });
}

/** Remembers what was verified. The first publisher of a slug stays its publisher. */
export async function remember(
  transaction: Transaction,
  { publisher, slug, kid, serial, content }: Remembered,
): Promise<void> {
  await transaction.$executeRaw`
    INSERT INTO trust_memory (publisher, slug, kid, serial, content)
    VALUES (${publisher}, ${slug}, ${kid}, ${serial}::bigint, ${content})
    ON CONFLICT (slug, publisher, kid) DO UPDATE SET serial = excluded.serial, content = excluded.content
    WHERE excluded.serial > trust_memory.serial`;
  await transaction.$executeRaw`
    INSERT INTO trust_slugs (slug, publisher) VALUES (${slug}, ${publisher}) ON CONFLICT DO NOTHING`;
}
