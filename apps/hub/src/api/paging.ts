import { completePagination, DEFAULT_PAGE_SIZE, offsetOf, paginationOf } from '@svc/contract';
import { Prisma } from '../generated/prisma/client.ts';

interface PageQuery {
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
}

/** Whether the complete list is requested. */
export const isComplete = ({ page, limit }: PageQuery): boolean => page === undefined && limit === undefined;

/** The rows of a list as Prisma arguments: all rows, unless `page` or `limit` is given. */
export function rowsOf(query: PageQuery): { readonly skip?: number; readonly take?: number } {
  if (isComplete(query)) return {};
  const page = pageOf(query);
  return { skip: offsetOf(page), take: page.limit };
}

/** The rows of a list as an SQL clause. */
export function limitClause(query: PageQuery): Prisma.Sql {
  const { skip, take } = rowsOf(query);
  return take === undefined ? Prisma.empty : Prisma.sql`LIMIT ${take} OFFSET ${skip}`;
}

/** The `pagination` member of the reply. */
export const paginationFor = (query: PageQuery, total: number) =>
  isComplete(query) ? completePagination(total) : paginationOf(pageOf(query), total);

const pageOf = ({ page = 1, limit = DEFAULT_PAGE_SIZE }: PageQuery) => ({ page, limit });
