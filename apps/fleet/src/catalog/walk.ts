import { CallError, type Category, type TemplateUpdates } from '@svc/contract';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Hub } from './hub.ts';
import { applyPage, type Moved } from './mirror.ts';

/** Templates and removals of one page. */
const PAGE_LIMIT = 250;
const START = 'start';

interface Run {
  readonly database: Database;
  readonly hub: Hub;
  /** Of the lease. */
  readonly owner: string;
}

/**
 * Brings the mirror to what the hub shows, from where the last run got to, page by page. What was applied stays applied
 * when a later call fails. @throws CallError, LeaseLost, FoundEmpty
 */
export async function walk(run: Run, { full }: { readonly full: boolean }): Promise<void> {
  await keepOrganization(run, (await run.hub.client.getOwnOrganization()).organization);
  const standing = await readStanding(run);
  let cursor = full ? START : (standing.cursor ?? START);
  let inFullWalk = standing.in_full_walk;
  let moved: Moved = { updated: 0, removed: 0 };
  for (let more = true; more; ) {
    const page = await askForPage(run, cursor);
    inFullWalk ||= page.reset;
    const isDue = !page.has_more && (inFullWalk || page.checked_at !== standing.checked_at?.toISOString());
    const categories = isDue ? await askForCategories(run) : undefined;
    moved = await applyPage(run.database, run.owner, { answered: { page, categories }, moved });
    cursor = page.cursor;
    more = page.has_more;
  }
}

/** Categories are asked for after the last page was answered, so that they are never older than its templates. */
const askForCategories = async ({ hub }: Run): Promise<readonly Category[]> =>
  (await hub.client.listCategories()).categories;

/** A cursor that the hub does not take is of no use any more: the mirror stays, and the next walk is a full one. */
async function askForPage({ database, hub, owner }: Run, cursor: string): Promise<TemplateUpdates> {
  try {
    const page = await hub.client.listTemplateUpdates({ query: { cursor, limit: PAGE_LIMIT } });
    // It would be asked for for ever.
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

/** The tier decides what may be deployed, so it is kept also when no template changed. */
const keepOrganization = ({ database, owner }: Run, organization: Organization) =>
  database.client.$executeRaw`
      UPDATE catalog_sync SET organization = ${JSON.stringify(organization)}::jsonb WHERE lease_owner = ${owner}::uuid`;

interface Standing {
  readonly cursor: string | null;
  readonly checked_at: Date | null;
  readonly in_full_walk: boolean;
}

async function readStanding({ database }: Run): Promise<Standing> {
  const select = Prisma.sql`SELECT cursor, checked_at, in_full_walk FROM catalog_sync`;
  const [row] = await database.client.$queryRaw<Standing[]>(select);
  if (!row) throw new Error('catalog_sync has no row');
  return row;
}
