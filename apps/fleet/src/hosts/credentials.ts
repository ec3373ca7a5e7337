/** Where the credentials of a host are sealed for. */
export const placeOfCredentials = (row: string) => ({ table: 'hosts', column: 'sealed', row });
