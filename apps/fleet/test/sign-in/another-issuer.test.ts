import { startBendableIssuer } from '../oidc/bendable-issuer.ts';
import { meAt } from './browser.ts';
import { startSignInWorld } from './world.ts';

const world = await startSignInWorld();
const { issuer, one, other, replicas, signIn, accessToken, newBrowser, backFrom } = world;
const sql = world.database.client;

const SETTINGS = '/api/v1/settings/oidc';
const next = await startBendableIssuer();
const moveToNext = async () => {
  const settings = { issuer: next.url, client_secret: 'of the next one' };
  expect((await world.asAdmin.put(SETTINGS, settings)).status).toBe(200);
};
afterEach(async () => {
  await world.asAdmin.delete(SETTINGS);
  await sql.session.deleteMany();
});
afterAll(() => next.stop());

const statuses = async (credential: string) => (await meAt(replicas, credential)).map(({ status }) => status);
const asked = () => [issuer.countOf('/token'), next.countOf('/token'), next.countOf('/introspect')];

test('after a change of the issuer, a sign-in at the former one fails, and its code is sent to neither', async () => {
  const browser = newBrowser();
  const one = backFrom(await browser.begin());
  const another = backFrom(await browser.begin());
  const before = asked();
  await moveToNext();
  for (const query of [one, { ...another, iss: next.url }])
    expect(await browser.openCallback(query)).toMatchObject({ status: 401, body: { code: 'invalid_grant' } });
  expect(asked()).toEqual(before);
});

test('after a change of the issuer, sessions of the former one end, and its refresh token is sent to nobody', async () => {
  const { access_token } = await signIn();
  await sql.$executeRaw`UPDATE sessions SET provider_at = now() - interval '1 second'`;
  const before = asked();
  await moveToNext();
  expect(await statuses(access_token)).toEqual([401, 401]);
  expect(await other.checks.runDue()).toBe(1);
  expect(asked()).toEqual(before);
  await world.asAdmin.delete(SETTINGS);
  expect(await statuses(access_token)).toEqual([401, 401]);
  expect(await sql.session.findFirstOrThrow()).toMatchObject({ provider_token: null, ended_at: expect.any(Date) });
});

test('a check of a session during a change of the issuer sends requests only to the former one', async () => {
  await signIn();
  await sql.$executeRaw`UPDATE sessions SET provider_at = now() - interval '1 second'`;
  issuer.bend('/token', async () => {
    await moveToNext();
    return issuer.tokens({ id_token: await issuer.idToken({ nonce: undefined, role: 'admin' }) });
  });
  expect(await one.checks.runDue()).toBe(1);
  expect(next.countOf('/token')).toBe(0);
});

test('after a change of the issuer, JWTs of the former one are rejected without a request', async () => {
  const token = await accessToken();
  expect(await statuses(token)).toEqual([200, 200]);
  await moveToNext();
  const before = asked();
  expect(await statuses(token)).toEqual([401, 401]);
  expect(asked()).toEqual(before);
});

test('the same subject at another issuer is another user', async () => {
  const { access_token } = await signIn({ sub: 'same', email: 'same@example.test' });
  const [before] = await meAt([one], access_token);
  await moveToNext();
  const there = {
    iss: next.url,
    aud: 'https://fleet.example.test',
    sub: 'same',
    role: 'viewer',
    email: 'same@example.test',
  };
  const [after] = await meAt([one], await next.signer().sign(there, { typ: 'at+jwt' }));
  expect(after).toMatchObject({ status: 200, body: { user: { email: null, role: 'viewer' } } });
  expect(after?.body.user.id).not.toBe(before?.body.user.id);
});

test('without a configured provider nobody can sign in at one', async () => {
  const { api } = world.aReplica({ oidc: { issuer: undefined, client_id: undefined, client_secret: undefined } });
  const answers = [
    await api().get('/api/v1/auth/oidc/login'),
    await api().get('/api/v1/auth/oidc/callback?code=x&state=y'),
    await api().post('/api/v1/auth/oidc/token', {
      code: 'x',
      code_verifier: 'v'.repeat(43),
      redirect_uri: 'http://frontend.example.test',
    }),
  ];
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
    answers.map(() => [409, 'oidc_not_configured']),
  );
  expect((await api(`Bearer ${await accessToken()}`).get('/api/v1/auth/me')).status).toBe(401);
  expect((await api().get('/api/v1/auth/config')).body.oidc).toBeNull();
});

test('a fleet without a configured public URL reports this instead of starting a sign-in', async () => {
  const { api } = world.aReplica({ publicUrl: undefined });
  const { status, body } = await api().get('/api/v1/auth/oidc/login');
  expect({ status, code: body.code, detail: body.detail }).toEqual({
    status: 409,
    code: 'oidc_not_configured',
    detail: expect.stringContaining('PUBLIC_URL'),
  });
  expect((await api().get('/api/v1/auth/config')).body.oidc.redirect).toBe(false);
});
