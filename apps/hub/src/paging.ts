import { DEFAULT_PAGE_SIZE, paginationOf, wholePagination } from '@svc/contract';
import { Prisma } from './generated/prisma/client.ts';

interface Asked {
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
}

/** Which rows a list answers: all of them, unless a page was asked for. */
export function rowsOf(asked: Asked): { readonly skip?: number; readonly take?: number } {
  if (asked.page === undefined && asked.limit === undefined) return {};
  const { page, limit } = pageOf(asked);
  return { skip: (page - 1) * limit, take: limit };
}

/** The same as SQL. */
export function limits(asked: Asked): Prisma.Sql {
  const { skip, take } = rowsOf(asked);
  return take === undefined ? Prisma.empty : Prisma.sql`LIMIT ${take} OFFSET ${skip}`;
}

/** The `pagination` member that goes with them. */
export const paginationFor = (asked: Asked, total: number) =>
  asked.page === undefined && asked.limit === undefined ? wholePagination(total) : paginationOf(pageOf(asked), total);

const pageOf = ({ page = 1, limit = DEFAULT_PAGE_SIZE }: Asked) => ({ page, limit });
