import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { repository } from '../src/settings.ts';
import { aDeployment, type Deployment } from './deployment.ts';

let deployment: Deployment;
let viewer: string;
let operator: string;

beforeAll(async () => {
  deployment = await aDeployment();
}, 60_000);
afterAll(() => deployment?.stop());

test('a fleet starts without a hub, and says so', async () => {
  const { fleet, start, token } = deployment;
  viewer = await token('viewer');
  operator = await token('operator');
  const alone = await start('fleet');
  expect((await fleet('GET', 'sync', viewer)).body).toMatchObject({
    status: 'not_configured',
    counts: { templates: 0 },
  });
  expect((await fleet('POST', 'sync', operator)).body).toMatchObject({ status: 409, code: 'hub_not_configured' });
  alone.child.kill('SIGTERM');
  expect(await alone.ended).toBe(0);
}, 60_000);

test('with the hub stopped the fleet goes on serving its mirror and says how old it is; then it catches up', async () => {
  const { fleet, start, urls } = deployment;
  await deployment.command('hub', 'import', path.join(repository, 'infra', 'catalog'));
  const hubSettings = await deployment.forFleet();
  const hub = await start('hub');
  await start('fleet', hubSettings);
  const synced = (await fleet('POST', 'sync', operator)).body;
  expect(synced).toMatchObject({
    status: 'fresh',
    last_sync: { full: true },
    organization: { slug: 'acme', tier: 'free', status: 'active' },
  });
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
  expect(await (await fetch(`${urls.fleet}/readyz`)).json()).toMatchObject({ status: 'degraded' });

  await start('hub');
  expect((await fleet('POST', 'sync', operator)).body).toMatchObject({
    status: 'fresh',
    stale_since: null,
    last_failure: stale.last_failure,
  });
}, 60_000);
