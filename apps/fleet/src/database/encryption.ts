import { Prisma } from '../generated/prisma/client.ts';
import { type Sealer, UnknownKey } from '../sealing.ts';
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
async function keysInUse({ client }: Database): Promise<readonly string[]> {
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

const PLACE = { table: 'encryption_canary', column: 'sealed', row: '1' };

/**
 * Refuses a start with encryption keys that are not this database's, or not all of them. The first start leaves the canary;
 * the first one with another key in front seals it with that, so that whoever starts next must have the same one.
 */
export async function checkEncryptionKeys(database: Database, sealer: Sealer): Promise<void> {
  const { client } = database;
  const sealed = await sealer.seal(PLACE, CANARY);
  const mine = { sealed, sealed_with: sealer.kid };
  await client.encryptionCanary.createMany({ data: { id: 1, ...mine }, skipDuplicates: true });
  const found = await openCanary(database, sealer);
  for (const kid of await keysInUse(database)) if (!sealer.knows(kid)) throw new UnknownKey(kid);
  if (found.sealed_with === sealer.kid) return;
  await client.encryptionCanary.updateMany({ where: { id: 1, sealed: found.sealed }, data: mine });
  await openCanary(database, sealer); // another replica may have been first
}

const CANARY = 'canary';

async function openCanary({ client }: Database, sealer: Sealer) {
  const canary = await client.encryptionCanary.findUniqueOrThrow({ where: { id: 1 } });
  await sealer.open(PLACE, canary.sealed).catch((cause: unknown) => {
    if (cause instanceof UnknownKey) throw cause;
    throw new Error('ENCRYPTION_KEYS has a key of the right name, but it is not the one of this database.', { cause });
  });
  return canary;
}
