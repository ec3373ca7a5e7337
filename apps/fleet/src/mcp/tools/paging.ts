interface Pagination {
  readonly page: number;
  readonly total: number;
  readonly totalPages: number;
}

/** The members of a list that state its rest. */
export const restOf = ({ page, total, totalPages }: Pagination) => ({
  total,
  next_page: page < totalPages ? page + 1 : null,
});
