import { Prisma } from '../generated/prisma/client.ts';
import type { Database } from './client.ts';
import { type Sealer, UnknownKey } from './sealing.ts';

/**
 * All columns with sealed values, with the key column of the table. Each table also has the column
 * `key_id`.
 */
const COLUMNS = [
  { table: 'encryption_canary', column: 'sealed', key: 'id' },
  { table: 'signing_keys', column: 'private_jwk', key: 'kid' },
  { table: 'settings', column: 'sealed', key: 'name' },
  { table: 'sessions', column: 'provider_token', key: 'id' },
  { table: 'hosts', column: 'sealed', key: 'id' },
  { table: 'clusters', column: 'sealed', key: 'id' },
  { table: 'secrets', column: 'sealed', key: 'id' },
  { table: 'sealed_values', column: 'sealed', key: 'id' },
  { table: 'webhooks', column: 'sealed', key: 'id' },
  { table: 'sources', column: 'sealed', key: 'id' },
  { table: 'sign_in_transactions', column: 'sealed', key: 'state_hash' },
] as const;

export type SealedColumn = (typeof COLUMNS)[number];

export interface SealedValue {
  readonly row: string;
  readonly sealed: string;
}

export const sealedColumns: readonly SealedColumn[] = COLUMNS;

/** The ids of all keys with which values are sealed. */
async function keysInUse({ client }: Database): Promise<readonly string[]> {
  const each = COLUMNS.map(({ table }) => Prisma.sql`SELECT key_id FROM ${Prisma.raw(table)} WHERE key_id IS NOT NULL`);
  const rows = await client.$queryRaw<{ key_id: string }[]>(Prisma.join(each, ' UNION '));
  return rows.map(({ key_id }) => key_id);
}

/** Values that are sealed with another key than `kid`, at most `limit`. */
export const readSealedWithOtherKeys = (
  { client }: Database,
  { table, column, key }: SealedColumn,
  { kid, limit }: { readonly kid: string; readonly limit: number },
): Promise<SealedValue[]> =>
  client.$queryRaw<SealedValue[]>`
    SELECT ${Prisma.raw(key)}::text AS row, ${Prisma.raw(column)} AS sealed FROM ${Prisma.raw(table)}
    WHERE key_id <> ${kid} ORDER BY ${Prisma.raw(key)} LIMIT ${limit}`;

/** Replaces a sealed value, unless it has changed. @returns the number of changed rows */
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
    UPDATE ${Prisma.raw(table)} SET ${Prisma.raw(column)} = ${after}, key_id = ${kid}
    WHERE ${Prisma.raw(key)}::text = ${row} AND ${Prisma.raw(column)} = ${before}`;

const CANARY_LOCATION = { table: 'encryption_canary', column: 'sealed', row: '1' };

/**
 * Checks at start that the configured encryption keys belong to this database and are complete. The
 * first start stores the canary. The first start with a new first key seals the canary with it, so
 * that all later starts need that key.
 *
 * @throws UnknownKey for a missing key; Error for a key with the expected id but another value
 */
export async function checkEncryptionKeys(database: Database, sealer: Sealer): Promise<void> {
  const { client } = database;
  const sealed = await sealer.seal(CANARY_LOCATION, CANARY);
  const current = { sealed, key_id: sealer.kid };
  await client.encryptionCanary.createMany({ data: { id: 1, ...current }, skipDuplicates: true });
  const found = await openCanary(database, sealer);
  for (const kid of await keysInUse(database)) if (!sealer.knows(kid)) throw new UnknownKey(kid);
  if (found.key_id === sealer.kid) return;
  await client.encryptionCanary.updateMany({ where: { id: 1, sealed: found.sealed }, data: current });
  await openCanary(database, sealer); // another replica can have replaced it first
}

/**
 * Checks that the key that currently encrypts is configured in this replica. It is not if another
 * replica started with a new first key before this one knew the key. @throws UnknownKey
 */
export async function checkCurrentKey({ client }: Database, sealer: Sealer): Promise<void> {
  const { key_id } = await client.encryptionCanary.findUniqueOrThrow({ where: { id: 1 }, select: { key_id: true } });
  if (!sealer.knows(key_id)) throw new UnknownKey(key_id);
}

/**
 * Checks the configured encryption keys like `checkEncryptionKeys`, without a change.
 * @returns the ids of the keys that are in use; undefined if no fleet has used the database yet
 */
export async function inspectEncryptionKeys(
  database: Database,
  sealer: Sealer,
): Promise<readonly string[] | undefined> {
  if ((await database.client.encryptionCanary.count()) === 0) return undefined;
  await openCanary(database, sealer);
  const used = await keysInUse(database);
  for (const kid of used) if (!sealer.knows(kid)) throw new UnknownKey(kid);
  return used;
}

const CANARY = 'canary';

async function openCanary({ client }: Database, sealer: Sealer) {
  const canary = await client.encryptionCanary.findUniqueOrThrow({ where: { id: 1 } });
  await sealer.open(CANARY_LOCATION, canary.sealed).catch((cause: unknown) => {
    if (cause instanceof UnknownKey) throw cause;
    throw new Error('ENCRYPTION_KEYS has a key with the expected id, but it is not the key of this database.', {
      cause,
    });
  });
  return canary;
}
