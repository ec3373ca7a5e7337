// Users sign in to a real OpenID provider, the built development identity provider, and use its
// tokens.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { signIn } from '@svc/identity-provider/sign-in';
import { eventually, type StartedProcess, startProcess } from '@svc/testing';
import { anInstance, startWorld } from '../world.ts';

const MAIN = path.resolve(import.meta.dirname, '../../../../infra/identity-provider/dist/main.js');
const AUDIENCE = 'https://hub.example.test';
const OTHER_AUDIENCE = 'https://other.example.test';
const ADMIN = '/api/v1/admin/templates';
const PUBLIC = '/api/v1/catalog/templates';

const folder = await mkdtemp(path.join(tmpdir(), 'provider-'));
const KEYS_FILE = path.join(folder, 'keys.json');

const world = await startWorld();
let provider = await startProvider('0');
const issuer = /identity provider: (\S+)/.exec(provider.output())?.[1] ?? '';
const hub = anInstance(world.databaseUrl, { issuer, audience: AUDIENCE });
afterAll(async () => {
  await stopProvider();
  await hub.stop();
  await world.stop();
  await rm(folder, { recursive: true });
});

const person = { issuer, email: 'admin@example.test', password: 'development' };
/**
 * Signs in for an access token with the audience `resource`. Without a resource, the access token
 * is opaque.
 */
const tokensOf = (resource?: string) => signIn({ ...person, ...(resource === undefined ? {} : { resource }) });
const statusOf = async (token: string, at = PUBLIC) => (await hub.api(`Bearer ${token}`).get(at)).status;

test('creates the user at the first request, and authorizes by the role of the user', async () => {
  const { accessToken } = await tokensOf(AUDIENCE);
  expect(await statusOf(accessToken, ADMIN)).toBe(403);
  const where = { iss_sub: { iss: issuer, sub: 'dev-admin' } };
  expect(await world.database.client.user.findUnique({ where })).toMatchObject({
    email: 'admin@example.test',
    email_verified: true,
    name: 'Ada Admin',
    role: 'user',
  });
  await world.database.client.user.update({ where, data: { role: 'admin', role_set: true } });
  expect(await statusOf(accessToken, ADMIN)).toBe(200);
});

test('rejects an ID token, an opaque token, and a token for another audience', async () => {
  const { idToken = '', accessToken: opaque } = await tokensOf();
  const { accessToken: forOtherAudience } = await tokensOf(OTHER_AUDIENCE);
  expect(idToken.split('.')).toHaveLength(3);
  expect(opaque.split('.')).toHaveLength(1);
  for (const token of [idToken, opaque, forOtherAudience]) {
    expect(await statusOf(token)).toBe(401);
    expect(await statusOf(token, ADMIN)).toBe(401);
  }
});

test('accepts known keys while the provider is stopped, and replaces them at the first use of a new key', async () => {
  const { accessToken: old } = await tokensOf(AUDIENCE);
  expect(await statusOf(old)).toBe(200);
  await stopProvider();
  expect(await statusOf(old)).toBe(200);
  await rm(KEYS_FILE);
  provider = await startProvider(new URL(issuer).port);
  expect(await statusOf(old)).toBe(200); // the hub has not fetched the new keys yet
  const { accessToken } = await tokensOf(AUDIENCE);
  expect(await statusOf(accessToken)).toBe(200);
  expect(await statusOf(old)).toBe(401);
});

/** Starts the provider. Retries while its port is in use by another test. */
async function startProvider(PORT: string): Promise<StartedProcess> {
  const started = startProcess(MAIN, [], { PORT, KEYS_FILE, AUDIENCES: `${AUDIENCE},${OTHER_AUDIENCE}` });
  const isDecided = () => started.output().includes('identity provider:') || started.child.exitCode !== null;
  await eventually('the provider listens or has ended', isDecided);
  if (started.output().includes('identity provider:')) return started;
  if (started.output().includes('EADDRINUSE')) return startProvider(PORT);
  throw new Error(`the provider exited:\n${started.output()}`);
}

async function stopProvider() {
  provider.child.kill('SIGTERM');
  await provider.ended;
}
