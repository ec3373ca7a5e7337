// Sends generated requests to every endpoint.
import { closedOpenApiDocument, type Endpoint, fleetService } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { testHostileInput } from '@svc/testing/hostile';
import { createKnownRows } from './resources/known-rows.ts';
import { startResources } from './resources/resources.ts';
import { TEMPORARY_ADMIN } from './world.ts';

// Without a hub, a requested sync is a 409.
const world = await startResources({ feedTimings: { longestWait: 100 } });
const sql = world.database.client;
const bearer = async (role: 'viewer' | 'operator' | 'admin') => `Bearer ${(await world.aToken({ role })).secret}`;

// Nothing listens at generated addresses, so an endpoint that calls them answers 503. The trigger removes the client ID
// from stored settings: the fleet never calls a provider without one. No generated API key of a hub is valid.
await sql.$executeRaw`CREATE FUNCTION without_client() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN NEW.values := NEW.values - 'client_id'; RETURN NEW; END $$`;
await sql.$executeRaw`
  CREATE TRIGGER without_client BEFORE INSERT OR UPDATE ON settings FOR EACH ROW EXECUTE FUNCTION without_client()`;

const NOBODY_LISTENS = 'http://127.0.0.1:1';
const rowsFor = createKnownRows(world);

async function known(endpoint: Endpoint) {
  await sql.setting.deleteMany();
  const user = await world.aUser('viewer');
  const token = await world.aToken();
  return {
    id: [endpoint.path.startsWith('/api/v1/users') ? user.id : token.id],
    ...(await rowsFor(endpoint)),
    email: [user.email, ...Array.from({ length: 20 }, (_, index) => `new-${index}@example.test`)],
    username: [TEMPORARY_ADMIN.username],
    password: [TEMPORARY_ADMIN.password, user.password],
    // Signed in from another address: the address of the generated requests is throttled for its failed sign-ins.
    refresh_token: async () => [(await world.signIn({ 'X-Forwarded-For': '192.0.2.7' })).refresh_token],
    issuer: [NOBODY_LISTENS],
    url: [NOBODY_LISTENS],
    token_id: [token.id],
    actor: ['temporary-admin'],
  };
}

// The last endpoint ends the sessions of the callers. A stream of changes does not end; test/changes sends its parameters.
const { logout, watchChanges, ...others } = fleetEndpoints;

testHostileInput({
  endpoints: [...Object.values(others), logout],
  app: world.app,
  document: closedOpenApiDocument(fleetService),
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
