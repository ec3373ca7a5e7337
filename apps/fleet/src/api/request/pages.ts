import type { pagination } from '@svc/contract';
import { type LargeReads, type Rendered, type RenderedParts, replyWithPage } from '@svc/http';
import type { z } from 'zod';
import type { ListQuery, ListRules } from '../../database/lists.ts';
import { callerKey } from '../../identity/principal.ts';
import { type Kind, listRows, type ResourceRow, readRows } from '../../resources/kind.ts';
import type { RequestContext } from './context.ts';

/** How the caller of a request reads large pages. */
export const largeReadsOf = ({
  pageQueue,
  principal,
  refuseLargeRead,
}: Pick<RequestContext, 'pageQueue' | 'principal' | 'refuseLargeRead'>): LargeReads => ({
  inTurn: (work, bytes) => pageQueue.run(callerKey(principal), work, bytes),
  refuse: refuseLargeRead,
});

type Pagination = z.input<typeof pagination>;

/** A list of resources of a kind. */
interface ResourceList<Row extends ResourceRow, Q extends ListQuery, Item, Reply> {
  readonly kind: Kind<Row>;
  readonly rules: ListRules<Q>;
  readonly present: (row: Row) => Item;
  readonly element: z.ZodType<unknown, Item>;
  readonly compose: (items: Item[], pagination: Pagination) => Reply;
}

/** The reply with a page of resources. @throws 413, 503 */
export async function replyWithResources<Row extends ResourceRow, Q extends ListQuery, Item, Reply>(
  context: RequestContext,
  { kind, rules, present, element, compose }: ResourceList<Row, Q, Item, Reply>,
  query: Q,
): Promise<Reply | Rendered | RenderedParts> {
  const { client } = context.database;
  const { sizes, rows, pagination } = await listRows(client, kind, rules, query);
  return replyWithPage(largeReadsOf(context), {
    sizes,
    items: rows?.map(present),
    read: async (ids) => {
      const read = new Map((await readRows(client, kind, ids)).map((row) => [row.id, row]));
      return ids.flatMap((id) => read.get(id) ?? []).map(present);
    },
    element,
    compose: (items) => compose(items, pagination),
  });
}
