import type { Category, TemplateUpdates } from '@svc/contract';
import type { Database } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { dropTemplates, replaceCategories, storeTemplates, sweep, wouldEmpty } from './mirror.ts';

const APPLY_TIMEOUT_MS = 60_000;

/** Another run has the lease by now: this one may write no more. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/** A full walk found nothing where the mirror has something: believed when it is found twice. */
export class FoundEmpty extends Error {
  override name = 'FoundEmpty';
}

/** What a run moved so far. */
export interface Moved {
  readonly updated: number;
  readonly removed: number;
}

/** What the hub answered, as it is stored. */
export interface Answered {
  readonly page: TemplateUpdates;
  /** What the categories were after a last page was answered; undefined where they need not be replaced. */
  readonly categories: readonly Category[] | undefined;
}

interface Standing {
  readonly generation: number;
  readonly in_full_walk: boolean;
  readonly found_empty: boolean;
}

/**
 * Stores one page, with the cursor after it, in one transaction. The last page of a full walk drops what none of its pages
 * named. @throws LeaseLost; FoundEmpty, and then the next walk is a full one
 */
export async function applyPage(
  database: Database,
  owner: string,
  { answered, moved }: { readonly answered: Answered; readonly moved: Moved },
): Promise<Moved> {
  const { page, categories } = answered;
  const apply = async (transaction: Prisma.TransactionClient): Promise<Moved | 'found empty'> => {
    const standing = await lockStanding(transaction, owner);
    const generation = standing.generation + (page.reset ? 1 : 0);
    const inFullWalk = page.reset || standing.in_full_walk;
    await storeTemplates(transaction, page.templates, generation);
    const updated = moved.updated + page.templates.length;
    const removed = moved.removed + (await dropTemplates(transaction, idsOf(page.removed)));
    if (page.has_more) {
      await transaction.$executeRaw`
        UPDATE catalog_sync SET cursor = ${page.cursor}, generation = ${generation}, in_full_walk = ${inFullWalk}`;
      return { updated, removed };
    }
    if (inFullWalk && !standing.found_empty && (await wouldEmpty(transaction, generation))) {
      await transaction.$executeRaw`
        UPDATE catalog_sync SET cursor = NULL, generation = ${generation}, in_full_walk = false, found_empty = true`;
      return 'found empty';
    }
    const swept = inFullWalk ? await sweep(transaction, generation) : 0;
    if (categories) await replaceCategories(transaction, categories);
    await transaction.$executeRaw`
      UPDATE catalog_sync SET cursor = ${page.cursor}, checked_at = ${new Date(page.checked_at)},
        generation = ${generation}, in_full_walk = false, found_empty = false, last_success_at = now(),
        last_full = ${inFullWalk}, last_updated = ${updated}, last_removed = ${removed + swept},
        stale_since = NULL, failures = 0`;
    return { updated, removed: removed + swept };
  };
  const result = await database.mirrorWriter.$transaction(apply, { timeout: APPLY_TIMEOUT_MS, maxWait: 5000 });
  if (result === 'found empty') throw new FoundEmpty();
  return result;
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

async function lockStanding(transaction: Prisma.TransactionClient, owner: string): Promise<Standing> {
  const [standing] = await transaction.$queryRaw<Standing[]>`
    SELECT generation, in_full_walk, found_empty FROM catalog_sync WHERE lease_owner = ${owner}::uuid FOR UPDATE`;
  if (!standing) throw new LeaseLost();
  return standing;
}
