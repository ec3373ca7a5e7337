import { type Sealer, UnknownKey } from '../sealing.ts';
import type { Database } from './client.ts';

const PLACE = { table: 'encryption_canary', column: 'sealed', row: '1' };

/** Refuses a start with encryption keys that are not this database's. The first start leaves the canary. */
export async function checkEncryptionKeys({ client }: Database, sealer: Sealer): Promise<void> {
  const sealed = await sealer.seal(PLACE, 'canary');
  await client.encryptionCanary.createMany({ data: { id: 1, sealed }, skipDuplicates: true });
  const canary = await client.encryptionCanary.findUniqueOrThrow({ where: { id: 1 } });
  await sealer.open(PLACE, canary.sealed).catch((cause: unknown) => {
    if (cause instanceof UnknownKey) throw cause;
    throw new Error('ENCRYPTION_KEYS has a key of the right name, but it is not the one of this database.', { cause });
  });
}
