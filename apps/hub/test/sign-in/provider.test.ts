// People sign in at a real OpenID provider, the development identity provider as it is built, and come with its tokens.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { signIn } from '@svc/identity-provider/sign-in';
import { type StartedProcess, startProcess } from '@svc/testing';
import { anInstance, startWorld } from '../world.ts';

const MAIN = path.resolve(import.meta.dirname, '../../../../infra/identity-provider/dist/main.js');
const AUDIENCE = 'https://hub.example.test';
const ANOTHER = 'https://other.example.test';
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
/** Signs in, for an access token of that audience; without one it is opaque. */
const tokensOf = (resource?: string) => signIn({ ...person, ...(resource === undefined ? {} : { resource }) });
const statusOf = async (token: string, at = PUBLIC) => (await hub.api(`Bearer ${token}`).get(at)).status;

test('first sight of an access token makes the user, whose role then decides', async () => {
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

test('its ID token, an opaque token, and a token for another audience are refused', async () => {
  const { idToken = '', accessToken: opaque } = await tokensOf();
  const { accessToken: forAnother } = await tokensOf(ANOTHER);
  expect(idToken.split('.')).toHaveLength(3);
  expect(opaque.split('.')).toHaveLength(1);
  for (const token of [idToken, opaque, forAnother])
    expect([await statusOf(token), await statusOf(token, ADMIN)]).toEqual([401, 401]);
});

test('known keys outlive the provider; it comes back with new ones, which work at first use and end the old', async () => {
  const { accessToken: old } = await tokensOf(AUDIENCE);
  expect(await statusOf(old)).toBe(200);
  await stopProvider();
  expect(await statusOf(old)).toBe(200);
  await rm(KEYS_FILE);
  provider = await startProvider(new URL(issuer).port);
  expect(await statusOf(old)).toBe(200); // nothing told the hub yet
  const { accessToken } = await tokensOf(AUDIENCE);
  expect(await statusOf(accessToken)).toBe(200);
  expect(await statusOf(old)).toBe(401);
});

/** Starts it, again where another test has its port for a moment. */
async function startProvider(PORT: string): Promise<StartedProcess> {
  const started = startProcess(MAIN, [], { PORT, KEYS_FILE, AUDIENCES: `${AUDIENCE},${ANOTHER}` });
  while (!started.output().includes('identity provider:')) {
    if (started.output().includes('EADDRINUSE')) {
      await started.ended;
      return startProvider(PORT);
    }
    if (started.child.exitCode !== null) throw new Error(`the provider ended:\n${started.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return started;
}

async function stopProvider() {
  provider.child.kill('SIGTERM');
  await provider.ended;
}
