// The service has another role than the owner of the database.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { aServingRole, createTestDatabase, onServer } from '@svc/testing';
import { pruneHistory } from '../../src/catalog/history.ts';
import { PARTS } from '../objects.ts';
import { startWorld } from '../world.ts';

const { url: ownerUrl, drop } = await createTestDatabase();
const role = await aServingRole({
  databaseUrl: ownerUrl,
  prismaDir: path.resolve(import.meta.dirname, '../../../../prisma/hub'),
  auditRetentionDays: 30,
});
const world = await startWorld({
  database: {
    url: role.url,
    drop: async () => {
      await drop();
      await role.drop();
    },
  },
});
const { client } = world.database;
const admin = await world.aUser('admin');
afterAll(() => world.stop());

test('administrators change the catalog, and organizations read it, with the privileges of the role', async () => {
  const { body: made } = await admin.post('/api/v1/admin/categories', { name: 'Databases' });
  const template = { name: 'Redis', category_id: made.category.id };
  const { status, body } = await admin.post('/api/v1/admin/templates', template);
  expect(status).toBe(201);
  const { id, slug } = body.template;
  expect((await admin.put('/api/v1/admin/templates', { id, description: 'x' })).status).toBe(200);
  const { key } = await world.anOrganization();
  const organization = world.api(`Bearer ${key}`);
  expect((await organization.get(`/api/v1/catalog/templates/${slug}`)).status).toBe(200);
  const since = '/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z';
  expect((await organization.get(since)).body.templates).toMatchObject([{ slug }]);
  expect((await admin.delete(`/api/v1/admin/templates?id=${id}`)).status).toBe(204);
  const application = { name: 'Wiki', category_id: made.category.id, parts: PARTS };
  const { id: applicationId } = (await admin.post('/api/v1/admin/applications', application)).body.application;
  expect((await admin.put('/api/v1/admin/applications', { id: applicationId, description: 'x' })).status).toBe(200);
  expect((await admin.delete(`/api/v1/admin/applications?id=${applicationId}`)).status).toBe(204);
  expect((await admin.get('/api/v1/admin/audit')).body.entries).toHaveLength(7);
  await pruneHistory(world.database, new Date());
});

test.each(['UPDATE audit_entries SET status = 200', 'DELETE FROM audit_entries', 'TRUNCATE audit_entries'])(
  'the role must not run %s',
  async (statement) => {
    await expect(client.$executeRawUnsafe(statement)).rejects.toThrow('permission denied');
  },
);

test('the role can delete only audit entries that are older than the retention', async () => {
  const anEntry = async (days: number) => {
    const id = randomUUID();
    await onServer(ownerUrl, (owner) =>
      owner.query(
        `INSERT INTO audit_entries (id, at, method, path, status, request_id)
         VALUES ($1, now() - make_interval(days => $2), 'GET', '/', 200, '')`,
        [id, days],
      ),
    );
    return id;
  };
  const old = await anEntry(31);
  const young = await anEntry(29);
  await client.$queryRaw`SELECT audit_forget(now() + interval '1 day', gen_random_uuid())`;
  const left = (await client.auditEntry.findMany()).map(({ id }) => id);
  expect(left).not.toContain(old);
  expect(left).toContain(young);
});
