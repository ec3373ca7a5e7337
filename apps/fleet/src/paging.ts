/** Which rows a page of a list has. */
export const rowsOf = ({ page, limit }: { readonly page: number; readonly limit: number }) => ({
  skip: (page - 1) * limit,
  take: limit,
});
