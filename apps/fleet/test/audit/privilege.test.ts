// The database role of the fleet owns its tables, is not a superuser, and has no privilege to
// insert into the audit log.
import { randomBytes } from 'node:crypto';
import { addressOf, onServer } from '@svc/testing';
import { openPatiently, startWorld } from '../world.ts';
import { contentsOf } from './contents.ts';

const world = await startWorld();
const { client } = world.database;
const role = `fleet_${randomBytes(6).toString('hex')}`;
const database = openPatiently(await addressOfOwner());
const token = await world.aToken({ role: 'admin' });
const asToken = world.aReplica({ database }).api(`Bearer ${token.secret}`);
afterAll(async () => {
  await database.close();
  await world.stop();
  await onServer(addressOf(world.databaseUrl, 'postgres'), (server) => server.query(`DROP ROLE ${role}`));
});

/**
 * Creates the role, and makes it the owner of all tables. @returns the URL of the database for this
 * role
 */
async function addressOfOwner(): Promise<string> {
  const password = randomBytes(12).toString('hex');
  await client.$executeRawUnsafe(`CREATE ROLE ${role} LOGIN NOSUPERUSER PASSWORD '${password}'`);
  const tables = await client.$queryRaw<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`;
  for (const { name } of tables) await client.$executeRawUnsafe(`ALTER TABLE ${name} OWNER TO ${role}`);
  return Object.assign(new URL(world.databaseUrl), { username: role, password }).href;
}

const entries = () => client.auditEntry.findMany({ orderBy: { at: 'asc' }, select: { method: true, status: true } });

test.each([
  { what: 'a read', method: 'GET', path: '/api/v1/tokens', done: 200 },
  { what: 'a request to nowhere', method: 'GET', path: '/nothing', done: 404 },
  { what: 'a change', method: 'POST', path: '/api/v1/tokens', body: { name: 'new', role: 'viewer' }, done: 201 },
])(
  'without the INSERT privilege, $what by a token is answered 503 and changes nothing; with the privilege it succeeds',
  async ({ done, ...request }) => {
    const contents = await contentsOf(world.database);
    const recorded = await entries();
    await client.$executeRawUnsafe(`REVOKE INSERT ON audit_entries FROM ${role}`);
    expect(await asToken.send(request)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(await contentsOf(world.database)).toEqual(contents);
    expect(await entries()).toEqual(recorded);
    await client.$executeRawUnsafe(`GRANT INSERT ON audit_entries TO ${role}`);
    expect((await asToken.send(request)).status).toBe(done);
    expect(await entries()).toEqual([...recorded, { method: request.method, status: done }]);
  },
);
