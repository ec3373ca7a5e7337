import { aSigner, unsigned } from '../oidc/signer.ts';
import { CALLBACK, codeIn, EXCHANGE, LOGIN } from './browser.ts';
import { startSignInWorld } from './world.ts';

const world = await startSignInWorld();
const { issuer, newBrowser, backFrom, enter, says } = world;
const sql = world.database.client;

beforeEach(() => says({ role: 'operator' }));

const refused = { status: 401, body: { code: 'invalid_grant' } };
const sessionsAndUsers = async () => [await sql.session.count(), await sql.user.count()];

/** Asserts that the issuer receives no request, and that no user is added. */
async function isRefusedUnasked(openCallback: () => Promise<unknown>) {
  const before = [issuer.countOf('/token'), ...(await sessionsAndUsers())];
  expect(await openCallback()).toMatchObject(refused);
  expect([issuer.countOf('/token'), ...(await sessionsAndUsers())]).toEqual(before);
}

test.each<[string, Record<string, string | undefined>]>([
  ['another state', { state: 'x'.repeat(43) }],
  ['an empty state', { state: '' }],
  ['no state', { state: undefined }],
])('a callback with %s is rejected', async (_, changed) => {
  const browser = newBrowser();
  const query = backFrom(await browser.begin(), changed);
  await isRefusedUnasked(() => browser.openCallback(query));
});

test('a callback is rejected in a browser without the cookie, and stays valid in the browser that started it', async () => {
  const browser = newBrowser();
  const query = backFrom(await browser.begin());
  await isRefusedUnasked(() => newBrowser().openCallback(query));
  expect((await browser.openCallback(query)).status).toBe(302);
});

test('a callback is rejected in a browser with the cookie of its own sign-in, also under the same name', async () => {
  const victim = newBrowser();
  const attacker = newBrowser();
  await victim.begin();
  const query = backFrom(await attacker.begin());
  await isRefusedUnasked(() => victim.openCallback(query));
  const [[, own] = ['', undefined]] = victim.cookies;
  const [[name] = ['']] = attacker.cookies;
  if (own) victim.cookies.set(name, own);
  await isRefusedUnasked(() => victim.openCallback(query));
});

test('two states in one callback are rejected, and consume nothing', async () => {
  const browser = newBrowser();
  const query = backFrom(await browser.begin());
  const { status } = await browser.get(`${CALLBACK}?${new URLSearchParams(query)}&state=another`);
  expect(status).toBe(400);
  expect((await browser.openCallback(query)).status).toBe(302);
});

test('a callback that is repeated is rejected', async () => {
  const browser = newBrowser();
  const query = backFrom(await browser.begin());
  const kept = [...browser.cookies];
  expect((await browser.openCallback(query)).status).toBe(302);
  for (const [name, cookie] of kept) browser.cookies.set(name, cookie);
  await isRefusedUnasked(() => browser.openCallback(query));
});

test('a sign-in expires after ten minutes', async () => {
  const browser = newBrowser();
  const late = await browser.begin();
  const early = await browser.begin();
  const [{ most } = { most: 0 }] = await sql.$queryRaw<{ most: number }[]>`
    SELECT extract(epoch FROM max(expires_at) - now())::int AS most FROM sign_in_transactions`;
  expect(most).toBeGreaterThan(590);
  expect(most).toBeLessThanOrEqual(600);
  expect((await browser.openCallback(backFrom(early))).status).toBe(302);
  await sql.$executeRaw`UPDATE sign_in_transactions SET expires_at = expires_at - interval '10 minutes'`;
  await isRefusedUnasked(() => browser.openCallback(backFrom(late)));
});

const fill = (network: string, count: number) => sql.$executeRaw`
  INSERT INTO sign_in_transactions (state_hash, browser_hash, network, sealed, key_id, return_to, expires_at)
  SELECT ${network} || i, '', ${network}, '', '', '/', now() + interval '10 minutes' FROM generate_series(1, ${count}::int) i`;

test.each([
  ['127.0.0.1', 99, '100 of one address'],
  ['192.0.2.1', 9_999, '10000 in total'],
])('a sign-in beyond the limit of unfinished ones is rejected: %s', async (network, before, bound) => {
  await sql.$executeRaw`DELETE FROM sign_in_transactions`;
  await fill(network, before);
  const answers = await Promise.all(Array.from({ length: 3 }, () => newBrowser().get(LOGIN)));
  expect(answers.map(({ status }) => status).sort()).toEqual([302, 429, 429]);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused).toMatchObject({ headers: { 'retry-after': '60' }, body: { detail: expect.stringContaining(bound) } });
  expect(await sql.signInTransaction.count()).toBe(before + 1);
  await sql.$executeRaw`DELETE FROM sign_in_transactions`;
});

test('an exchange code expires after one minute, and an unknown one is rejected alike', async () => {
  const browser = newBrowser();
  const early = await enter(browser);
  const late = await enter(browser);
  expect((await browser.exchange(early)).status).toBe(200);
  await sql.$executeRaw`UPDATE sign_in_codes SET expires_at = expires_at - interval '1 minute'`;
  const over = await browser.exchange(late);
  expect(over).toMatchObject(refused);
  const unknown = await world.nobody.post(EXCHANGE, { code: 'x'.repeat(43) });
  expect({ ...unknown.body, request_id: '' }).toEqual({ ...over.body, request_id: '' });
});

test('an exchange code is not accepted as a credential', async () => {
  const code = codeIn(await enter());
  expect((await world.one.api(`Bearer ${code}`).get('/api/v1/auth/me')).status).toBe(401);
  expect((await world.nobody.post('/api/v1/auth/refresh', { refresh_token: code })).status).toBe(401);
});

const stranger = await aSigner('first');
const WRONG_ID_TOKENS: [string, () => Promise<string> | string][] = [
  ['another nonce', () => issuer.idToken({ nonce: 'another' })],
  ['no nonce', () => issuer.idToken({ nonce: undefined })],
  ['another audience', () => issuer.idToken({ aud: 'another' })],
  ['another issuer', () => issuer.idToken({ iss: 'https://other.example.test' })],
  ['an expiry in the past', () => issuer.idToken({ exp: 1 })],
  [
    'a signature of another key',
    () => stranger.sign({ iss: issuer.url, aud: 'fleet', sub: 'ada', nonce: issuer.nonce }),
  ],
  ['no signature', () => unsigned({ iss: issuer.url, aud: 'fleet', sub: 'ada', nonce: issuer.nonce })],
];

test.each(WRONG_ID_TOKENS)('a sign-in whose ID token has %s is rejected', async (_, makeIdToken) => {
  issuer.bend('/token', async () => issuer.tokens({ id_token: await makeIdToken() }));
  const before = await sessionsAndUsers();
  expect(await enter()).toMatchObject(refused);
  expect(await sessionsAndUsers()).toEqual(before);
});

test.each([
  ['another issuer', { iss: 'https://other.example.test' }],
  ['no issuer, although the provider declares the parameter', { iss: undefined }],
])('a callback that names %s is rejected before the code is sent: a mix-up', async (_, changed) => {
  const browser = newBrowser();
  const query = backFrom(await browser.begin(), changed);
  await isRefusedUnasked(() => browser.openCallback(query));
});

test.each(['access_denied', 'login_required', 'anything <script>alert(1)</script>'])(
  'a provider that answers %s ends the sign-in, and its text is not repeated',
  async (error) => {
    const browser = newBrowser();
    const told = { code: undefined, error, error_description: 'words of a stranger' };
    const query = backFrom(await browser.begin(), told);
    const answer = await browser.openCallback(query);
    expect(answer).toMatchObject(refused);
    expect(answer.text).not.toContain('stranger');
    expect(answer.text).not.toContain('script');
    expect(await browser.openCallback(query)).toMatchObject(refused);
  },
);

test('a provider that does not declare the issuer parameter may omit it', async () => {
  const fresh = world.aReplica();
  issuer.bendMetadata({ authorization_response_iss_parameter_supported: undefined });
  const browser = newBrowser([fresh]);
  expect((await browser.openCallback(backFrom(await browser.begin(), { iss: undefined }))).status).toBe(302);
});
