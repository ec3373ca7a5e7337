import path from 'node:path';
import { differencesOf, migrationDrift, readExpectedObjects, readObjects } from '@svc/database/development';
import { type CredentialOwners, createTestDatabase, credentialFaults, onServer, tablesWithKeys } from '@svc/testing';
import { sealedColumns } from '../../src/database/encryption.ts';

const prismaDir = path.resolve(import.meta.dirname, '../../../../prisma/fleet');

test('the migrations create exactly the schema of schema.prisma', async () => {
  const database = await createTestDatabase();
  expect(await migrationDrift({ prismaDir, databaseUrl: database.url })).toBe('');
  await database.drop();
});

test('objects.json contains the objects that the migrations create (svc-migrate objects writes it)', async () => {
  const database = await createTestDatabase();
  const objects = await onServer(database.url, (client) => readObjects(async (sql) => (await client.query(sql)).rows));
  await database.drop();
  expect(differencesOf(readExpectedObjects(prismaDir), objects)).toEqual([]);
});

/**
 * The columns that hold the hash of a credential, and who owns the credential. When the owner loses
 * the right to it, it ends: `authority.ts`, and the foreign keys of users and sessions.
 */
const OWNERS: CredentialOwners = {
  'invitations.code_hash': 'invitations.created_by_user',
  'refresh_tokens.token_hash': 'refresh_tokens.session_id',
  'refresh_tokens.parent_hash': 'refresh_tokens.session_id',
  'sessions.browser_hash': 'sessions.user_id',
  'sessions.key_hash': 'sessions.user_id',
  'sessions.provider_token': 'sessions.user_id',
  'sign_in_codes.code_hash': 'sign_in_codes.session_id',
  'tokens.token_hash': 'tokens.created_by_user',
  'users.password_hash': 'users.id',
  'webhooks.sealed': 'webhooks.created_by_user',
  // Nobody has signed in yet.
  'sign_in_transactions.state_hash': null,
  'sign_in_transactions.browser_hash': null,
  // Not credentials: hashes of contents.
  'idempotency_keys.key_hash': null,
  'idempotency_keys.request_hash': null,
  'workload_revisions.template_hash': null,
  'application_specs.catalog_hash': null,
};

test('each column that holds a credential has an owner', async () => {
  const database = await createTestDatabase();
  const faults = await credentialFaults(database.url, OWNERS);
  await database.drop();
  expect(faults).toEqual([]);
});

test('each table with sealed values has a column for the ID of their key', async () => {
  const { url, drop } = await createTestDatabase();
  const tables = await tablesWithKeys(url);
  await drop();
  expect(tables).toEqual(sealedColumns.map(({ table }) => table).sort());
});
