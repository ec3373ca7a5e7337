// A person lets the command line client act as this person: a page of the console gets a code, which the client exchanges.
import { challengeOf, createBrowserSessions, hashCredential, isSecretToken } from '@svc/auth';
import { startWorld } from '../world.ts';

const PUBLIC_URL = 'https://hub.example.test';
const world = await startWorld({ publicUrl: PUBLIC_URL });
afterAll(() => world.stop());

const sql = world.database.client;
const CONNECT = '/api/v1/auth/connect';
const EXCHANGE = '/api/v1/auth/exchange';
const SESSION = '/api/v1/auth/session';
const SESSIONS = '/api/v1/auth/sessions';
const VERIFIER = 'v'.repeat(43);
const body = { challenge: challengeOf(VERIFIER) };
const OF_CONSOLE = { 'Sec-Fetch-Site': 'same-origin', Origin: PUBLIC_URL };

type Headers = Readonly<Record<string, string>>;

/** A user with a browser in which this user has signed in to the console. */
async function aPerson(role: 'user' | 'admin' = 'user') {
  const caller = await world.aUser(role);
  const { id } = (await caller.get('/api/v1/account/profile')).body.profile;
  const reference = `reference of ${id}`;
  const expires_at = new Date(Date.now() + 3_600_000);
  await sql.session.create({
    data: { user_id: id, browser_hash: hashCredential(reference), key_hash: '', expires_at },
  });
  const [Cookie = ''] = createBrowserSessions('hub', PUBLIC_URL).cookieOf(reference).split(';');
  const headers: Headers = { ...OF_CONSOLE, Cookie };
  return {
    id,
    connect: (sent: Headers = {}) => world.anonymous.post(CONNECT, body, { ...headers, ...sent }),
    sessions: async () => (await world.anonymous.get(SESSIONS, headers)).body.sessions,
    end: (session: string) => world.anonymous.delete(`${SESSIONS}/${session}`, undefined, headers),
  };
}

const exchange = (code: unknown, verifier = VERIFIER) => world.anonymous.post(EXCHANGE, { code, verifier });

test('the code and the verifier are exchanged once for a token with the rights of the person', async () => {
  const person = await aPerson('admin');
  const connected = await person.connect();
  expect(connected).toMatchObject({ status: 201, body: { code: expect.stringMatching(/^[\w-]{43}$/) } });
  const { status, body: session, headers } = await exchange(connected.body.code);
  expect({ status, user: session.user.id }).toEqual({ status: 200, user: person.id });
  expect(headers['cache-control']).toBe('no-store');
  expect(isSecretToken('svcu_', session.access_token)).toBe(true);
  expect(session.expires_in).toBe(12 * 3600);
  expect((await world.api(`Bearer ${session.access_token}`).get('/api/v1/admin/stats')).status).toBe(200);
  expect((await exchange(connected.body.code)).body.code).toBe('invalid_grant');
  expect(JSON.stringify(await sql.session.findMany())).not.toContain(session.access_token);
});

test('the token is no cookie, and the reference of a browser is no token', async () => {
  const person = await aPerson('admin');
  const { access_token } = (await exchange((await person.connect()).body.code)).body;
  const [Cookie = ''] = createBrowserSessions('hub', PUBLIC_URL).cookieOf(access_token).split(';');
  expect((await world.anonymous.get(SESSION, { ...OF_CONSOLE, Cookie })).body.user).toBeNull();
  const ofBrowser = await world.api(`Bearer ${hashCredential(`reference of ${person.id}`)}`).get(SESSION);
  expect(ofBrowser.body.code).toBe('invalid_token');
});

test('a session that was not exchanged is not listed, authenticates nothing, and ends after a minute', async () => {
  const person = await aPerson();
  const { code } = (await person.connect()).body;
  expect((await world.api(`Bearer ${code}`).get(SESSION)).body.code).toBe('invalid_token');
  expect(await person.sessions()).toHaveLength(1);
  expect((await exchange(code, 'w'.repeat(43))).body.code).toBe('invalid_grant');
  await sql.session.updateMany({ where: { user_id: person.id, has_token: true }, data: { expires_at: new Date() } });
  expect((await exchange(code)).body.code).toBe('invalid_grant');
});

test('the page of the console does not complete the sign-in of a program', async () => {
  const person = await aPerson();
  const { code } = (await person.connect()).body;
  const finished = await world.anonymous.post('/api/v1/auth/oidc/session', { code, verifier: VERIFIER }, OF_CONSOLE);
  expect(finished.body.code).toBe('invalid_grant');
});

test.each<[string, Headers, string]>([
  ['of another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example.test' }, 'unauthenticated'],
  ['of another port of the host', { 'Sec-Fetch-Site': 'same-site', Origin: `${PUBLIC_URL}:8443` }, 'unauthenticated'],
  ['in a frame or by a link', { 'Sec-Fetch-Site': 'none' }, 'unauthenticated'],
  ['that hides its origin', { Origin: 'null' }, 'wrong_origin'],
])('a page %s gets no code, also with the cookie of the person', async (_, sent, code) => {
  const person = await aPerson('admin');
  const before = await sql.session.count();
  expect((await person.connect(sent)).body.code).toBe(code);
  expect(await sql.session.count()).toBe(before);
});

test('a program cannot extend its session, and a JWT gets no code', async () => {
  const person = await aPerson('admin');
  const { access_token } = (await exchange((await person.connect()).body.code)).body;
  const as = (Authorization: string) => world.anonymous.post(CONNECT, body, { ...OF_CONSOLE, Authorization });
  expect((await as(`Bearer ${access_token}`)).body.code).toBe('wrong_origin');
  expect((await as(await world.anAuthorization('admin'))).body.code).toBe('insufficient_scope');
});

test('the person sees the session of the program, and ends it', async () => {
  const person = await aPerson();
  const { access_token } = (await exchange((await person.connect()).body.code)).body;
  const program = world.api(`Bearer ${access_token}`);
  const [ofProgram, ofBrowser] = await person.sessions();
  expect([ofProgram.kind, ofBrowser.kind]).toEqual(['tokens', 'browser']);
  expect((await program.get(SESSIONS)).body.sessions[0]).toMatchObject({ id: ofProgram.id, current: true });
  expect((await person.end(ofProgram.id)).status).toBe(204);
  expect((await program.get(SESSION)).body.code).toBe('invalid_token');
});

test('a program signs out with its token', async () => {
  const person = await aPerson();
  const { access_token } = (await exchange((await person.connect()).body.code)).body;
  const program = world.api(`Bearer ${access_token}`);
  expect((await program.delete(SESSION)).status).toBe(204);
  expect((await program.get(SESSION)).body.code).toBe('invalid_token');
  expect(await person.sessions()).toHaveLength(1);
});

test('the agreement is in the audit log, and sign-ins of both kinds are bounded together', async () => {
  const person = await aPerson();
  await person.connect();
  const where = { user_id: person.id, path: CONNECT };
  expect(await sql.auditEntry.findMany({ where })).toMatchObject([{ method: 'POST', status: 201 }]);
  const entry = { user_id: person.id, method: 'GET', path: '/api/v1/auth/oidc/callback', status: 302, request_id: '' };
  await sql.auditEntry.createMany({ data: Array.from({ length: 99 }, () => entry) });
  expect((await person.connect()).body.code).toBe('rate_limited');
});
