// Sends invalid and valid requests to a fleet with many secrets. Afterwards neither its database
// nor its output nor its diagnosis contains one of the secrets in any form.
import { newSecretToken } from '@svc/auth';
import { startSmallProvider } from '../audit/small-provider.ts';
import { startFakeHub } from '../fake-hub.ts';
import { startProcessWorld } from '../process-world.ts';
import { createCaller } from './caller.ts';
import { dump } from './dump.ts';
import { type Canary, leaks } from './encoded-forms.ts';
import { misuseEndpoints, misuseSecrets } from './misuse.ts';

const aSecret = (name: string) => `${name}-${newSecretToken('svcm_').slice(5)}`;
/** The secrets with which the fleet is started. */
const given = {
  temporaryAdmin: aSecret('temporary-admin'),
  metrics: aSecret('metrics'),
  clientSecret: aSecret('client-secret'),
  hubKey: newSecretToken('svcc_'),
  encryptionKey: Buffer.from(newSecretToken('svcm_').slice(0, 32)),
  providerToken: aSecret('provider-refresh'),
};
const canaries: Canary[] = Object.entries(given).map(([name, value]) => ({ name, value }));
/** Records a secret that was created while the fleet ran. */
function noted(name: string, value: unknown): string {
  if (typeof value !== 'string' || value.length < 20)
    throw new Error(`the value of ${name} is too short or not a string`);
  canaries.push({ name, value });
  return value;
}

const world = await startProcessWorld();
const hub = await startFakeHub(given.hubKey);
const provider = await startSmallProvider({ refreshToken: given.providerToken });
const fleet = await world.startFleet({
  ENCRYPTION_KEYS: `canary:${given.encryptionKey.toString('base64')}`,
  SVC_TEMP_ADMIN_USERNAME: 'first-admin',
  SVC_TEMP_ADMIN_PASSWORD: given.temporaryAdmin,
  METRICS_TOKEN: given.metrics,
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: provider.clientId,
  OIDC_CLIENT_SECRET: given.clientSecret,
  HUB_URL: hub.url,
  HUB_API_KEY: given.hubKey,
  OUTBOUND_ALLOW: 'http,loopback',
  PUBLIC_URL: 'http://fleet.example.test',
  RATE_LIMIT: 'off',
  LOG_LEVEL: 'trace',
});
const { call, goToProvider, openCallback } = createCaller(fleet.url);
afterAll(async () => {
  await world.endAll();
  await provider.stop();
  await hub.stop();
  await world.database.drop();
});

/** Signs in by any method. @returns the access token */
async function session(name: string, path: string, body: object) {
  const { status, body: pair } = await call('POST', `/api/v1/auth/${path}`, { body });
  expect(status).toBe(200);
  return {
    access: noted(`access token of ${name}`, pair.access_token),
    refresh: noted(`refresh token of ${name}`, pair.refresh_token),
  };
}

/** Completes one sign-in, and leaves one open. @returns an access token of the user */
async function signInAtProvider(): Promise<string> {
  for (const which of ['finished', 'open']) {
    const begun = await goToProvider();
    noted(`state, ${which}`, begun.state);
    noted(`nonce, ${which}`, begun.nonce);
    noted(`cookie, ${which}`, begun.cookie.split('=')[1]);
    if (which === 'open') break;
    const left = noted('sign-in code that is left', await openCallback(begun));
    expect(left).not.toBe('');
  }
  const code = noted('sign-in code', await openCallback(await goToProvider()));
  const { access, refresh } = await session('the person', 'exchange', { code });
  await session('the person, later', 'refresh', { refresh_token: refresh });
  return access;
}

/** MCP tokens in every state. @returns their secrets */
async function issueTokens(as: string): Promise<readonly string[]> {
  const post = (path: string, body?: object) => call('POST', path, body ? { as, body } : { as });
  const issue = async (name: string) => (await post('/api/v1/tokens', { name, role: 'admin' })).body.token;
  const token = await issue('token');
  const revoked = await issue('revoked');
  await call('DELETE', `/api/v1/tokens/${revoked.id}`, { as });
  const { body } = await post(`/api/v1/tokens/${token.id}/reissue`);
  return [
    noted('former secret', token.secret),
    noted('revoked token', revoked.secret),
    noted('re-issued secret', body.token.secret),
    noted('token of the command line', (await world.createToken('admin')).secret),
  ];
}

/** Secrets that are set while the fleet runs. */
async function changeSettings(as: string): Promise<void> {
  const put = async (path: string, body: object) =>
    expect((await call('PUT', `/api/v1/settings/${path}`, { as, body })).status).toBe(200);
  await put('hub', { url: hub.url, api_key: noted('hub key that is set', newSecretToken('svcc_')) });
  await put('oidc', { issuer: provider.issuer, client_secret: noted('client secret that is set', aSecret('set')) });
}

test('after any requests, no secret is in the database or in the output of the fleet', async () => {
  const admin = await session('the temporary admin', 'login', {
    username: 'first-admin',
    password: given.temporaryAdmin,
  });
  const password = noted('password of the local user', aSecret('local'));
  const user = { email: 'local@example.test', role: 'admin', password };
  expect((await call('POST', '/api/v1/users', { as: admin.access, body: user })).status).toBe(201);
  const local = await session('the local user', 'login', { email: user.email, password });
  const person = await signInAtProvider();
  const tokens = await issueTokens(admin.access);
  await changeSettings(admin.access);
  const full = await dump(world, 'while all was in use');
  const diagnoses: Record<string, string> = {};
  for (const operation of ['doctor', 'support-bundle']) {
    const { status, body } = await call('POST', `/api/v1/${operation}`, { as: admin.access });
    expect({ operation, status }).toEqual({ operation, status: 200 });
    diagnoses[operation] = JSON.stringify(body);
  }
  expect(diagnoses['support-bundle']).toContain('"HUB_API_KEY"');
  expect(diagnoses['support-bundle']).not.toContain(user.email);

  const misuse = {
    credentials: [admin.access, local.access, person, ...tokens, given.hubKey, given.providerToken, password],
    secrets: canaries.map(({ value }) => String(value)),
    recognised: (secret: string) => /^svc[cm]_|^eyJ/.test(secret),
  };
  await misuseEndpoints(call, misuse);
  await misuseSecrets(call, misuse);
  await changeSettings(admin.access);
  // Requests to the provider fail from here on.
  await Promise.all([hub.stopListening(), provider.stop()]);
  await misuseEndpoints(call, { ...misuse, credentials: tokens.slice(-1) });
  await call('POST', '/api/v1/auth/logout', { as: local.access });
  await call('DELETE', '/api/v1/auth/session', { as: person });
  await call('DELETE', '/api/v1/auth/sessions', { as: admin.access });
  await Promise.all([hub.startListening(), provider.startListening()]);

  const left = await dump(world, 'in the end');
  await world.stop(fleet);
  const output = fleet.output();
  // Checks that the searched texts are complete.
  for (const text of ['the temporary admin is in use', '"status":401', '"status":415', '"status":502']) {
    expect(output).toContain(text);
  }
  expect(full['public.settings, while all was in use']).toContain('ciphertext');
  expect(full['public.sign_in_transactions, while all was in use']).toContain('ciphertext');
  expect(left['public.audit_entries, in the end']).toContain('/api/v1/nothing/[credential]');
  expect(leaks(canaries, { ...full, ...left, ...diagnoses, output })).toEqual([]);
});
