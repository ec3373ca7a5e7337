// A person lets the command line client act as this person: a page of the console gets a code, which the client exchanges.
import { challengeOf } from '@svc/auth';
import { startWorld, TEMPORARY_ADMIN } from '../world.ts';
import { CONSOLE_URL, cookieIn, OF_CONSOLE, SESSION } from './console.ts';

const world = await startWorld({ publicUrl: CONSOLE_URL });
afterAll(() => world.stop());

const sql = world.database.client;
const CONNECT = '/api/v1/auth/connect';
const EXCHANGE = '/api/v1/auth/exchange';
const SESSIONS = '/api/v1/auth/sessions';
const VERIFIER = 'v'.repeat(43);
const body = { challenge: challengeOf(VERIFIER) };

type Headers = Readonly<Record<string, string>>;

/** A browser in which someone has signed in to the console. */
async function aBrowser(account: object) {
  const headers: Headers = { ...OF_CONSOLE, Cookie: cookieIn(await world.nobody.post(SESSION, account, OF_CONSOLE)) };
  return {
    headers,
    connect: (sent: Headers = {}) => world.nobody.post(CONNECT, body, { ...headers, ...sent }),
    sessions: async () => (await world.nobody.get(SESSIONS, headers)).body.sessions,
    end: (id: string) => world.nobody.delete(`${SESSIONS}/${id}`, undefined, headers),
  };
}

async function aPerson(role: 'viewer' | 'admin' = 'viewer') {
  const { email, password, id } = await world.aUser(role);
  return { id, browser: await aBrowser({ email, password }) };
}

const exchange = (code: unknown, verifier = VERIFIER) => world.nobody.post(EXCHANGE, { code, verifier });

test('the code and the verifier are exchanged once for a session with the rights of the person', async () => {
  const { browser, id } = await aPerson('admin');
  const connected = await browser.connect();
  expect(connected).toMatchObject({ status: 201, body: { code: expect.stringMatching(/^[\w-]{43}$/) } });
  expect(connected.headers['cache-control']).toBe('no-store');
  const { status, body: session } = await exchange(connected.body.code);
  expect({ status, user: session.user.id }).toEqual({ status: 200, user: id });
  const program = world.api(`Bearer ${session.access_token}`);
  expect((await program.get('/api/v1/audit')).status).toBe(200);
  expect((await exchange(connected.body.code)).body.code).toBe('invalid_grant');
});

test('without the verifier of the program, the code is of no use', async () => {
  const { browser } = await aPerson();
  const { code } = (await browser.connect()).body;
  expect((await exchange(code, 'w'.repeat(43))).body.code).toBe('invalid_grant');
  expect((await world.nobody.post(EXCHANGE, { code })).body.code).toBe('invalid_grant');
  expect((await exchange(code)).status).toBe(200);
});

test('a code is valid for a minute', async () => {
  const { browser } = await aPerson();
  const { code } = (await browser.connect()).body;
  await sql.$executeRaw`UPDATE sign_in_codes SET expires_at = now()`;
  expect((await exchange(code)).body.code).toBe('invalid_grant');
});

test.each<[string, Headers, string]>([
  ['of another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example.test' }, 'unauthenticated'],
  ['of another port of the host', { 'Sec-Fetch-Site': 'same-site', Origin: `${CONSOLE_URL}:8443` }, 'unauthenticated'],
  ['in a frame or by a link', { 'Sec-Fetch-Site': 'none' }, 'unauthenticated'],
  ['that hides its origin', { Origin: 'null' }, 'wrong_origin'],
])('a page %s gets no code, also with the cookie of the person', async (_, sent, code) => {
  const { browser } = await aPerson('admin');
  const before = await sql.session.count();
  expect((await browser.connect(sent)).body.code).toBe(code);
  expect(await sql.session.count()).toBe(before);
});

test('a program cannot extend its session: neither a session with tokens nor an MCP token gets a code', async () => {
  const { browser } = await aPerson('admin');
  const { access_token } = (await exchange((await browser.connect()).body.code)).body;
  const as = (token: string) => world.nobody.post(CONNECT, body, { ...OF_CONSOLE, Authorization: `Bearer ${token}` });
  const before = await sql.session.count();
  expect((await as(access_token)).body.code).toBe('wrong_origin');
  expect((await as((await world.aToken({ role: 'admin' })).secret)).body.code).toBe('insufficient_scope');
  expect(await sql.session.count()).toBe(before);
});

test('the person sees the session of the program, and ends it', async () => {
  const { browser } = await aPerson();
  const { access_token, refresh_token } = (await exchange((await browser.connect()).body.code)).body;
  const [ofProgram, ofBrowser] = await browser.sessions();
  expect([ofProgram.kind, ofBrowser.kind]).toEqual(['tokens', 'browser']);
  expect((await browser.end(ofProgram.id)).status).toBe(204);
  expect((await world.api(`Bearer ${access_token}`).get('/api/v1/auth/me')).body.code).toBe('invalid_token');
  expect((await world.nobody.post('/api/v1/auth/refresh', { refresh_token })).body.code).toBe('invalid_grant');
  expect((await browser.sessions()).map(({ kind }: { kind: string }) => kind)).toEqual(['browser']);
});

test('the temporary admin can connect a program as well', async () => {
  const { user } = (await exchange((await (await aBrowser(TEMPORARY_ADMIN)).connect()).body.code)).body;
  expect(user).toMatchObject({ kind: 'temporary-admin', temporary: true });
});

test('the agreement is in the audit log', async () => {
  const { browser, id } = await aPerson();
  await browser.connect();
  const entries = await sql.auditEntry.findMany({ where: { user_id: id, path: CONNECT } });
  expect(entries).toMatchObject([{ method: 'POST', status: 201 }]);
});
