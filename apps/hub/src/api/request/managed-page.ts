import { offsetOf } from '@svc/contract';
import { invalid, Problem, replyWithPage } from '@svc/http';
import type { z } from 'zod';
import { idsOfPage, type Paging } from '../../catalog/filters.ts';
import type { CachedObjects } from '../../catalog/memory/cached-catalog.ts';
import type { Viewer } from '../../identity/principal.ts';
import { largeReadsOf, type RequestContext } from './context.ts';

interface PageQuery extends Paging {
  readonly q?: string | undefined;
  readonly search?: string | undefined;
  readonly org_id?: string | undefined;
  /** The organization whose view the page has. */
  readonly as?: string | undefined;
}

interface ManagedPage {
  /** The ids of the page, in its order. */
  readonly ids: readonly string[];
  /** The number of objects on all pages. */
  readonly total: number;
}

/**
 * A page of the objects that have words, or that an organization sees by the rule that its API keys are subject to.
 * @throws 400, 422
 */
export async function readManagedPage(
  { database, revision }: RequestContext,
  objects: CachedObjects,
  { q, search, org_id, as: orgId, page, limit }: PageQuery,
): Promise<ManagedPage> {
  if (orgId !== undefined) {
    if (org_id !== undefined) throw invalid([{ path: 'as', message: 'must not be combined with org_id' }]);
    const organization = await database.client.organization.findUnique({ where: { id: orgId }, select: { id: true } });
    if (!organization) throw new Problem('unknown_organization', 'No organization has the id in as.');
  }
  const viewer: Viewer = orgId === undefined ? { kind: 'administrator' } : { kind: 'organization', orgId };
  if (!q) {
    const rows = await database.client.$queryRaw<{ total: number; id: string | null }[]>(
      idsOfPage(objects.kind, viewer, { search, owner: org_id, page, limit }),
    );
    return { ids: rows.flatMap(({ id }) => id ?? []), total: rows[0]?.total ?? 0 };
  }
  const all = await objects.lists.find({ viewer, revision: await revision() }, { q, search });
  const found = all.filter(({ group }) => org_id === undefined || group.ownerOrgId === org_id);
  const start = offsetOf({ page, limit });
  return { ids: found.slice(start, start + limit).map(({ id }) => id), total: found.length };
}

/** A row of a page, and its size in bytes. */
interface Sized {
  readonly id: string;
  readonly weight: number;
}

interface ObjectsOfPage<Row extends { readonly id: string }, Item, Reply> {
  /** The rows of the page, in its order. */
  readonly keys: readonly Sized[];
  /** Reads rows with these ids in one snapshot, in any order. */
  readonly find: (ids: string[]) => Promise<readonly Row[]>;
  readonly present: (row: Row) => Item;
  /** The schema of an item in the reply. */
  readonly element: z.ZodType<unknown, Item>;
  readonly compose: (items: Item[]) => Reply;
}

/** The reply with a page of objects of the catalog. @throws 413, 503 */
export const replyWithObjects = <Row extends { readonly id: string }, Item, Reply>(
  context: RequestContext,
  { keys, find, present, element, compose }: ObjectsOfPage<Row, Item, Reply>,
) =>
  replyWithPage(largeReadsOf(context), {
    sizes: keys.map(({ id: key, weight: bytes }) => ({ key, bytes })),
    read: async (ids) => {
      const rows = new Map((await find([...ids])).map((row) => [row.id, row]));
      return ids.flatMap((id) => rows.get(id) ?? []).map(present);
    },
    element,
    compose,
  });
