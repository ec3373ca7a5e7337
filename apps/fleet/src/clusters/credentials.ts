/** Where the credentials of a cluster are sealed for. */
export const placeOfCredentials = (row: string) => ({ table: 'clusters', column: 'sealed', row });
