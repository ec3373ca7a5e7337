import { type Sealer, UnknownKey } from '../sealing.ts';
import type { Database } from './client.ts';
import { keysInUse } from './sealed-columns.ts';

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
