import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EmbeddedPostgres, freePort, startEmbeddedPostgres } from '@svc/database/embedded';
import { type StartedProcess, startProcess, untilReady } from '@svc/testing';
import { repository } from '../src/settings.ts';

// Hub and fleet as somebody deploys them: two processes with an environment, each with its own database and role.
const mainOf = (app: 'hub' | 'fleet') => path.join(repository, 'apps', app, 'dist', 'main.js');

let postgres: EmbeddedPostgres;
let hubEnvironment: Record<string, string>;
let fleetEnvironment: Record<string, string>;
let hubUrl: string;
let fleetUrl: string;
let viewer: string;
let operator: string;
const running: StartedProcess[] = [];

async function start(app: 'hub' | 'fleet', environment: Record<string, string>, url: string): Promise<StartedProcess> {
  const started = startProcess(mainOf(app), [], environment);
  running.push(started);
  await untilReady(url, started);
  return started;
}

async function command(app: 'hub' | 'fleet', ...args: string[]): Promise<string> {
  const environment = app === 'hub' ? hubEnvironment : fleetEnvironment;
  const { ended, output } = startProcess(mainOf(app), args, environment);
  if ((await ended) !== 0) throw new Error(output());
  return output();
}

/** What these tests read of an answer beyond comparing it. */
interface Seen {
  readonly pagination: { readonly total: number };
  readonly last_success_at: string;
  readonly checked_at: string;
  readonly age_seconds: number;
  readonly stale_since: string;
  readonly last_failure: { readonly at: string; readonly reason: string };
}

async function fleet(method: 'GET' | 'POST', at: string, token: string) {
  const response = await fetch(`${fleetUrl}/api/v1/catalog/${at}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: response.status, body: (await response.json()) as Seen };
}

beforeAll(async () => {
  postgres = await startEmbeddedPostgres();
  const database = (name: string) =>
    postgres.ensureDatabase({ name, role: name, password: randomBytes(12).toString('hex') });
  const [hubPort, fleetPort] = [await freePort(), await freePort()];
  hubUrl = `http://127.0.0.1:${hubPort}`;
  fleetUrl = `http://127.0.0.1:${fleetPort}`;
  hubEnvironment = {
    DATABASE_URL: await database('hub'),
    PORT: `${hubPort}`,
    OIDC_ISSUER: 'http://127.0.0.1:1',
    OIDC_AUDIENCE: 'https://hub.example.test',
  };
  fleetEnvironment = {
    DATABASE_URL: await database('fleet'),
    PORT: `${fleetPort}`,
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    HUB_SYNC_INTERVAL: '0',
  };
}, 60_000);
afterAll(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ ended }) => ended));
  await postgres?.stop();
});

test('a fleet starts without a hub, and says so', async () => {
  viewer = JSON.parse(await command('fleet', 'create-token', '--name', 'v', '--role', 'viewer')).secret;
  operator = JSON.parse(await command('fleet', 'create-token', '--name', 'o', '--role', 'operator')).secret;
  const alone = await start('fleet', fleetEnvironment, fleetUrl);
  expect((await fleet('GET', 'sync', viewer)).body).toMatchObject({
    status: 'not_configured',
    counts: { templates: 0 },
  });
  expect((await fleet('POST', 'sync', operator)).body).toMatchObject({ status: 409, code: 'hub_not_configured' });
  alone.child.kill('SIGTERM');
  expect(await alone.ended).toBe(0);
}, 60_000);

test('with the hub stopped the fleet goes on serving its mirror and says how old it is; then it catches up', async () => {
  await command('hub', 'import', path.join(repository, 'infra', 'catalog'));
  await command('hub', 'create-organization', '--name', 'Acme', '--slug', 'acme');
  const { key } = JSON.parse(await command('hub', 'create-api-key', '--organization', 'acme', '--name', 'fleet'));
  const hub = await start('hub', hubEnvironment, hubUrl);
  await start('fleet', { ...fleetEnvironment, HUB_URL: hubUrl, HUB_API_KEY: key }, fleetUrl);
  const synced = (await fleet('POST', 'sync', operator)).body;
  expect(synced).toMatchObject({ status: 'fresh', last_sync: { full: true } });
  const mirrored = (await fleet('GET', 'templates', viewer)).body.pagination.total;
  expect(mirrored).toBeGreaterThanOrEqual(30);

  hub.child.kill('SIGTERM');
  expect(await hub.ended).toBe(0);
  const refused = await fleet('POST', 'sync', operator);
  expect(refused).toMatchObject({ status: 502, body: { code: 'hub_unreachable' } });
  const stale = (await fleet('GET', 'sync', viewer)).body;
  expect(stale).toMatchObject({
    status: 'stale',
    last_success_at: synced.last_success_at,
    checked_at: synced.checked_at,
  });
  expect(stale.age_seconds).toBeGreaterThanOrEqual(0);
  expect(stale.stale_since).toBe(stale.last_failure.at);
  expect(stale.last_failure.reason).toMatch(/hub does not answer/);
  expect((await fleet('GET', 'templates', viewer)).body.pagination.total).toBe(mirrored);
  expect(await (await fetch(`${fleetUrl}/readyz`)).json()).toMatchObject({ status: 'degraded' });

  await start('hub', hubEnvironment, hubUrl);
  expect((await fleet('POST', 'sync', operator)).body).toMatchObject({
    status: 'fresh',
    stale_since: null,
    last_failure: null,
  });
}, 60_000);
