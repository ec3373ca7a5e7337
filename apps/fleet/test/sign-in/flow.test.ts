import { CALLBACK, codeIn, consoleCodeIn, consoleLogin, EXCHANGE, LOGIN, meAt } from './browser.ts';
import { startDevelopmentWorld } from './development.ts';

const world = await startDevelopmentWorld();
const { replicas, newBrowser, enter, fillIn, issuer } = world;
const sql = world.database.client;

const ADA = { kind: 'oidc', name: 'Ada Admin', email: 'admin@example.test', role: 'admin', temporary: false };

test('a browser signs in by code and PKCE with each request on another replica', async () => {
  const browser = newBrowser();
  const back = await enter(browser, 'admin@example.test', '/hosts?page=2#top');
  expect(back.status).toBe(302);
  const target = new URL(back.headers.location ?? '');
  expect(target.origin + target.pathname).toBe('http://127.0.0.1:4200/hosts');
  expect([...target.searchParams.keys()].sort()).toEqual(['code', 'page']);
  expect(target.hash).toBe('#top');
  const { status, body, headers } = await browser.exchange(back);
  expect(status).toBe(200);
  expect(headers['cache-control']).toBe('no-store');
  expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 600, user: ADA });
  for (const me of await meAt(replicas, body.access_token)) expect(me.body.user).toMatchObject(ADA);
});

test('the authorization URL has state, nonce and an S256 challenge, and the fleet’s redirect URI', async () => {
  const { origin, searchParams } = await newBrowser().begin();
  expect(origin).toBe(new URL(issuer).origin);
  expect(Object.fromEntries(searchParams)).toEqual({
    response_type: 'code',
    client_id: 'fleet',
    redirect_uri: `http://127.0.0.1:4200${CALLBACK}`,
    scope: 'openid email profile offline_access',
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });
});

test('the cookie of a sign-in is sent only to the callback, hidden from scripts, and deleted after the sign-in', async () => {
  const browser = newBrowser();
  const begun = await browser.get(LOGIN);
  const [cookie = ''] = [begun.headers['set-cookie'] ?? []].flat();
  expect(cookie.split('; ').slice(1).sort()).toEqual(['HttpOnly', 'Max-Age=600', `Path=${CALLBACK}`, 'SameSite=Lax']);
  expect(begun.headers['cache-control']).toBe('no-store');
  expect(browser.cookies.size).toBe(1);
  await browser.openCallback(await fillIn(new URL(begun.headers.location ?? ''), 'user@example.test'));
  expect(browser.cookies.size).toBe(0);
});

test('with a public https URL that has a path, the cookie of a sign-in is Secure and has the prefix of its host', async () => {
  const publicUrl = 'https://example.test/fleet';
  const begun = await world
    .aReplica({ ...world.environment, publicUrl })
    .api()
    .get(LOGIN);
  const [cookie = ''] = [begun.headers['set-cookie'] ?? []].flat();
  expect(cookie).toMatch(/^__Host-fleet-sign-in-/);
  expect(cookie.split('; ')).toEqual(expect.arrayContaining(['Secure', 'Path=/']));
});

test('a sign-in of the console ends with its cookie instead of a code', async () => {
  const browser = newBrowser();
  const begun = await browser.get(consoleLogin('/hosts?page=2'));
  const back = await browser.openCallback(await fillIn(new URL(begun.headers.location ?? ''), 'admin@example.test'));
  const location = `http://127.0.0.1:4200/hosts?page=2#sign_in_code=${consoleCodeIn(back)}`;
  expect(back).toMatchObject({ status: 302, headers: { location } });
  expect((await browser.finish(back)).body.user).toMatchObject(ADA);
  expect([...browser.cookies.keys()]).toEqual([expect.stringMatching(/^fleet-session-[0-9a-f]{8}$/)]);
  const [[name, { value } = { value: '' }] = []] = [...browser.cookies];
  const headers = { Cookie: `${name}=${value}`, 'Sec-Fetch-Site': 'same-origin' };
  for (const replica of replicas) {
    const { body } = await replica.api().get('/api/v1/auth/session', headers);
    expect(body.user).toMatchObject(ADA);
  }
});

test('two tabs of one browser can sign in concurrently as two users', async () => {
  const browser = newBrowser();
  const [ada, olga] = await Promise.all([browser.begin('/one'), browser.begin('/other')]);
  const [ofAda, ofOlga] = await Promise.all([fillIn(ada, 'admin@example.test'), fillIn(olga, 'operator@example.test')]);
  const backs = await Promise.all([browser.openCallback(ofOlga), browser.openCallback(ofAda)]);
  expect(backs.map(({ headers }) => new URL(headers.location ?? '').pathname)).toEqual(['/other', '/one']);
  const [first, second] = await Promise.all(backs.map((back) => browser.exchange(back)));
  expect(first?.body.user.name).toBe('Olga Operator');
  expect(second?.body.user.name).toBe('Ada Admin');
});

test('a callback that is repeated succeeds once', async () => {
  const browser = newBrowser();
  const query = await fillIn(await browser.begin(), 'user@example.test');
  const [one, other] = await Promise.all([browser.openCallback(query), browser.openCallback(query)]);
  expect([one.status, other.status].sort()).toEqual([302, 401]);
});

test('a code of the provider that was redeemed is rejected in any sign-in', async () => {
  const browser = newBrowser();
  const used = await fillIn(await browser.begin(), 'user@example.test');
  expect((await browser.openCallback(used)).status).toBe(302);
  const fresh = await fillIn(await browser.begin(), 'user@example.test');
  const { code = '' } = used;
  expect(await browser.openCallback({ ...fresh, code })).toMatchObject({
    status: 401,
    body: { code: 'invalid_grant' },
  });
});

test('the exchange code is valid once, also for two concurrent requests', async () => {
  const browser = newBrowser();
  const code = codeIn(await enter(browser, 'user@example.test'));
  const answers = await Promise.all(replicas.map((replica) => replica.api().post(EXCHANGE, { code })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  expect((await replicas[0].api().post(EXCHANGE, { code })).body.code).toBe('invalid_grant');
});

test('no credential of a sign-in is in the database in plain text', async () => {
  const browser = newBrowser();
  const address = await browser.begin();
  const [{ value = '' } = {}] = browser.cookies.values();
  const kept = JSON.stringify(await sql.signInTransaction.findMany());
  const { searchParams } = address;
  for (const secret of [searchParams.get('state'), searchParams.get('nonce'), value])
    expect(kept).not.toContain(secret);
  const code = codeIn(await browser.openCallback(await fillIn(address, 'user@example.test')));
  expect(JSON.stringify(await sql.signInCode.findMany())).not.toContain(code);
});
