import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { jest } from '@jest/globals';
import { startIdentityProvider } from '@svc/identity-provider/server';
import { createAuthority, freePort, onServer, startSyslogReceiver } from '@svc/testing';
import { prepareFaults } from '@svc/testing/faults';
import { doctor } from '../../src/commands/doctor.ts';
import { prepareHubFaults } from '../faults/world.ts';

const prismaDir = path.resolve(import.meta.dirname, '../../../../prisma/hub');
const { aDatabase, aFolder, closers } = prepareFaults();
const { anIssuer, aHub } = prepareHubFaults();
const databaseUrl = await aDatabase();
const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
});

interface Report {
  readonly service: string;
  readonly version: string;
  readonly healthy: boolean;
  readonly checks: readonly { name: string; state: string; found: string; remedy?: string }[];
}

/** Runs the command. @returns its exit code and report */
async function run(settings: Readonly<Record<string, string>>) {
  process.env = { ...before, DATABASE_URL: databaseUrl, OIDC_AUDIENCE: 'https://hub.example.test', ...settings };
  const printed: string[] = [];
  const log = jest.spyOn(console, 'log').mockImplementation((text: unknown) => void printed.push(String(text)));
  const code = await doctor(prismaDir).run({ argument: '', options: { json: true } });
  log.mockRestore();
  return { code, ...(JSON.parse(printed.join('')) as Report) };
}

test('beside a running hub, the command passes all checks and names the version that runs', async () => {
  const { issuer } = await anIssuer();
  const { port } = await aHub({ databaseUrl, issuer });
  const { code, version, checks } = await run({ OIDC_ISSUER: issuer, PORT: `${port}` });
  expect(checks.filter(({ state }) => state === 'failed' || state === 'skipped')).toEqual([]);
  expect(checks.find(({ name }) => name === 'port')?.found).toContain(`Version ${version} of this service is running`);
  expect(code).toBe(0);
});

test('the identity provider for development is recognized, and is a warning', async () => {
  const provider = await startIdentityProvider({
    port: 0,
    host: '127.0.0.1',
    audiences: [],
    redirectUris: [],
    password: 'development',
  });
  closers.push(provider.stop);
  const { code, checks } = await run({ OIDC_ISSUER: provider.issuer, PORT: `${await freePort()}` });
  expect(checks.find(({ name }) => name === 'issuer')).toEqual({
    name: 'issuer',
    state: 'warning',
    found: `${provider.issuer} publishes its signing keys (1). It is the identity provider for development, whose users and password are public.`,
    remedy: 'Set OIDC_ISSUER to your own identity provider before others can reach the hub.',
  });
  expect(code).toBe(0);
});

test('an issuer that is not the configured one is found by its check alone, with a remedy', async () => {
  const { issuer } = await anIssuer();
  const { code, checks } = await run({ OIDC_ISSUER: `${issuer}/`, PORT: `${await freePort()}` });
  expect(checks.filter(({ state }) => state === 'failed')).toEqual([
    {
      name: 'issuer',
      state: 'failed',
      found: expect.stringContaining('of another issuer'),
      remedy: expect.stringContaining('must equal the issuer in its discovery document'),
    },
  ]);
  expect(code).toBe(1);
});

test('a receiver of audit entries with a certificate of an unknown authority is found by its check alone, with a remedy', async () => {
  const { issuer } = await anIssuer();
  const folder = aFolder();
  const authority = createAuthority(folder);
  const receiver = await startSyslogReceiver({ issued: authority.issue(['localhost']) });
  closers.push(receiver.stop);
  const settings = {
    OIDC_ISSUER: issuer,
    PORT: `${await freePort()}`,
    AUDIT_DELIVERY: `tls://localhost:${receiver.port}`,
  };
  const unknown = await run(settings);
  expect(unknown.checks.filter(({ state }) => state === 'failed')).toEqual([
    {
      name: 'audit delivery',
      state: 'failed',
      found: expect.stringMatching(/^localhost:\d+: .* is not signed by an authority .* Set AUDIT_DELIVERY_CA_FILE /),
      remedy: expect.stringContaining('Correct AUDIT_DELIVERY and its certificates'),
    },
  ]);
  const known = await run({ ...settings, AUDIT_DELIVERY_CA_FILE: authority.certificate });
  expect(known.checks.find(({ name }) => name === 'audit delivery')).toEqual({
    name: 'audit delivery',
    state: 'ok',
    found: `localhost:${receiver.port} accepts connections, and confirms what it has received.`,
  });
  expect(receiver.messages).toEqual([]);
});

test('encryption keys are not needed without webhooks, and keys that open no secret of the database are found', async () => {
  const { issuer } = await anIssuer();
  const own = await aDatabase();
  const settings = { DATABASE_URL: own, OIDC_ISSUER: issuer, PORT: `${await freePort()}` };
  const keysWith = async (more: Readonly<Record<string, string>>) => {
    const { checks } = await run({ ...settings, ...more });
    return checks.find(({ name }) => name === 'encryption keys');
  };
  const aKey = (kid: string) => `${kid}:${randomBytes(32).toString('base64')}`;
  const [first, other] = [aKey('first'), aKey('other')];
  expect(await keysWith({})).toMatchObject({ state: 'ok', found: expect.stringContaining('ENCRYPTION_KEYS') });
  expect(await keysWith({ ENCRYPTION_KEYS: first })).toMatchObject({
    state: 'ok',
    found: 'No hub has used this database yet.',
  });

  const { child, ended } = await aHub({ databaseUrl: own, issuer, environment: { ENCRYPTION_KEYS: first } });
  child.kill('SIGTERM');
  await ended;
  expect(await keysWith({})).toMatchObject({ state: 'ok' });
  expect(await keysWith({ ENCRYPTION_KEYS: `${other},${first}` })).toMatchObject({
    state: 'ok',
    found: expect.stringContaining('encrypted with first'),
  });
  expect(await keysWith({ ENCRYPTION_KEYS: other })).toMatchObject({
    state: 'failed',
    found: expect.stringContaining('ENCRYPTION_KEYS has no key "first"'),
  });
  await onServer(own, (client) =>
    client.query(
      `INSERT INTO webhooks (id, name, url, events, sealed, key_id, created_by, created_by_user)
       VALUES (gen_random_uuid(), 'x', 'https://hooks.example.test/', '{}', '', 'first', '', gen_random_uuid())`,
    ),
  );
  expect(await keysWith({})).toMatchObject({ state: 'failed', found: expect.stringContaining('encrypted with first') });
});
