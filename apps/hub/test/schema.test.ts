import path from 'node:path';
import { differencesOf, migrationDrift, readExpectedObjects, readObjects } from '@svc/database/development';
import { type CredentialOwners, createTestDatabase, credentialFaults, onServer, tablesWithKeys } from '@svc/testing';
import { sealedColumns } from '../src/database/encryption.ts';

const prismaDir = path.resolve(import.meta.dirname, '../../../prisma/hub');

test('the migrations create exactly the schema in schema.prisma', async () => {
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
 * What a credential ends with. See `organizations/authority.ts`, `endAdministration`, and the foreign
 * key of sessions.
 */
const OWNERS: CredentialOwners = {
  'api_keys.key_hash': 'api_keys.owner_id',
  'invitations.code_hash': 'invitations.created_by_user',
  'service_tokens.token_hash': 'service_tokens.owner_id',
  'sessions.browser_hash': 'sessions.user_id',
  'sessions.key_hash': 'sessions.user_id',
  'webhooks.sealed': 'webhooks.created_by_user',
  // Nobody has signed in yet.
  'sign_in_transactions.state_hash': null,
  'sign_in_transactions.browser_hash': null,
};

test('each column that holds a credential has an owner, and a new one without an owner is found', async () => {
  const database = await createTestDatabase();
  const faults = await credentialFaults(database.url, OWNERS);
  await onServer(database.url, (client) => client.query('CREATE TABLE devices (id uuid, device_token text)'));
  const later = await credentialFaults(database.url, OWNERS);
  await database.drop();
  expect({ faults, later }).toEqual({
    faults: [],
    later: ['devices.device_token holds a credential and has no declared owner'],
  });
});

test('each table with sealed values has a column for the id of their key', async () => {
  const { url, drop } = await createTestDatabase();
  const tables = await tablesWithKeys(url);
  await drop();
  expect(tables).toEqual(sealedColumns.map(({ table }) => table).sort());
});
