import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { parseSettings } from '../src/settings.ts';
import { signIn } from '../src/sign-in.ts';
import { aProvider, hubAudience, jwksOf } from './provider.ts';

const main = path.resolve(import.meta.dirname, '..', 'dist', 'main.js');
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'identity-provider-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function aProcess() {
  const child = fork(main, { stdio: ['ignore', 'pipe', 'ignore', 'ipc'], env: { PORT: '0' } });
  const [line] = await once(child.stdout ?? child, 'data');
  return { child, output: String(line) };
}

async function endOf(child: ChildProcess) {
  const [code, signal] = await once(child, 'exit');
  return { code, signal };
}

test('keys are stored across restarts, readable only by their owner', async () => {
  const KEYS_FILE = path.join(folder, 'keys.json');
  const first = await aProvider({ KEYS_FILE });
  const { accessToken } = await signIn({
    issuer: first.issuer,
    email: 'admin@example.test',
    password: 'development',
    resource: hubAudience,
  });
  await first.stop();
  const second = await aProvider({ KEYS_FILE });
  const jwks = await jwksOf(second.issuer);
  await second.stop();
  await expect(jwtVerify(accessToken, createLocalJWKSet(jwks))).resolves.toHaveProperty('payload.sub', 'dev-admin');
  expect((await stat(KEYS_FILE)).mode & 0o777).toBe(0o600);
});

test('the process prints its issuer, and exits with 0 on SIGTERM', async () => {
  const { child, output } = await aProcess();
  child.kill('SIGTERM');
  expect(await endOf(child)).toEqual({ code: 0, signal: null });
  expect(output).toMatch(/^identity provider: http:\/\/127\.0\.0\.1:\d+\n$/);
});

test('the process exits when its parent process has exited', async () => {
  const { child } = await aProcess();
  child.disconnect();
  expect(await endOf(child)).toEqual({ code: 0, signal: null });
});

test('behind a proxy with TLS, the URLs in the discovery document have https, and the document names the provider for development', async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo; // a server that listens on a port has one
  await new Promise((resolve) => probe.close(resolve));
  const provider = await aProvider({ ISSUER: 'https://id.example.test', PORT: `${port}` });
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'id.example.test' };
  const response = await fetch(`http://127.0.0.1:${port}/.well-known/openid-configuration`, { headers });
  expect(await response.json()).toMatchObject({
    issuer: 'https://id.example.test',
    jwks_uri: 'https://id.example.test/jwks',
    svc_development: true,
  });
  await provider.stop();
});

test('an invalid environment is rejected with all errors', () => {
  expect(() => parseSettings({ PORT: 'high', ISSUER: 'nowhere', REDIRECT_URIS: '/callback' })).toThrow(
    'PORT must be an integer from 0 to 65535, not "high"\nISSUER must be a URL, not "nowhere"\nREDIRECT_URIS must be URLs, not "/callback"',
  );
});

test('secrets can come from files', async () => {
  const FLEET_CLIENT_SECRET_FILE = path.join(folder, 'secret');
  await writeFile(FLEET_CLIENT_SECRET_FILE, 'of the client\n');
  expect(parseSettings({ FLEET_CLIENT_SECRET_FILE }).fleetClientSecret).toBe('of the client');
  expect(() => parseSettings({ DEV_PASSWORD: 'a', DEV_PASSWORD_FILE: FLEET_CLIENT_SECRET_FILE })).toThrow(
    'DEV_PASSWORD and DEV_PASSWORD_FILE must not be set together',
  );
});
