import { CallError, type Category, type TemplateUpdates } from '@svc/contract';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Hub } from './hub.ts';
import { applyPage, type SyncCounts } from './mirror.ts';

/** The maximum number of templates and removals in a page. */
const PAGE_LIMIT = 250;
const START = 'start';

interface SyncRun {
  readonly database: Database;
  readonly hub: Hub;
  /** The owner of the lease. */
  readonly owner: string;
}

/**
 * Updates the mirror page by page, from the position of the last run. Applied pages remain applied if a later call
 * fails.
 * @throws CallError, LeaseLost, EmptyCatalog
 */
export async function walk(run: SyncRun, { full }: { readonly full: boolean }): Promise<void> {
  await storeOrganization(run, (await run.hub.client.getOwnOrganization()).organization);
  const progress = await readProgress(run);
  let cursor = full ? START : (progress.cursor ?? START);
  let inFullWalk = progress.in_full_walk;
  let counts: SyncCounts = { updated: 0, removed: 0 };
  for (let hasMore = true; hasMore; ) {
    const page = await fetchPage(run, cursor);
    inFullWalk ||= page.reset;
    const isDue = !page.has_more && (inFullWalk || page.checked_at !== progress.checked_at?.toISOString());
    const categories = isDue ? await fetchCategories(run) : undefined;
    counts = await applyPage(run.database, run.owner, { response: { page, categories }, counts });
    cursor = page.cursor;
    hasMore = page.has_more;
  }
}

/**
 * Fetches the categories. It is called after the last page was received, so that they are never older than the
 * templates.
 */
const fetchCategories = async ({ hub }: SyncRun): Promise<readonly Category[]> =>
  (await hub.client.listCategories()).categories;

/**
 * Fetches a page. If the hub rejects the cursor, it is deleted: the mirror remains, and the next walk is a full walk.
 */
async function fetchPage({ database, hub, owner }: SyncRun, cursor: string): Promise<TemplateUpdates> {
  try {
    const page = await hub.client.listTemplateUpdates({ query: { cursor, limit: PAGE_LIMIT } });
    // A cursor that does not advance would lead to an endless loop.
    if (page.has_more && page.cursor === cursor) throw new CallError('updates', { kind: 'unreadable', status: 200 });
    return page;
  } catch (error) {
    if (cursor !== START && error instanceof CallError && isBadRequest(error)) {
      await database.client.$executeRaw`UPDATE catalog_sync SET cursor = NULL WHERE lease_owner = ${owner}::uuid`;
    }
    throw error;
  }
}

const isBadRequest = ({ failure }: CallError) => failure.kind === 'refused' && failure.status === 400;

type Organization = Awaited<ReturnType<Hub['client']['getOwnOrganization']>>['organization'];

/** Stores the organization at each sync, even if no template changed, because its tier decides what can be deployed. */
const storeOrganization = ({ database, owner }: SyncRun, organization: Organization) =>
  database.client.$executeRaw`
      UPDATE catalog_sync SET organization = ${JSON.stringify(organization)}::jsonb WHERE lease_owner = ${owner}::uuid`;

interface SyncProgress {
  readonly cursor: string | null;
  readonly checked_at: Date | null;
  readonly in_full_walk: boolean;
}

async function readProgress({ database }: SyncRun): Promise<SyncProgress> {
  const select = Prisma.sql`SELECT cursor, checked_at, in_full_walk FROM catalog_sync`;
  const [row] = await database.client.$queryRaw<SyncProgress[]>(select);
  if (!row) throw new Error('catalog_sync has no row');
  return row;
}
