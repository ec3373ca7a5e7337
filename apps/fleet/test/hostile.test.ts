// Sends generated requests to every endpoint.
import { closedOpenApiDocument, type Endpoint, fleetService } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { testHostileInput } from '@svc/testing/hostile';
import { CONSOLE_URL, cookieIn, OF_CONSOLE, SESSION } from './auth/console.ts';
import { createKnownRows } from './resources/known-rows.ts';
import { startResources } from './resources/resources.ts';
import { TEMPORARY_ADMIN } from './world.ts';

// Without a hub, a requested sync is a 409.
const world = await startResources({ feedTimings: { longestWait: 100 }, publicUrl: CONSOLE_URL });
const sql = world.database.client;
const bearer = async (role: 'viewer' | 'operator' | 'admin') => [
  `Authorization: Bearer ${(await world.aToken({ role })).secret}`,
];
const OF_PAGE = Object.entries(OF_CONSOLE).map(([name, value]) => `${name}: ${value}`);
/** The header lines of a page of the console, in a browser in which a user has signed in. */
async function inConsole(role: 'operator' | 'admin'): Promise<string[]> {
  const { email, password } = await world.aUser(role);
  return [`Cookie: ${cookieIn(await world.nobody.post(SESSION, { email, password }, OF_CONSOLE))}`, ...OF_PAGE];
}

// Nothing listens at generated addresses, so an endpoint that calls them answers 503. The trigger
// removes the client ID from stored settings: the fleet never calls a provider without one. No
// generated API key of a hub is valid.
await sql.$executeRaw`CREATE FUNCTION without_client() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN NEW.values := NEW.values - 'client_id'; RETURN NEW; END $$`;
await sql.$executeRaw`
  CREATE TRIGGER without_client BEFORE INSERT OR UPDATE ON settings FOR EACH ROW EXECUTE FUNCTION without_client()`;

const NOBODY_LISTENS = 'http://127.0.0.1:1';
const rowsFor = createKnownRows(world);

async function known(endpoint: Endpoint) {
  await sql.setting.deleteMany();
  await sql.trustPolicy.deleteMany();
  const user = await world.aUser('viewer');
  const token = await world.aToken();
  return {
    id: [endpoint.path.startsWith('/api/v1/users') ? user.id : token.id],
    ...(await rowsFor(endpoint)),
    email: [user.email, ...Array.from({ length: 20 }, (_, index) => `new-${index}@example.test`)],
    username: [TEMPORARY_ADMIN.username],
    password: [TEMPORARY_ADMIN.password, user.password],
    // Signed in from another address: the address of the generated requests is throttled for its
    // failed sign-ins.
    refresh_token: async () => [(await world.signIn({ 'X-Forwarded-For': '192.0.2.7' })).refresh_token],
    issuer: [NOBODY_LISTENS],
    url: [NOBODY_LISTENS],
    token_id: [token.id],
    actor: ['temporary-admin'],
  };
}

// The last endpoints end the sessions of the callers. A stream of changes does not end;
// test/changes sends its parameters.
const { logout, endBrowserSession, endOwnSessions, watchChanges, ...others } = fleetEndpoints;

testHostileInput({
  endpoints: [...Object.values(others), logout, endBrowserSession, endOwnSessions],
  app: world.app,
  document: closedOpenApiDocument(fleetService),
  callers: {
    nobody: [],
    'nobody in the console': OF_PAGE,
    viewer: await bearer('viewer'),
    operator: await bearer('operator'),
    admin: await bearer('admin'),
    'temporary admin': [`Authorization: Bearer ${(await world.signIn()).access_token}`],
    'local user': [`Authorization: Bearer ${(await (await world.aUser('admin')).signIn()).access_token}`],
    'operator in the console': await inConsole('operator'),
    'admin in the console': await inConsole('admin'),
  },
  known,
});

afterAll(() => world.stop());
