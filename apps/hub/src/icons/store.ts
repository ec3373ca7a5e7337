import { hash } from 'node:crypto';
import type { Database } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';

type Client = Database['client'];

/** A file that is an icon. */
export interface Image {
  readonly data: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/**
 * Requests that the icons of templates are fetched, in the transaction that writes their
 * `icon_url`. An icon that is stored for the same URL is kept.
 */
export async function requestIcons(transaction: Prisma.TransactionClient, slugs: readonly string[]): Promise<void> {
  if (slugs.length === 0) return;
  await transaction.$executeRaw`
    DELETE FROM template_icons i USING templates t
    WHERE t.id = i.template_id AND t.icon_url IS NULL AND t.slug = ANY (${[...slugs]}::text[])`;
  await transaction.$executeRaw`
    INSERT INTO template_icons AS i (template_id, url)
    SELECT id, icon_url FROM templates WHERE icon_url IS NOT NULL AND slug = ANY (${[...slugs]}::text[])
    ON CONFLICT (template_id) DO UPDATE
      SET url = excluded.url, digest = NULL, attempts = 0, next_attempt_at = transaction_timestamp()
      WHERE i.url <> excluded.url OR i.digest IS NULL`;
}

/** An icon that is to be fetched. */
interface RequestedIcon {
  readonly template_id: string;
  readonly slug: string;
  readonly url: string;
}

/** The pauses after failed attempts, in minutes. After the last one, the icon is not fetched again. */
const PAUSES = [1, 10] as const;

/**
 * Takes the next icon that is to be fetched. Until it is stored, the next attempt is due as after a
 * failure, so that a replica that ends meanwhile loses nothing.
 */
export async function takeRequestedIcon(client: Client): Promise<RequestedIcon | undefined> {
  const [first, second] = PAUSES;
  const [found] = await client.$queryRaw<RequestedIcon[]>`
    UPDATE template_icons i
    SET attempts = attempts + 1,
      next_attempt_at = now() + CASE attempts
        WHEN 0 THEN ${first} * interval '1 minute' WHEN 1 THEN ${second} * interval '1 minute' END
    FROM templates t
    WHERE t.id = i.template_id AND i.template_id = (
      SELECT template_id FROM template_icons WHERE next_attempt_at <= now()
      ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING i.template_id, t.slug, i.url`;
  return found;
}

/** Stores an icon, unless another URL was written meanwhile. */
export async function storeIcon(
  client: Client,
  { template_id, url }: RequestedIcon,
  { data, type }: Image,
): Promise<void> {
  const digest = hash('sha256', data, 'hex');
  await client.$transaction(async (transaction) => {
    const { count } = await transaction.templateIcon.updateMany({
      where: { template_id, url },
      data: { next_attempt_at: null },
    });
    if (count === 0) return;
    await transaction.icon.createMany({ data: [{ digest, type, data }], skipDuplicates: true });
    await transaction.templateIcon.update({ where: { template_id }, data: { digest } });
  });
}

/** Deletes the icons that no template shows. @returns their number */
export const deleteUnusedIcons = (client: Client): Promise<number> => client.$executeRaw`
  DELETE FROM icons i WHERE NOT EXISTS (SELECT FROM template_icons t WHERE t.digest = i.digest)`;

/** The icon of a template with its digest; undefined if none is stored for its `icon_url`. */
export async function readIcon(client: Client, templateId: string) {
  const found = await client.templateIcon.findUnique({
    where: { template_id: templateId },
    select: { url: true, icon: true, template: { select: { icon_url: true } } },
  });
  // A version without icons can have written another URL.
  return found?.icon && found.url === found.template.icon_url ? found.icon : undefined;
}
