/** The most rows of a page that all lists allow. */
const PAGE_SIZE = 100;

interface Page<T> {
  readonly rows: readonly T[];
  readonly totalPages: number;
}

/** All rows of a list, which is read page by page. */
export async function allPages<T>(read: (query: { page: number; limit: number }) => Promise<Page<T>>): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { rows, totalPages } = await read({ page, limit: PAGE_SIZE });
    all.push(...rows);
    pages = totalPages;
  }
  return all;
}
