import { setTimeout as pause } from 'node:timers/promises';
import { fleetAccesses, fleetEndpoints } from '@svc/contract/fleet';
import { messagesTo } from '../mcp/client.ts';
import { listen } from '../raw.ts';
import { startWorld, TEMPORARY_ADMIN } from '../world.ts';
import { CONSOLE_URL, cookieIn, OF_CONSOLE, SESSION } from './console.ts';

const world = await startWorld({ publicUrl: CONSOLE_URL });
afterAll(() => world.stop());

const sql = world.database.client;
const other = world.aReplica({ publicUrl: CONSOLE_URL });
const SESSIONS = '/api/v1/auth/sessions';
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64)';

type Headers = Readonly<Record<string, string>>;

/**
 * A browser in which someone has signed in to the console. Each request goes to the other replica.
 */
async function aBrowser(body: object, sent: Headers = {}) {
  const opened = await world.nobody.post(SESSION, body, { ...OF_CONSOLE, 'User-Agent': USER_AGENT, ...sent });
  expect(opened.status).toBe(200);
  const headers = { ...OF_CONSOLE, Cookie: cookieIn(opened) };
  const nobody = other.api();
  return {
    opened,
    headers,
    get: (path: string, more: Headers = {}) => nobody.get(path, { ...headers, ...more }),
    post: (path: string, body?: unknown, more: Headers = {}) => nobody.post(path, body, { ...headers, ...more }),
    delete: (path: string, more: Headers = {}) => nobody.delete(path, undefined, { ...headers, ...more }),
  };
}

async function aSignedInUser(role: 'viewer' | 'operator' | 'admin' = 'viewer') {
  const user = await world.aUser(role);
  const signIn = () => aBrowser({ email: user.email, password: user.password });
  return { ...user, browser: await signIn(), signInAgain: signIn };
}

describe('a session in a browser', () => {
  test('authenticates the requests of the console, on each replica, without showing a token', async () => {
    const { browser, email, id } = await aSignedInUser('operator');
    const user = { kind: 'local', id, name: email, email, role: 'operator', temporary: false };
    expect(browser.opened.body.user).toEqual(user);
    expect(browser.opened.headers['cache-control']).toBe('no-store');
    expect(browser.opened.text).not.toMatch(/token/);
    expect((await browser.get(SESSION)).body.user).toEqual(user);
    expect((await browser.get('/api/v1/auth/me')).body.user).toEqual(user);
    expect((await browser.post('/api/v1/catalog/sync', {})).body.code).toBe('hub_not_configured');
  });

  test.each([
    ['with its key', 'own', 'own', true],
    ['with another key, as if its cookie was planted', 'own', 'other', false],
    ['with a key, if it was opened without one', undefined, 'other', false],
    ['without a key, as links and streams do', 'own', undefined, true],
  ])('is valid in a request %s: %j, %j: %j', async (_, opened, sent, isValid) => {
    const { email, password } = await world.aUser('viewer');
    const keyed = (key: string | undefined): Headers => (key === undefined ? {} : { 'Console-Key': key });
    const browser = await aBrowser({ email, password }, keyed(opened));
    expect((await browser.get(SESSION, keyed(sent))).body.user !== null).toBe(isValid);
    expect((await browser.get('/api/v1/hosts', keyed(sent))).status).toBe(isValid ? 200 : 401);
  });

  test('that version 0.2.0 opened remains valid', async () => {
    const { browser, id } = await aSignedInUser();
    await sql.session.updateMany({ where: { user_id: id }, data: { key_hash: null } });
    expect((await browser.get(SESSION, { 'Console-Key': 'new' })).body.user).not.toBeNull();
  });

  test('is kept in a cookie that scripts and other sites cannot use', async () => {
    const { browser } = await aSignedInUser();
    const [line = ''] = [browser.opened.headers['set-cookie'] ?? []].flat();
    const [pair = '', ...attributes] = line.split('; ');
    expect(pair).toMatch(/^__Host-fleet-session-[0-9a-f]{8}=[\w-]{43}$/);
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Strict', 'Secure']);
    const stored = JSON.stringify(await sql.session.findMany());
    expect(stored).not.toContain(pair.split('=')[1]);
  });

  test('has the role of its user at the time of the request', async () => {
    await world.aUser('admin');
    const { browser, id } = await aSignedInUser('admin');
    expect((await browser.get('/api/v1/audit')).status).toBe(200);
    await sql.user.update({ where: { id }, data: { role: 'viewer' } });
    expect((await browser.get('/api/v1/audit')).body.code).toBe('insufficient_scope');
  });

  test('also of the temporary admin, until its variables change', async () => {
    const browser = await aBrowser(TEMPORARY_ADMIN);
    expect((await browser.get(SESSION)).body.user).toMatchObject({ kind: 'temporary-admin', temporary: true });
    const without = world.aReplica({ publicUrl: CONSOLE_URL, temporaryAdmin: undefined }).api();
    expect((await without.get(SESSION, browser.headers)).body.user).toBeNull();
  });

  test.each<[string, Headers]>([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['another origin of its site', { 'Sec-Fetch-Site': 'same-site' }],
    ['a typed address', { 'Sec-Fetch-Site': 'none' }],
    ['a program', { 'Sec-Fetch-Site': '' }],
  ])('authenticates no request of %s', async (_, sent) => {
    const { browser } = await aSignedInUser('admin');
    expect((await browser.get('/api/v1/hosts', sent)).body.code).toBe('unauthenticated');
    expect((await browser.post('/api/v1/catalog/sync', {}, sent)).body.code).toBe('unauthenticated');
    expect((await browser.get(SESSION, sent)).body).toEqual({ user: null, may: ['anyone'] });
  });

  test('makes no change from another origin, and the problem names the right one', async () => {
    const { browser } = await aSignedInUser('admin');
    for (const Origin of [
      'https://evil.example.test',
      'null',
      '',
      'http://fleet.example.test',
      `${CONSOLE_URL}:8443`,
    ]) {
      const { status, body } = await browser.post('/api/v1/catalog/sync', {}, { Origin });
      expect({ status, code: body.code, detail: body.detail }).toEqual({
        status: 403,
        code: 'wrong_origin',
        detail: expect.stringContaining(CONSOLE_URL),
      });
    }
  });

  test('does not authenticate a request to the MCP endpoint', async () => {
    const { browser } = await aSignedInUser('admin');
    const fleet = await listen(other.app);
    const { status, text } = await messagesTo(fleet.url).request('tools/list', {}, { headers: browser.headers });
    expect({ status, code: JSON.parse(text).code }).toEqual({ status: 401, code: 'unauthenticated' });
    await fleet.close();
  });

  test('does not authenticate a request with a bearer credential', async () => {
    const { browser } = await aSignedInUser('admin');
    const { secret } = await world.aToken({ role: 'viewer' });
    const { body } = await browser.get('/api/v1/auth/me', { Authorization: `Bearer ${secret}` });
    expect(body.user).toMatchObject({ kind: 'token', role: 'viewer' });
    expect((await browser.get(SESSION, { Authorization: 'Bearer unknown' })).body.code).toBe('invalid_token');
  });

  test('makes responses private', async () => {
    const { browser } = await aSignedInUser();
    for (const path of [SESSION, '/api/v1/hosts']) {
      const { headers } = await browser.get(path);
      expect(headers['cache-control']).toBe('private, no-cache');
      expect(headers.vary).toBe('Accept-Encoding, Authorization, Cookie, Origin');
    }
  });

  test('has an audit entry when it begins and for each change, also if the password is wrong', async () => {
    const { browser, id, email } = await aSignedInUser();
    await world.nobody.post(SESSION, { email, password: 'a guess' }, OF_CONSOLE);
    await browser.delete(SESSION);
    const entries = await sql.auditEntry.findMany({ where: { user_id: id }, orderBy: { at: 'asc' } });
    expect(entries.map(({ method, path, status, actor }) => [method, path, status, actor])).toEqual([
      ['POST', SESSION, 200, email],
      ['POST', SESSION, 401, email],
      ['DELETE', SESSION, 204, email],
    ]);
  });
});

describe('a session in a browser does not begin', () => {
  const signInAt = async (publicUrl: string | undefined, sent: Headers = OF_CONSOLE) => {
    const { email, password } = await world.aUser('viewer');
    return world.aReplica({ publicUrl }).api().post(SESSION, { email, password }, sent);
  };

  test.each([
    ['http://fleet.example.test', 'needs https'],
    [undefined, 'PUBLIC_URL is not set'],
  ])('at %s: the problem says that it %s', async (publicUrl, detail) => {
    const { status, body, headers } = await signInAt(publicUrl);
    expect(status).toBe(409);
    expect(body.code).toBe('browser_session_unavailable');
    expect(headers['set-cookie']).toBeUndefined();
    expect(body.detail).toContain(detail);
    const { body: config } = await world.aReplica({ publicUrl }).api().get('/api/v1/auth/config');
    expect(config.browser_session_refusal).toBe(body.detail);
  });

  test('with an OIDC sign-in that asks for a cookie at such an address', async () => {
    const { body } = await world
      .aReplica({ publicUrl: 'http://fleet.example.test' })
      .api()
      .get('/api/v1/auth/oidc/login?session=cookie');
    expect(body.code).toBe('browser_session_unavailable');
  });

  test('for a program, or for a page of another origin', async () => {
    for (const sent of [{}, { 'Sec-Fetch-Site': 'same-origin' }, { ...OF_CONSOLE, 'Sec-Fetch-Site': 'cross-site' }]) {
      expect((await signInAt(CONSOLE_URL, sent)).body.code).toBe('wrong_origin');
    }
  });

  test('with a wrong password, and failures count as those of other sign-ins', async () => {
    const { email, password } = await world.aUser('viewer');
    const from = { ...OF_CONSOLE, 'X-Forwarded-For': '198.51.100.7' };
    for (let failures = 0; failures < 6; failures++) {
      const { status, headers } = await world.nobody.post(SESSION, { email, password: 'a guess' }, from);
      expect(status).toBe(401);
      expect(headers['set-cookie']).toBeUndefined();
    }
    await sql.$executeRaw`UPDATE sign_in_failures SET blocked_until = blocked_until + interval '1 hour'`;
    expect((await world.nobody.post(SESSION, { email, password }, from)).status).toBe(429);
    await sql.$executeRaw`DELETE FROM sign_in_failures`;
  });

  test('and an ended session does not prevent a new one', async () => {
    const { browser, email, password } = await aSignedInUser();
    await browser.delete(SESSION);
    const { status } = await browser.post(SESSION, { email, password });
    expect(status).toBe(200);
  });
});

describe('requests of other pages change nothing', () => {
  const admin = aSignedInUser('admin');
  const changes = Object.values(fleetEndpoints).filter(({ method, access }) => method !== 'get' && access !== 'anyone');
  const pathOf = (path: string) => path.replace(/:\w+/g, '00000000-0000-4000-8000-000000000000');

  test.each(changes.map(({ method, path }) => [method.toUpperCase(), path] as const))('%s %s', async (method, path) => {
    const { browser } = await admin;
    const state = async () => [await sql.session.count({ where: { ended_at: null } }), await sql.auditEntry.count()];
    const before = await state();
    const send = (sent: Headers) =>
      world.nobody.send({ method, path: pathOf(path), headers: { ...browser.headers, ...sent }, body: {} });
    for (const site of ['cross-site', 'same-site', 'none', '']) {
      expect((await send({ 'Sec-Fetch-Site': site })).body.code).toBe('unauthenticated');
    }
    for (const Origin of ['https://evil.example.test', 'null', '']) {
      expect((await send({ Origin })).body.code).toBe('wrong_origin');
    }
    expect(await state()).toEqual(before);
  });
});

describe('a session in a browser ends', () => {
  const isOpen = async (browser: { get: (path: string) => Promise<{ body: { user: unknown } }> }) =>
    (await browser.get(SESSION)).body.user !== null;

  test('at its absolute expiry', async () => {
    const { browser, id } = await aSignedInUser();
    const { expires_at } = await sql.session.findFirstOrThrow({ where: { user_id: id } });
    expect(Math.round((expires_at.getTime() - Date.now()) / 3_600_000)).toBe(7 * 24);
    await sql.session.updateMany({ where: { user_id: id }, data: { expires_at: new Date() } });
    expect(await isOpen(browser)).toBe(false);
    expect((await browser.get('/api/v1/hosts')).body.code).toBe('unauthenticated');
  });

  test('when it was not used for 24 hours, which does not apply to tokens', async () => {
    const { browser, signIn, id } = await aSignedInUser();
    const { access_token } = await signIn();
    const unusedFor = (minutes: number) => {
      const last_used_at = new Date(Date.now() - minutes * 60_000);
      return sql.session.updateMany({ where: { user_id: id }, data: { created_at: new Date(0), last_used_at } });
    };
    await unusedFor(24 * 60 - 1);
    expect(await isOpen(browser)).toBe(true);
    await unusedFor(24 * 60 + 1);
    expect(await isOpen(browser)).toBe(false);
    const { sessions } = (await world.api(`Bearer ${access_token}`).get(SESSIONS)).body;
    expect(sessions.map(({ kind }: { kind: string }) => kind)).toEqual(['tokens']);
  });

  test('with its user', async () => {
    const { browser, id } = await aSignedInUser();
    expect((await world.asAdmin.delete(`/api/v1/users/${id}`)).status).toBe(204);
    expect(await isOpen(browser)).toBe(false);
  });

  test('when the browser signs in again: the reference is new, and the former one is no longer valid', async () => {
    const { browser, email, password } = await aSignedInUser();
    const again = await browser.post(SESSION, { email, password });
    expect(cookieIn(again)).not.toBe(browser.headers.Cookie);
    expect(await isOpen(browser)).toBe(false);
    const next = await other.api().get(SESSION, { ...OF_CONSOLE, Cookie: cookieIn(again) });
    expect(next.body.user).not.toBeNull();
  });

  test('and a reference that was planted before the sign-in is never valid', async () => {
    const { browser, email, password } = await aSignedInUser();
    const Cookie = browser.headers.Cookie.replace(/=.*/, '=planted');
    const opened = await world.nobody.post(SESSION, { email, password }, { ...OF_CONSOLE, Cookie });
    expect(opened.status).toBe(200);
    expect(cookieIn(opened)).not.toContain('planted');
    expect((await other.api().get(SESSION, { ...OF_CONSOLE, Cookie })).body.user).toBeNull();
  });

  test('and the sign-out deletes what the browser has stored', async () => {
    const { browser } = await aSignedInUser();
    expect((await browser.delete(SESSION)).headers['clear-site-data']).toBe('"cache"');
  });

  test('when its user has 100 others: ended ones are deleted first, then the one that was not used for longest', async () => {
    const { id, signInAgain } = await aSignedInUser();
    await sql.session.deleteMany({ where: { user_id: id } });
    const expires_at = new Date(Date.now() + 3_600_000);
    const aSession = (name: string, minutes: number, ended_at: Date | null = null) => {
      const last_used_at = new Date(Date.now() - minutes * 60_000);
      return { user_id: id, browser_hash: `${name} ${id}`, expires_at, ended_at, last_used_at };
    };
    const open = Array.from({ length: 99 }, (_, index) => aSession(`open ${index}`, index + 1));
    await sql.session.createMany({ data: [...open, aSession('ended', 0, new Date())] });
    const names = async () =>
      (await sql.session.findMany({ where: { user_id: id } })).map(({ browser_hash }) => browser_hash);
    await signInAgain();
    expect(await names()).toHaveLength(100);
    expect(await names()).not.toContain(`ended ${id}`);
    await signInAgain();
    expect(await names()).toHaveLength(100);
    expect(await names()).not.toContain(`open 98 ${id}`);
  });
});

describe('the sessions of a caller', () => {
  test('are listed with their browsers, and those of others are not', async () => {
    const { browser, signIn } = await aSignedInUser();
    await aSignedInUser();
    await signIn();
    const { sessions } = (await browser.get(SESSIONS)).body;
    expect(
      sessions.map(({ kind, current, user_agent }: Record<string, unknown>) => [kind, current, user_agent]),
    ).toEqual([
      ['tokens', false, null],
      ['browser', true, USER_AGENT],
    ]);
    expect(sessions[1]).toMatchObject({ source: '127.0.0.1', last_used_at: expect.any(String) });
  });

  test('of the temporary admin are listed and ended like those of users', async () => {
    const one = await aBrowser(TEMPORARY_ADMIN);
    const another = await aBrowser(TEMPORARY_ADMIN);
    const { sessions } = (await one.get(SESSIONS)).body;
    expect(sessions.length).toBeGreaterThanOrEqual(2);
    expect((await one.delete(SESSIONS)).status).toBe(204);
    expect((await another.get(SESSION)).body.user).toBeNull();
  });

  test('end one at a time', async () => {
    const { browser, signInAgain } = await aSignedInUser();
    const another = await signInAgain();
    const { sessions } = (await browser.get(SESSIONS)).body;
    const { id } = sessions.find(({ current }: { current: boolean }) => !current);
    expect((await browser.delete(`${SESSIONS}/${id}`)).status).toBe(204);
    expect((await another.get(SESSION)).body.user).toBeNull();
    expect((await browser.get(SESSION)).body.user).not.toBeNull();
    expect((await browser.delete(`${SESSIONS}/${id}`)).status).toBe(404);
  });

  test('of another user cannot be ended', async () => {
    const { browser } = await aSignedInUser('admin');
    const victim = await aSignedInUser();
    const { id } = (await victim.browser.get(SESSIONS)).body.sessions[0];
    for (const path of [`${SESSIONS}/${id}`, `${SESSIONS}/no-id`])
      expect((await browser.delete(path)).status).toBe(404);
    expect((await victim.browser.get(SESSION)).body.user).not.toBeNull();
  });

  test('end with a sign-out of this browser, or of all', async () => {
    const { browser, signInAgain, signIn, id } = await aSignedInUser();
    const another = await signInAgain();
    const third = await signInAgain();
    const { refresh_token } = await signIn();
    const ended = await browser.delete(SESSION);
    expect(ended.status).toBe(204);
    expect(ended.headers['set-cookie']).toEqual([expect.stringContaining('Max-Age=0')]);
    expect((await browser.get('/api/v1/auth/me')).body.code).toBe('unauthenticated');
    expect((await another.get(SESSION)).body.user).not.toBeNull();
    const all = await another.delete(SESSIONS);
    expect(all.status).toBe(204);
    expect(all.headers['set-cookie']).toEqual([expect.stringContaining('Max-Age=0')]);
    expect((await third.get(SESSION)).body.user).toBeNull();
    expect((await world.nobody.post('/api/v1/auth/refresh', { refresh_token })).body.code).toBe('invalid_grant');
    expect(await sql.session.count({ where: { user_id: id, ended_at: null } })).toBe(0);
  });

  test('end with a change of the own password, except that of the browser', async () => {
    const { browser, signInAgain, password } = await aSignedInUser();
    const another = await signInAgain();
    const body = { current_password: password, new_password: 'seventeen quiet tractors' };
    const { status } = await other.api().put('/api/v1/auth/password', body, browser.headers);
    expect(status).toBe(204);
    expect((await browser.get(SESSION)).body.user).not.toBeNull();
    expect((await another.get(SESSION)).body.user).toBeNull();
  });

  test('record their use once a minute', async () => {
    const { browser, id } = await aSignedInUser();
    const lastUse = async () => (await sql.session.findFirstOrThrow({ where: { user_id: id } })).last_used_at;
    await browser.get(SESSION);
    const first = await lastUse();
    await pause(2);
    await browser.get(SESSION);
    expect(first).toEqual(expect.any(Date));
    expect(await lastUse()).toEqual(first);
  });
});

describe('what a caller may do', () => {
  const notAdmin = ['people-write', 'settings', 'audit', 'secrets-write'];
  const notViewer = [...notAdmin, 'catalog-sync', 'resources-write', 'plans-review', 'values-reveal'];
  const ofSessions = ['session', 'local-session', 'plans-review', 'values-reveal'];

  test.each([
    ['viewer', notViewer],
    ['operator', notAdmin],
    ['admin', []],
  ] as const)('is listed for a %s', async (role, missing) => {
    const { browser } = await aSignedInUser(role);
    const expected = fleetAccesses.filter((access) => !(missing as readonly string[]).includes(access));
    expect((await browser.get(SESSION)).body.may).toEqual(expected);
    expect((await browser.get('/api/v1/auth/me')).body.may).toEqual(expected);
    const { body } = await world.as(await world.aToken({ role })).get('/api/v1/auth/me');
    expect(body.may).toEqual(expected.filter((access) => !ofSessions.includes(access)));
  });
});
