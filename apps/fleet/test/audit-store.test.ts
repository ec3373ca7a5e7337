import { aTemplate } from './a-template.ts';
import { startFakeHub } from './fake-hub.ts';
import { startWorld, TEMPORARY_ADMIN, type TestToken } from './world.ts';

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

describe('in SQL', () => {
  test.each(['UPDATE audit_entries SET status = 200', 'DELETE FROM audit_entries', 'TRUNCATE audit_entries'])(
    '%s is refused',
    async (statement) => {
      await world.asViewer.get(TEMPLATES);
      await expect(client.$executeRawUnsafe(statement)).rejects.toThrow('audit entries are never changed or deleted');
    },
  );
});

describe('while entries can’t be written', () => {
  beforeEach(() => client.$executeRaw`ALTER TABLE audit_entries RENAME TO audit_entries_away`);
  afterEach(() => client.$executeRaw`ALTER TABLE audit_entries_away RENAME TO audit_entries`);

  test.each([TEMPLATES, '/nothing', '/healthz'])('a request with a token is answered 503: %s', async (path) => {
    const { status, body, headers } = await world.asViewer.get(path);
    expect([status, body.code]).toEqual([503, 'unavailable']);
    expect(headers['retry-after']).toBe('1');
    expect(body.detail).toBe('The request could not be recorded, so it was not answered.');
  });

  test('a revoked token is answered 503 too', async () => {
    const token = await world.aToken({ revoked_at: new Date() });
    expect((await world.as(token).get(TEMPLATES)).status).toBe(503);
  });

  test('a sync is not begun', async () => {
    hub.publish(aTemplate());
    const [asked, before] = [hub.requests.length, await client.catalogSync.findMany()];
    const { status, body } = await world.asOperator.post(SYNC);
    expect([status, body.code]).toEqual([503, 'unavailable']);
    expect(body.detail).toBe('The request could not be recorded, so it was not carried out.');
    expect(hub.requests).toHaveLength(asked);
    expect(await client.catalogSync.findMany()).toEqual(before);
  });

  test('a sign-in with a token beside it opens no session', async () => {
    const before = await client.session.count();
    expect((await world.asAdmin.post('/api/v1/auth/login', TEMPORARY_ADMIN)).status).toBe(503);
    expect(await client.session.count()).toBe(before);
  });

  test('people and strangers who change nothing are served', async () => {
    expect((await person.get(TEMPLATES)).status).toBe(200);
    expect((await world.nobody.get('/healthz')).status).toBe(200);
  });
});

test('while the entries are locked a request with a token is answered 503, and has an entry afterwards', async () => {
  const token = await world.aToken();
  const lock = client.$transaction(
    async (transaction) => {
      await transaction.$executeRaw`LOCK TABLE audit_entries IN EXCLUSIVE MODE`;
      return (await world.as(token).get(TEMPLATES)).status;
    },
    { timeout: 20_000 },
  );
  expect(await lock).toBe(503);
  expect(await entriesOf(token)).toEqual([]);
  await world.as(token).get(TEMPLATES);
  expect(await entriesOf(token)).toMatchObject([{ status: 200 }]);
});
