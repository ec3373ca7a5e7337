import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
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
  return { child, said: String(line) };
}

async function endOf(child: ChildProcess) {
  const [code, signal] = await once(child, 'exit');
  return { code, signal };
}

test('keys are kept over a restart, readable by their owner only', async () => {
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

test('the process says where it listens, and ends with 0 on SIGTERM', async () => {
  const { child, said } = await aProcess();
  child.kill('SIGTERM');
  expect(await endOf(child)).toEqual({ code: 0, signal: null });
  expect(said).toMatch(/^identity provider: http:\/\/127\.0\.0\.1:\d+\n$/);
});

test('the process ends when the one that started it is gone', async () => {
  const { child } = await aProcess();
  child.disconnect();
  expect(await endOf(child)).toEqual({ code: 0, signal: null });
});

test('a bad environment is answered with everything that is wrong in it', () => {
  expect(() => parseSettings({ PORT: 'high', ISSUER: 'nowhere', REDIRECT_URIS: '/callback' })).toThrow(
    'PORT is a number from 0 to 65535, not "high"\nISSUER is a URL, not "nowhere"\nREDIRECT_URIS are URLs, not "/callback"',
  );
});
