import type { Sealer } from '@svc/database';
import { writeCommandEntries } from '../audit/entry.ts';
import type { Database } from '../database/client.ts';
import { encryptionOf } from '../database/encryption.ts';

/** Encrypts all sealed values again with the first key, as `Encryption.rotate` does, with an audit entry. */
export async function rotateKeys(database: Database, sealer: Sealer): Promise<readonly string[]> {
  const lines = await encryptionOf(database).rotate(sealer);
  await writeCommandEntries(database.client, 'rotate-keys', [null]);
  return lines;
}
