import { Prisma } from '../generated/prisma/client.ts';
import type { Database } from './client.ts';

/** Where sealed values stand: every column of them, and what names its rows. `sealed_with` stands beside each. */
const COLUMNS = [
  { table: 'encryption_canary', column: 'sealed', key: 'id' },
  { table: 'signing_keys', column: 'private_jwk', key: 'kid' },
  { table: 'settings', column: 'sealed', key: 'name' },
  { table: 'sessions', column: 'provider_token', key: 'id' },
  { table: 'hosts', column: 'sealed', key: 'id' },
  { table: 'clusters', column: 'sealed', key: 'id' },
  { table: 'secrets', column: 'sealed', key: 'id' },
  { table: 'sign_in_transactions', column: 'sealed', key: 'state_hash' },
] as const;

export type SealedColumn = (typeof COLUMNS)[number];

export interface SealedValue {
  readonly row: string;
  readonly sealed: string;
}

export const sealedColumns: readonly SealedColumn[] = COLUMNS;

/** The ids of all keys with which anything is sealed. */
export async function keysInUse({ client }: Database): Promise<readonly string[]> {
  const each = COLUMNS.map(
    ({ table }) => Prisma.sql`SELECT sealed_with FROM ${Prisma.raw(table)} WHERE sealed_with IS NOT NULL`,
  );
  const rows = await client.$queryRaw<{ sealed_with: string }[]>(Prisma.join(each, ' UNION '));
  return rows.map(({ sealed_with }) => sealed_with);
}

/** Some values that another key than this one sealed. */
export const sealedOtherwise = (
  { client }: Database,
  { table, column, key }: SealedColumn,
  { kid, limit }: { readonly kid: string; readonly limit: number },
): Promise<SealedValue[]> =>
  client.$queryRaw<SealedValue[]>`
    SELECT ${Prisma.raw(key)}::text AS row, ${Prisma.raw(column)} AS sealed FROM ${Prisma.raw(table)}
    WHERE sealed_with <> ${kid} ORDER BY ${Prisma.raw(key)} LIMIT ${limit}`;

/** Puts a value in the place of one that is still there. */
export const replaceSealed = (
  { client }: Database,
  { table, column, key }: SealedColumn,
  {
    row,
    before,
    after,
    kid,
  }: { readonly row: string; readonly before: string; readonly after: string; readonly kid: string },
): Promise<number> =>
  client.$executeRaw`
    UPDATE ${Prisma.raw(table)} SET ${Prisma.raw(column)} = ${after}, sealed_with = ${kid}
    WHERE ${Prisma.raw(key)}::text = ${row} AND ${Prisma.raw(column)} = ${before}`;
