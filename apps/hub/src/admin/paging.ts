import { DEFAULT_PAGE_SIZE, paginationOf, wholePagination } from '@svc/contract';

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

/** The `pagination` member that goes with them. */
export const paginationFor = (asked: Asked, total: number) =>
  asked.page === undefined && asked.limit === undefined ? wholePagination(total) : paginationOf(pageOf(asked), total);

const pageOf = ({ page = 1, limit = DEFAULT_PAGE_SIZE }: Asked) => ({ page, limit });
