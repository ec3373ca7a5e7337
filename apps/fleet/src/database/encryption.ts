import { canaryColumn, createEncryption, type Encryption, type SealedColumn, statementsOf } from '@svc/database';
import type { Database } from './client.ts';

/** All columns with sealed values. */
export const sealedColumns: readonly SealedColumn[] = [
  canaryColumn,
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
];

export const encryptionOf = ({ client }: Database): Encryption => createEncryption(statementsOf(client), sealedColumns);
