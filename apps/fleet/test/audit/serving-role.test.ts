// The service has another role than the owner of the database.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { auditProtection } from '@svc/database';
import { aServingRole } from '@svc/testing';
import { CONSOLE_URL } from '../auth/console.ts';
import { openPatiently } from '../world.ts';
import { changingOperations, changingRequest, FOR_SESSIONS } from './changing-requests.ts';
import { startPeopleWorld } from './world.ts';

const { hub, provider, world, client } = await startPeopleWorld();
const role = await aServingRole({
  databaseUrl: world.databaseUrl,
  prismaDir: path.resolve(import.meta.dirname, '../../../../prisma/fleet'),
  auditRetentionDays: 30,
});
const database = openPatiently(role.url);
const { client: serving } = database;
const oidc = { issuer: provider.issuer, client_id: provider.clientId };
const replica = world.aReplica({ database, hub, oidc, publicUrl: CONSOLE_URL });
const token = await world.aToken({ role: 'admin' });
const api = replica.api(`Bearer ${token.secret}`);
afterAll(async () => {
  await database.close();
  await role.drop();
});

const anEntry = (days: number) =>
  client.auditEntry.create({
    data: {
      id: randomUUID(),
      at: new Date(Date.now() - days * 86_400_000),
      actor: 'somebody',
      method: 'GET',
      path: '/',
      status: 200,
      request_id: '',
    },
  });
const ids = async () => (await client.auditEntry.findMany({ select: { id: true } })).map(({ id }) => id);
const forget = (before: string) =>
  serving.$queryRawUnsafe(`SELECT audit_forget(${before}, gen_random_uuid())`).then(() => ids());

test.each(changingOperations)('%s succeeds and is recorded with the privileges of the role', async (operation) => {
  const { done, ...request } = await changingRequest(world, operation);
  const { status } = await api.send(request);
  expect(status).toBe(FOR_SESSIONS.includes(operation) ? 403 : done);
  expect(await client.auditEntry.count({ where: { token_id: token.id, status } })).toBeGreaterThan(0);
});

test.each([
  'UPDATE audit_entries SET status = 200',
  'DELETE FROM audit_entries',
  'TRUNCATE audit_entries',
  'ALTER TABLE audit_entries DISABLE TRIGGER ALL',
  'DROP TABLE audit_entries',
  'UPDATE schema_info SET audit_retention_days = 0',
  'DELETE FROM _prisma_migrations',
])('the role must not run %s', async (statement) => {
  await anEntry(400);
  const before = await ids();
  await expect(serving.$executeRawUnsafe(statement)).rejects.toThrow(/permission denied|must be owner/);
  expect(await ids()).toEqual(before);
});

test('the role can delete only audit entries that are older than the retention', async () => {
  const old = await anEntry(31);
  const young = await anEntry(29);
  const left = await forget("now() + interval '1 day'");
  expect(left).not.toContain(old.id);
  expect(left).toContain(young.id);
});

test('the role cannot replace the audit log by a temporary table when it deletes entries', async () => {
  const old = await anEntry(31);
  await serving.$transaction(async (transaction) => {
    await transaction.$executeRaw`CREATE TEMPORARY TABLE audit_entries (LIKE audit_entries) ON COMMIT DROP`;
    await transaction.$queryRaw`SELECT audit_forget(now(), gen_random_uuid())`;
  });
  expect(await ids()).not.toContain(old.id);
});

test('without a retention, the role deletes no audit entry', async () => {
  const old = await anEntry(3000);
  await client.schemaInfo.updateMany({ data: { audit_retention_days: null } });
  expect(await forget('now()')).toContain(old.id);
  await client.schemaInfo.updateMany({ data: { audit_retention_days: 30 } });
});

test('a migration grants the role privileges for the tables of later migrations', async () => {
  await client.$executeRaw`CREATE TABLE later (id BIGSERIAL PRIMARY KEY)`;
  await expect(serving.$queryRaw`SELECT * FROM later`).rejects.toThrow('permission denied');
  await role.migrate();
  await serving.$executeRaw`INSERT INTO later DEFAULT VALUES`;
  expect(await serving.$queryRaw`SELECT * FROM later`).toEqual([{ id: 1n }]);
});

test.each([
  ['of the service', serving, 'cannot change or delete'],
  ['of the owner', client, 'a trigger protects them against mistakes only'],
] as const)('the readiness check states what the role %s can do with audit entries', async (_, as, sentence) => {
  expect(await auditProtection((sql) => as.$queryRawUnsafe(sql))).toEqual({
    name: 'audit log',
    state: 'ok',
    detail: expect.stringContaining(sentence),
  });
});
