import { holding } from '@svc/testing/faults';
import { openDatabase } from '../../src/database/client.ts';
import { aTemplate } from '../a-template.ts';
import { startFakeHub } from '../fake-hub.ts';
import { IMPATIENT, startWorld, TEMPORARY_ADMIN, type TestToken } from '../world.ts';

const hub = await startFakeHub();
const world = await startWorld({ hub });
const { client } = world.database;
const person = await world.asTemporaryAdmin();
afterAll(async () => {
  await world.stop();
  await hub.stop();
});

const SYNC = '/api/v1/catalog/sync';
const TEMPLATES = '/api/v1/catalog/templates';

const entriesOf = ({ id }: TestToken) => client.auditEntry.findMany({ where: { token_id: id } });

describe('the audit log: the database', () => {
  test.each(['UPDATE audit_entries SET status = 200', 'DELETE FROM audit_entries', 'TRUNCATE audit_entries'])(
    'rejects %s',
    async (statement) => {
      await world.asViewer.get(TEMPLATES);
      await expect(client.$executeRawUnsafe(statement)).rejects.toThrow('audit entries cannot be changed or deleted');
    },
  );
});

describe('while audit entries cannot be stored,', () => {
  beforeEach(() => client.$executeRaw`ALTER TABLE audit_entries RENAME TO audit_entries_away`);
  afterEach(() => client.$executeRaw`ALTER TABLE audit_entries_away RENAME TO audit_entries`);

  test.each([TEMPLATES, '/nothing', '/healthz'])('answers 503 to a request with a token: %s', async (path) => {
    const { status, body, headers } = await world.asViewer.get(path);
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' });
    expect(headers['retry-after']).toBe('1');
    expect(body.detail).toBe('The response was withheld because its audit entry could not be stored.');
  });

  test('answers 503 to a request with a revoked token', async () => {
    const token = await world.aToken({ revoked_at: new Date() });
    expect((await world.as(token).get(TEMPLATES)).status).toBe(503);
  });

  test('starts no sync for a request with a token', async () => {
    hub.publish(aTemplate());
    const requestCount = hub.requests.length;
    const before = await client.catalogSync.findMany();
    const { status, body } = await world.asOperator.post(SYNC);
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' });
    expect(body.detail).toBe('The request was not processed, because its audit entry cannot be stored.');
    expect(hub.requests).toHaveLength(requestCount);
    expect(await client.catalogSync.findMany()).toEqual(before);
  });

  test('opens no session for a sign-in request that carries a token', async () => {
    const before = await client.session.count();
    expect((await world.asAdmin.post('/api/v1/auth/login', TEMPORARY_ADMIN)).status).toBe(503);
    expect(await client.session.count()).toBe(before);
  });

  test('serves people and anonymous callers that change nothing', async () => {
    expect((await person.get(TEMPLATES)).status).toBe(200);
    expect((await world.nobody.get('/healthz')).status).toBe(200);
  });
});

test('a request with a token is answered 503 while the audit table is locked, and gets an entry afterwards', async () => {
  const token = await world.aToken();
  const database = openDatabase(world.databaseUrl, () => undefined, IMPATIENT);
  const { api } = world.aReplica({ hub, database });
  const { status } = await holding(world.databaseUrl, 'LOCK TABLE audit_entries IN EXCLUSIVE MODE', async () =>
    api(`Bearer ${token.secret}`).get(TEMPLATES),
  );
  await database.close();
  expect(status).toBe(503);
  expect(await entriesOf(token)).toEqual([]);
  await world.as(token).get(TEMPLATES);
  expect(await entriesOf(token)).toMatchObject([{ status: 200 }]);
});
