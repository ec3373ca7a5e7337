import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { challengeOf } from '@svc/auth';
import { hubAccesses, hubEndpoints } from '@svc/contract/hub';
import { createHttpServer, createLog } from '@svc/http';
import { startIdentityProvider } from '@svc/identity-provider/server';
import { type Answered, eventually, signInByBrowser, startLocalIssuer } from '@svc/testing';
import { startDeletingExpiredRows } from '../../src/identity/expired-rows.ts';
import { anInstance, startWorld } from '../world.ts';

const PUBLIC_URL = 'http://127.0.0.1:4100';
const AUDIENCE = 'https://hub.example.test';
const LOGIN = '/api/v1/auth/oidc/login';
const CALLBACK = '/api/v1/auth/oidc/callback';
const FINISH = '/api/v1/auth/oidc/session';
const SESSION = '/api/v1/auth/session';
const SESSIONS = '/api/v1/auth/sessions';
const PASSWORD = 'development';
const OF_CONSOLE = { 'Sec-Fetch-Site': 'same-origin', Origin: PUBLIC_URL };

const provider = await startIdentityProvider({
  port: 0,
  host: '127.0.0.1',
  audiences: [AUDIENCE],
  redirectUris: [`${PUBLIC_URL}${CALLBACK}`],
  password: PASSWORD,
});
const { issuer } = provider;
const world = await startWorld();
const sql = world.database.client;
const aReplica = (
  given: { clientId?: string; publicUrl?: string } = { clientId: 'dashboard', publicUrl: PUBLIC_URL },
) => anInstance(world.databaseUrl, { issuer, audience: AUDIENCE }, given);
const replicas = [aReplica(), aReplica()] as const;
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await world.stop();
  await provider.stop();
});

const cookiesIn = ({ headers }: Answered) => [headers['set-cookie'] ?? []].flat();
const pairsIn = (answer: Answered) => cookiesIn(answer).map((line) => line.split(';')[0] ?? '');

/** The verifier of a page of the console. */
const VERIFIER = 'v'.repeat(43);
const loginOf = (returnTo = '/') =>
  `${LOGIN}?${new URLSearchParams({ return_to: returnTo, challenge: challengeOf(VERIFIER) })}`;

/** A sign-in up to the redirect of the provider. */
async function begin(returnTo = '/') {
  const begun = await replicas[0].api().get(loginOf(returnTo));
  return { begun, address: new URL(begun.headers.location ?? ''), cookie: pairsIn(begun).join('; ') };
}

/** The callback of the provider, on another replica. */
const callback = (query: URLSearchParams, cookie: string) =>
  replicas[1].api().get(`${CALLBACK}?${query}`, { Cookie: cookie, 'User-Agent': 'a browser' });

const codeIn = ({ headers }: Answered) =>
  new URLSearchParams(new URL(headers.location ?? '', PUBLIC_URL).hash.slice(1)).get('sign_in_code');

/** The page completes the sign-in after the callback. */
const finish = (back: Answered, verifier = VERIFIER, more = {}) =>
  replicas[0].api().post(FINISH, { code: codeIn(back), verifier }, { ...OF_CONSOLE, ...more });

async function signedIn(email: string, returnTo?: string) {
  const { address, cookie } = await begin(returnTo);
  const { searchParams } = await signInByBrowser(address, `${PUBLIC_URL}${CALLBACK}`, { email, password: PASSWORD });
  return callback(searchParams, cookie);
}

/** A browser in which someone has signed in. */
async function aBrowser(email = 'user@example.test') {
  const back = await finish(await signedIn(email));
  const session = pairsIn(back).find((pair) => pair.startsWith('hub-session-')) ?? '';
  const headers = { ...OF_CONSOLE, Cookie: session };
  const [{ api }] = replicas;
  return {
    headers,
    get: (path: string, more = {}) => api().get(path, { ...headers, ...more }),
    post: (path: string, body: object, more = {}) => api().post(path, body, { ...headers, ...more }),
    delete: (path: string) => api().delete(path, undefined, headers),
  };
}

test('a person signs in with PKCE, and returns with a cookie that scripts cannot read', async () => {
  const { begun, address } = await begin();
  expect(begun.headers['cache-control']).toBe('no-store');
  expect(Object.fromEntries(address.searchParams)).toEqual({
    response_type: 'code',
    client_id: 'dashboard',
    redirect_uri: `${PUBLIC_URL}${CALLBACK}`,
    scope: 'openid email profile',
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });
  const back = await signedIn('user@example.test', '/organization?tab=keys');
  const location = `${PUBLIC_URL}/organization?tab=keys#sign_in_code=${codeIn(back)}`;
  expect(back).toMatchObject({ status: 302, headers: { location } });
  expect(cookiesIn(back)).toEqual([expect.stringMatching(/^hub-sign-in-[0-9a-f]{12}=; Max-Age=0;/)]);
  const finished = await finish(back);
  expect(finished).toMatchObject({ status: 200, body: { user: { email: 'user@example.test' } } });
  const [session = ''] = cookiesIn(finished);
  expect(session).toMatch(/^hub-session-[0-9a-f]{8}=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/);
  const stored = JSON.stringify([await sql.session.findMany(), await sql.signInTransaction.findMany()]);
  expect(stored).not.toContain(session.split(/[=;]/)[1]);
});

test('a session has the rights of its user at the time of the request, on each replica', async () => {
  const browser = await aBrowser('admin@example.test');
  const { body, headers } = await browser.get(SESSION);
  expect(body.user).toMatchObject({ email: 'admin@example.test', name: 'Ada Admin', organization: null });
  expect(headers['cache-control']).toBe('private, no-cache');
  const where = { id: body.user.id };
  await sql.user.update({ where, data: { role: 'user', role_set: true } });
  expect((await browser.get('/api/v1/admin/stats')).body.code).toBe('insufficient_scope');
  expect((await browser.get(SESSION)).body.may).toEqual(
    hubAccesses.filter((access) => !['admin', 'organization-key', 'publish-import', 'publish-export'].includes(access)),
  );
  await sql.user.update({ where, data: { role: 'admin' } });
  expect((await browser.get('/api/v1/admin/stats')).status).toBe(200);
  expect((await browser.get(SESSION)).body.may).toContain('admin');
});

test('an administrator in a browser sees the private catalog, also in the reads that bypass Express', async () => {
  const { slug } = await world.aTemplate({ is_public: false });
  const browser = await aBrowser('admin@example.test');
  const { user } = (await browser.get(SESSION)).body;
  await sql.user.update({ where: { id: user.id }, data: { role: 'admin', role_set: true } });
  expect((await browser.get(`/api/v1/catalog/templates/${slug}`)).status).toBe(200);
  expect((await browser.get(`/api/v1/catalog/templates/${slug}`, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(404);
});

test('changes require the origin of the hub', async () => {
  const browser = await aBrowser();
  const organization = { name: 'Own', slug: 'own' };
  for (const Origin of ['https://evil.example.test', 'null', '', 'http://127.0.0.1:4101', 'https://127.0.0.1:4100']) {
    const wrong = await browser.post('/api/v1/account/organizations', organization, { Origin });
    expect(wrong).toMatchObject({ status: 403, body: { code: 'wrong_origin' } });
  }
  expect(await sql.organization.count({ where: { slug: 'own' } })).toBe(0);
  expect((await browser.post('/api/v1/account/organizations', organization)).status).toBe(201);
});

describe('requests of other pages change nothing', () => {
  const admin = aBrowser('admin@example.test');
  const changes = Object.values(hubEndpoints).filter(({ method, access }) => method !== 'get' && access !== 'anyone');

  test.each(changes.map(({ method, path }) => [method.toUpperCase(), path] as const))('%s %s', async (method, path) => {
    const { headers } = await admin;
    const state = async () => [await sql.session.count({ where: { ended_at: null } }), await sql.auditEntry.count()];
    const before = await state();
    const at = path.replace(/:\w+/g, '00000000-0000-4000-8000-000000000000');
    const send = (sent: object) =>
      replicas[0].api().send({ method, path: at, headers: { ...headers, ...sent }, body: {} });
    for (const site of ['cross-site', 'same-site', 'none', '']) {
      expect((await send({ 'Sec-Fetch-Site': site })).body.code).toBe('unauthenticated');
    }
    for (const Origin of ['https://evil.example.test', 'null', '']) {
      expect((await send({ Origin })).body.code).toBe('wrong_origin');
    }
    expect(await state()).toEqual(before);
  });
});

test.each(['cross-site', 'same-site', 'none', ''])('a request with Sec-Fetch-Site %p is anonymous', async (site) => {
  const browser = await aBrowser();
  expect((await browser.get(SESSION, { 'Sec-Fetch-Site': site })).body).toEqual({
    user: null,
    may: ['anyone', 'catalog'],
  });
  expect((await browser.get('/api/v1/account/profile', { 'Sec-Fetch-Site': site })).body.code).toBe('unauthenticated');
});

test('sessions are listed and end: one, this one, or all', async () => {
  const one = await aBrowser();
  const another = await aBrowser();
  const third = await aBrowser();
  const { sessions } = (await one.get(SESSIONS)).body;
  const current = sessions.find((session: { current: boolean }) => session.current);
  expect(current).toMatchObject({ kind: 'browser', user_agent: 'a browser', source: '127.0.0.1' });
  expect((await another.delete(`${SESSIONS}/${current.id}`)).status).toBe(204);
  expect((await another.delete(`${SESSIONS}/${current.id}`)).status).toBe(404);
  expect((await one.get('/api/v1/account/profile')).body.code).toBe('unauthenticated');
  const ended = await another.delete(SESSION);
  expect({ status: ended.status, setCookie: ended.headers['set-cookie'] }).toEqual({
    status: 204,
    setCookie: [expect.stringContaining('Max-Age=0')],
  });
  expect((await another.get(SESSION)).body.user).toBeNull();
  expect((await third.get(SESSION)).body.user).not.toBeNull();
  expect((await third.delete(SESSIONS)).status).toBe(204);
  expect((await third.get(SESSION)).body.user).toBeNull();
});

test('a sign-out deletes what the browser has stored', async () => {
  const one = await aBrowser();
  const other = await aBrowser();
  for (const ended of [await one.delete(SESSION), await other.delete(SESSIONS)]) {
    expect(ended.headers['clear-site-data']).toBe('"cache"');
  }
});

test('each sign-in has a new reference, and a planted one is never a session', async () => {
  const first = await finish(await signedIn('user@example.test'));
  const second = await finish(await signedIn('user@example.test'));
  const sessionIn = (answer: Answered) => pairsIn(answer).find((pair) => pair.startsWith('hub-session-')) ?? '';
  expect(sessionIn(first)).not.toBe(sessionIn(second));
  const planted = sessionIn(first).replace(/=.*/, '=planted');
  const { address, cookie } = await begin();
  const account = { email: 'user@example.test', password: PASSWORD };
  const { searchParams } = await signInByBrowser(address, `${PUBLIC_URL}${CALLBACK}`, account);
  const back = await finish(await callback(searchParams, `${cookie}; ${planted}`));
  expect(sessionIn(back)).toMatch(/=[\w-]{43}$/);
  expect((await replicas[0].api().get(SESSION, { ...OF_CONSOLE, Cookie: planted })).body.user).toBeNull();
});

test('the MCP endpoint ignores the cookie', async () => {
  const browser = await aBrowser('admin@example.test');
  const { id } = (await browser.get(SESSION)).body.user;
  await sql.user.update({ where: { id }, data: { role: 'admin', role_set: true } });
  const { slug } = await world.aTemplate({ is_public: false });
  const server = createHttpServer(replicas[0].app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  const call = (params: object) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      ...browser.headers,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2025-11-25',
    },
    body: JSON.stringify(call({ name: 'get_template', arguments: { slug } })),
  });
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(text).toContain('not_found');
  server.close();
});

test('a session ends when it was not used for four hours', async () => {
  const browser = await aBrowser();
  const { sessions } = (await browser.get(SESSIONS)).body;
  const { id } = sessions.find((session: { current: boolean }) => session.current);
  const unusedFor = async (minutes: number) => {
    const last_used_at = new Date(Date.now() - minutes * 60_000);
    await sql.session.update({ where: { id }, data: { created_at: new Date(0), last_used_at } });
    return (await browser.get(SESSION)).body.user !== null;
  };
  expect(await unusedFor(239)).toBe(true);
  expect(await unusedFor(241)).toBe(false);
  await sql.session.update({ where: { id }, data: { last_used_at: null } });
  expect((await browser.get(SESSION)).body.user).toBeNull();
});

test('a session of a deleted user ends', async () => {
  const browser = await aBrowser('user@example.test');
  const { id } = (await browser.get(SESSION)).body.user;
  await sql.user.delete({ where: { id } });
  expect((await browser.get(SESSION)).body.user).toBeNull();
  expect((await browser.get('/api/v1/account/profile')).body.code).toBe('unauthenticated');
});

test('a user has at most 100 sessions: a sign-in deletes ended ones first, then the one that was not used for longest', async () => {
  const browser = await aBrowser('user@example.test');
  const { id: user_id } = (await browser.get(SESSION)).body.user;
  await sql.session.deleteMany({ where: { user_id } });
  const expires_at = new Date(Date.now() + 3_600_000);
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  const aSession = (name: string, minutes: number, ended_at: Date | null = null) => ({
    user_id,
    browser_hash: name,
    expires_at,
    ended_at,
    last_used_at: minutesAgo(minutes),
  });
  const open = Array.from({ length: 99 }, (_, index) => aSession(`open ${index}`, index + 1));
  await sql.session.createMany({ data: [...open, aSession('ended', 0, new Date())] });
  const names = async () =>
    (await sql.session.findMany({ where: { user_id } })).map(({ browser_hash }) => browser_hash);
  await aBrowser('user@example.test');
  expect(await names()).toHaveLength(100);
  expect(await names()).not.toContain('ended');
  await aBrowser('user@example.test');
  expect(await names()).toHaveLength(100);
  expect(await names()).not.toContain('open 98');
  await sql.session.deleteMany({ where: { user_id } });
});

describe('the audit log', () => {
  const entriesOf = (user_id: string) =>
    sql.auditEntry.findMany({ where: { user_id, path: { startsWith: '/api/v1/auth/' } }, orderBy: { at: 'asc' } });

  test('contains each sign-in and sign-out: who, when, from where, and the result', async () => {
    const email = 'user@example.test';
    const browser = await aBrowser(email);
    const other = await aBrowser(email);
    const third = await aBrowser(email);
    const { id } = (await browser.get(SESSION)).body.user;
    const [ofThird] = (await third.get(SESSIONS)).body.sessions;
    const before = (await entriesOf(id)).length;
    await browser.delete(`${SESSIONS}/${ofThird.id}`);
    await browser.delete(SESSION);
    await other.delete(SESSIONS);
    const entries = await entriesOf(id);
    const shown = { user_id: id, email, source: '127.0.0.1', request_id: expect.any(String) };
    expect(entries[before - 1]).toMatchObject({
      ...shown,
      method: 'GET',
      path: CALLBACK,
      status: 302,
      object_id: ofThird.id,
    });
    expect(entries.slice(before)).toMatchObject([
      { ...shown, method: 'DELETE', path: `${SESSIONS}/${ofThird.id}`, status: 204, object_id: ofThird.id },
      { ...shown, method: 'DELETE', path: SESSION, status: 204, object_id: expect.any(String) },
      { ...shown, method: 'DELETE', path: SESSIONS, status: 204, object_id: null },
    ]);
  });

  test('has no entry for a sign-out that ends no session, nor for a failed sign-in', async () => {
    const browser = await aBrowser();
    const { id } = (await browser.get(SESSION)).body.user;
    await browser.delete(SESSION);
    const before = await sql.auditEntry.count();
    for (let times = 0; times < 3; times++) await browser.delete(SESSION);
    const token = await world.issuer.sign('without a session');
    for (let times = 0; times < 3; times++) await world.api(`Bearer ${token}`).delete(SESSIONS);
    expect((await callback(new URLSearchParams({ error: 'access_denied' }), '')).status).toBe(401);
    expect(await sql.auditEntry.count()).toBe(before);
    expect(id).toBeDefined();
  });

  test('cannot be filled by sign-ins: a user signs in 100 times per hour', async () => {
    const browser = await aBrowser('operator@example.test');
    const { id: user_id } = (await browser.get(SESSION)).body.user;
    const entry = { user_id, method: 'GET', path: CALLBACK, status: 302, request_id: '' };
    await sql.auditEntry.createMany({ data: Array.from({ length: 100 }, () => entry) });
    const counts = async () => ({ entries: await sql.auditEntry.count(), sessions: await sql.session.count() });
    const before = await counts();
    const refused = await signedIn('operator@example.test');
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' }, headers: { 'retry-after': '600' } });
    expect(await counts()).toEqual(before);
    expect((await signedIn('admin@example.test')).status).toBe(302);
  });

  test('has the entry of a sign-in, or the sign-in fails', async () => {
    await sql.$executeRaw`ALTER TABLE audit_entries ADD CONSTRAINT refused CHECK (false) NOT VALID`;
    try {
      expect((await signedIn('admin@example.test')).body.code).toBe('unavailable');
    } finally {
      await sql.$executeRaw`ALTER TABLE audit_entries DROP CONSTRAINT refused`;
    }
  });
});

test('a session of another user cannot be ended', async () => {
  const user = await aBrowser();
  const admin = await aBrowser('admin@example.test');
  const { sessions } = (await user.get(SESSIONS)).body;
  expect((await admin.delete(`${SESSIONS}/${sessions[0].id}`)).status).toBe(404);
  expect((await user.get(SESSION)).body.user).not.toBeNull();
});

test('an expired session, and one of another identity provider, is none', async () => {
  const browser = await aBrowser();
  const { id } = (await browser.get(SESSIONS)).body.sessions.find((session: { current: boolean }) => session.current);
  const elsewhere = anInstance(world.databaseUrl, world.issuer, { clientId: 'dashboard', publicUrl: PUBLIC_URL });
  const back = await finish(await signedIn('user@example.test'));
  const Cookie = pairsIn(back).find((pair) => pair.startsWith('hub-session-')) ?? '';
  expect((await elsewhere.api().get(SESSION, { ...OF_CONSOLE, Cookie })).body.user).toBeNull();
  await elsewhere.stop();
  await sql.session.update({ where: { id }, data: { expires_at: new Date() } });
  expect((await browser.get(SESSION)).body.user).toBeNull();
});

test('a callback works once, and only in the browser that started the sign-in', async () => {
  const { address, cookie } = await begin();
  const { searchParams } = await signInByBrowser(address, `${PUBLIC_URL}${CALLBACK}`, {
    email: 'user@example.test',
    password: PASSWORD,
  });
  const other = await begin();
  for (const wrong of ['', other.cookie]) {
    const refused = await callback(searchParams, wrong);
    expect(refused).toMatchObject({ status: 401, body: { code: 'invalid_grant' } });
    expect(cookiesIn(refused)).toEqual([]);
  }
  expect((await callback(searchParams, cookie)).status).toBe(302);
  expect((await callback(searchParams, cookie)).body.code).toBe('invalid_grant');
});

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
const pageAfter = ({ headers: { location = '', 'x-request-id': request_id = '' } }: Answered) => {
  const { origin, pathname, searchParams } = new URL(location, PUBLIC_URL);
  expect({ origin, pathname }).toEqual({ origin: PUBLIC_URL, pathname: '/' });
  expect(searchParams.get('request_id')).toBe(request_id);
  return { error: searchParams.get('sign_in_error'), returnTo: searchParams.get('return_to') };
};

test('a sign-in that fails leads a browser to the page of the console, without a text of the provider', async () => {
  const inBrowser = (query: URLSearchParams, cookie: string) =>
    replicas[1].api().get(`${CALLBACK}?${query}`, { Cookie: cookie, Accept: HTML });
  const { address, cookie } = await begin('/organization?tab=keys');
  const told = { error: 'access_denied', error_description: 'words of a stranger', iss: issuer };
  const query = new URLSearchParams({ ...told, state: address.searchParams.get('state') ?? '' });
  const denied = await inBrowser(query, cookie);
  expect(pageAfter(denied)).toEqual({ error: 'refused', returnTo: '/organization?tab=keys' });
  expect(denied).toMatchObject({ status: 302, text: '', headers: { location: expect.not.stringContaining('stran') } });
  expect(pageAfter(await inBrowser(query, cookie))).toEqual({ error: 'expired', returnTo: null });
  expect(pageAfter(await inBrowser(new URLSearchParams({ error: 'x' }), ''))).toEqual({
    error: 'expired',
    returnTo: null,
  });
  expect((await callback(query, cookie)).body.code).toBe('invalid_grant'); // a program
});

test('a sign-in that cannot begin leads a browser to the page of the console', async () => {
  const stopped = await startLocalIssuer(AUDIENCE);
  await stopped.close();
  const cases = [
    ['unavailable', anInstance(world.databaseUrl, stopped, { clientId: 'dashboard', publicUrl: PUBLIC_URL })],
    ['not_configured', aReplica({ publicUrl: PUBLIC_URL })],
  ] as const;
  for (const [error, replica] of cases) {
    expect(pageAfter(await replica.api().get(loginOf('/keys'), { Accept: HTML }))).toEqual({
      error,
      returnTo: '/keys',
    });
    await replica.stop();
  }
});

test('a callback with the state of one sign-in and the code of another is rejected', async () => {
  const one = await begin();
  const other = await begin();
  const account = { email: 'user@example.test', password: PASSWORD };
  const { searchParams } = await signInByBrowser(one.address, `${PUBLIC_URL}${CALLBACK}`, account);
  searchParams.set('state', other.address.searchParams.get('state') ?? '');
  expect((await callback(searchParams, other.cookie)).body.code).toBe('invalid_grant');
});

test.each(['//evil.example.test', '/\\evil.example.test', 'https://evil.example.test/', 'x'])(
  'return_to %p is a 400',
  async (returnTo) => {
    const { status, body } = await replicas[0].api().get(loginOf(returnTo));
    expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: 'return_to' });
  },
);

test.each([
  ['without a client id', { publicUrl: PUBLIC_URL }, 'oidc_not_configured', null],
  [
    'without PUBLIC_URL',
    { clientId: 'dashboard' },
    'browser_session_unavailable',
    expect.stringContaining('PUBLIC_URL'),
  ],
  [
    'at a plain http URL',
    { clientId: 'dashboard', publicUrl: 'http://hub.example.test' },
    'browser_session_unavailable',
    expect.stringContaining('https'),
  ],
])('%s, the console cannot sign in, and /auth/config states it', async (_, given, code, refusal) => {
  const replica = aReplica(given);
  for (const path of [LOGIN, CALLBACK]) expect((await replica.api().get(path)).body.code).toBe(code);
  expect((await replica.api().get('/api/v1/auth/config')).body).toEqual({
    issuer,
    audience: AUDIENCE,
    console: false,
    browser_session_refusal: refusal,
  });
  await replica.stop();
});

test('/auth/config states that the console can sign in', async () => {
  const { body } = await replicas[0].api().get('/api/v1/auth/config');
  expect(body).toMatchObject({ console: true, browser_session_refusal: null });
});

test('expired sign-ins, and sessions that ended a day ago, are deleted', async () => {
  const { api } = world;
  await api().get('/api/v1/catalog/categories');
  const [user] = await sql.user.findMany({ take: 1 });
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const aSession = (name: string, expires_at: Date, ended_at: Date | null) =>
    sql.session.create({ data: { user_id: user?.id ?? '', browser_hash: name, expires_at, ended_at } });
  await Promise.all([
    aSession('open', ago(-1), null),
    aSession('recent', ago(-1), ago(23)),
    aSession('ended', ago(-1), ago(25)),
    aSession('expired', ago(25), null),
    sql.signInTransaction.create({ data: { state_hash: 'old', browser_hash: '', return_to: '/', expires_at: ago(1) } }),
  ]);
  const task = startDeletingExpiredRows({ database: world.database, log: createLog('hub', 'silent'), interval: 5 });
  const remaining = async () => {
    const where = { browser_hash: { in: ['open', 'recent', 'ended', 'expired'] } };
    const sessions = await sql.session.findMany({ where, orderBy: { browser_hash: 'asc' } });
    return [
      sessions.map(({ browser_hash }) => browser_hash),
      await sql.signInTransaction.count({ where: { state_hash: 'old' } }),
    ];
  };
  await eventually('the expired rows are deleted', remaining, {
    until: (rows) => JSON.stringify(rows) === '[["open","recent"],0]',
  });
  await task.stop();
  expect(await remaining()).toEqual([['open', 'recent'], 0]);
});

test.each([
  ['127.0.0.1', 99, '100 of one address'],
  ['192.0.2.1', 9_999, '10000 in total'],
])('a sign-in beyond the limit of unfinished ones is rejected: %s', async (network, before, bound) => {
  await sql.$executeRaw`DELETE FROM sign_in_transactions`;
  await sql.$executeRaw`
    INSERT INTO sign_in_transactions (state_hash, browser_hash, network, return_to, expires_at)
    SELECT ${network} || i, '', ${network}, '/', now() + interval '10 minutes' FROM generate_series(1, ${before}::int) i`;
  const answers = await Promise.all(Array.from({ length: 3 }, () => replicas[0].api().get(loginOf())));
  expect(answers.map(({ status }) => status).sort()).toEqual([302, 429, 429]);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused).toMatchObject({ headers: { 'retry-after': '60' }, body: { detail: expect.stringContaining(bound) } });
  expect(await sql.signInTransaction.count()).toBe(before + 1);
  await sql.$executeRaw`DELETE FROM sign_in_transactions`;
});

test('a session is valid only with the key of the console that opened it, and one of version 0.2.0 with any', async () => {
  const keyed = (key: string | undefined) => (key === undefined ? {} : { 'Console-Key': key });
  const opened = async (key: string | undefined) => {
    const [Cookie = ''] = pairsIn(await finish(await signedIn('user@example.test'), VERIFIER, keyed(key)));
    return async (sent: string | undefined) => {
      const { body } = await replicas[1].api().get(SESSION, { ...OF_CONSOLE, Cookie, ...keyed(sent) });
      return body.user !== null;
    };
  };
  const isValid = await opened('own');
  expect([await isValid('own'), await isValid('other'), await isValid(undefined)]).toEqual([true, false, true]);
  const isUnkeyedValid = await opened(undefined);
  expect([await isUnkeyedValid('other'), await isUnkeyedValid(undefined)]).toEqual([false, true]);
  await sql.$executeRaw`UPDATE sessions SET key_hash = NULL`;
  expect(await isValid('other')).toBe(true);
});

describe('a sign-in that another page began', () => {
  test('gives no session to a browser in which its cookie was planted, with any verifier of this browser', async () => {
    const back = await signedIn('user@example.test'); // with the cookie of the page that began
    expect((await finish(back, 'w'.repeat(43))).body.code).toBe('invalid_grant');
    const name = /^hub-session-\w{8}/.exec(pairsIn(await finish(await signedIn('user@example.test')))[0] ?? '')?.[0];
    const planted = { ...OF_CONSOLE, Cookie: `${name}=${codeIn(back)}` };
    expect((await replicas[0].api().get(SESSION, planted)).body.user).toBeNull(); // the code is no reference
    expect((await finish(back)).status).toBe(200);
    expect((await finish(back)).body.code).toBe('invalid_grant');
  });

  test('is not completed after a minute, and not after its user was blocked', async () => {
    const late = await signedIn('user@example.test');
    await sql.$executeRaw`UPDATE sessions SET expires_at = now() WHERE challenge IS NOT NULL`;
    expect((await finish(late)).body.code).toBe('invalid_grant');
    const back = await signedIn('user@example.test');
    const { id } = await sql.user.findFirstOrThrow({ where: { iss: issuer, email: 'user@example.test' } });
    const admin = await world.aUser('admin');
    await admin.put(`/api/v1/admin/users?id=${id}`, { blocked: true });
    expect((await finish(back)).body.code).toBe('invalid_grant');
    await admin.put(`/api/v1/admin/users?id=${id}`, { blocked: false });
    expect((await finish(back)).body.code).toBe('invalid_grant');
  });

  test('is not in the list of sessions until its page completes it', async () => {
    const browser = await aBrowser();
    const before = (await browser.get(SESSIONS)).body.sessions.length;
    const back = await signedIn('user@example.test');
    expect((await browser.get(SESSIONS)).body.sessions).toHaveLength(before);
    await finish(back);
    expect((await browser.get(SESSIONS)).body.sessions).toHaveLength(before + 1);
  });

  test('cannot begin without a challenge: the page states it, and offers to begin again', async () => {
    const { api } = replicas[0];
    expect(pageAfter(await api().get(`${LOGIN}?return_to=/keys`, { Accept: HTML }))).toEqual({
      error: 'not_begun_here',
      returnTo: '/keys',
    });
    const { status, body } = await api().get(LOGIN);
    expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: 'challenge' });
  });

  test('that version 0.2.0 began without a challenge is not completed', async () => {
    const { address, cookie } = await begin();
    const account = { email: 'user@example.test', password: PASSWORD };
    const { searchParams } = await signInByBrowser(address, `${PUBLIC_URL}${CALLBACK}`, account);
    await sql.$executeRaw`UPDATE sign_in_transactions SET challenge = NULL`;
    expect((await callback(searchParams, cookie)).body.code).toBe('invalid_grant');
  });

  test('is completed only by a page of the console', async () => {
    const code = codeIn(await signedIn('user@example.test'));
    for (const sent of [
      {},
      { ...OF_CONSOLE, 'Sec-Fetch-Site': 'same-site' },
      { ...OF_CONSOLE, Origin: 'http://x.test' },
    ])
      expect((await replicas[0].api().post(FINISH, { code, verifier: VERIFIER }, sent)).body.code).toBe('wrong_origin');
  });
});
