import { canaryColumn, createEncryption, type Encryption, type SealedColumn, statementsOf } from '@svc/database';
import type { Database } from './client.ts';

/** The columns with values that the hub needs. */
const secretColumns: readonly SealedColumn[] = [{ table: 'webhooks', column: 'sealed', key: 'id' }];

/** All columns with sealed values. */
export const sealedColumns: readonly SealedColumn[] = [canaryColumn, ...secretColumns];

export const encryptionOf = ({ client }: Pick<Database, 'client'>): Encryption =>
  createEncryption(statementsOf(client), sealedColumns);

const LACKING = 'ENCRYPTION_KEYS is not set';

/** What a hub without encryption keys cannot do. */
export const WITHOUT_KEYS = `${LACKING}: the hub cannot store signing secrets of webhooks.`;

/** Why a hub without encryption keys needs some: its database has values that are encrypted. Undefined if it has none. */
export async function missingKeys({ client }: Pick<Database, 'client'>): Promise<string | undefined> {
  const used = await createEncryption(statementsOf(client), secretColumns).keysInUse();
  if (used.length === 0) return undefined;
  return `${LACKING}, but values of this database are encrypted with ${used.join(', ')}. Messages of webhooks wait until it is set.`;
}
