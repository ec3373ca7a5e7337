// Generated requests against every endpoint. HOSTILE_REQUESTS=2000 is the long form (200 for each endpoint otherwise),
// HOSTILE_SEED=<number> repeats a run that failed.
import { type Endpoint, fleetService, openApiDocument } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { testHostileInput } from '@svc/testing/hostile';
import { knownRows } from './resources/known-rows.ts';
import { startResources } from './resources/resources.ts';
import { TEMPORARY_ADMIN } from './world.ts';

const world = await startResources(); // without a hub: a sync that is asked for is a 409
const sql = world.database.client;
const bearer = async (role: 'viewer' | 'operator' | 'admin') => `Bearer ${(await world.aToken({ role })).secret}`;

// Nobody answers at addresses that are generated, which is a 503 to whoever depends on them. A provider without a client is
// never asked, and no API key of a hub is ever generated: everything is stored but that.
await sql.$executeRaw`CREATE FUNCTION without_client() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN NEW.values := NEW.values - 'client_id'; RETURN NEW; END $$`;
await sql.$executeRaw`
  CREATE TRIGGER without_client BEFORE INSERT OR UPDATE ON settings FOR EACH ROW EXECUTE FUNCTION without_client()`;

const NOBODY_LISTENS = 'http://127.0.0.1:1';

/** Rows of its own for each endpoint: what another has changed or removed is no matter. */
async function known(endpoint: Endpoint) {
  const { path } = endpoint;
  await sql.setting.deleteMany();
  const user = await world.aUser('viewer');
  const token = await world.aToken();
  const { id = [], ...resources } = await knownRows(world, endpoint);
  return {
    ...resources,
    id: id.length > 0 ? id : [path.startsWith('/api/v1/users') ? user.id : token.id],
    email: [user.email, ...Array.from({ length: 20 }, (_, index) => `new-${index}@example.test`)],
    username: [TEMPORARY_ADMIN.username],
    password: [TEMPORARY_ADMIN.password, user.password],
    // From elsewhere: the address of the generated requests is throttled, as many guesses as they make.
    refresh_token: [(await world.signIn({ 'X-Forwarded-For': '192.0.2.7' })).refresh_token],
    issuer: [NOBODY_LISTENS],
    url: [NOBODY_LISTENS],
    token_id: [token.id],
    actor: ['temporary-admin'],
  };
}

testHostileInput({
  endpoints: Object.values(fleetEndpoints),
  app: world.app,
  document: openApiDocument(fleetService),
  callers: {
    nobody: undefined,
    viewer: await bearer('viewer'),
    operator: await bearer('operator'),
    admin: await bearer('admin'),
    'temporary admin': `Bearer ${(await world.signIn()).access_token}`,
    'local user': `Bearer ${(await (await world.aUser('admin')).signIn()).access_token}`,
  },
  known,
});

afterAll(() => world.stop());
