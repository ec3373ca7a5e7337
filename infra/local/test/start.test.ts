import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aProduct, freePorts, type Ports, type Product } from './product.ts';

// One data folder through its life, each test going on where the one before has left it: a start takes seconds.
let parent: string;
let dataDir: string;
let ports: Ports;
let product: Product;

beforeAll(async () => {
  parent = fs.mkdtempSync(path.join(tmpdir(), 'start-'));
  fs.chmodSync(parent, 0o711); // started by root, PostgreSQL is another user that must get through
  dataDir = path.join(parent, 'data');
  ports = await freePorts();
  product = await aProduct(dataDir, ports);
}, 60_000);
afterAll(async () => {
  product?.kill('SIGTERM');
  await product?.end();
  fs.rmSync(parent, { recursive: true });
});

async function get(url: string, bearer: string | undefined) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${bearer}` } });
  return { status: response.status, body: JSON.parse((await response.text()) || 'null') };
}

test('a first start runs five processes and ends what it says with ready', () => {
  expect(Object.keys(product.pids).sort()).toEqual(['fleet', 'hub', 'identity-provider', 'postgres', 'runner']);
  expect(product.lines.at(-1)).toMatch(
    /^ready in [\d.]+ s: hub http:\/\/127\.0\.0\.1:\d+, fleet http:\/\/127\.0\.0\.1:\d+$/,
  );
});

test('the credentials of demo.env are accepted, each in its place', async () => {
  const { HUB_URL, FLEET_URL, ...demo } = product.demo;
  const status = async (url: string, name: string) => (await get(url, demo[name])).status;
  expect({
    HUB_ADMIN_JWT: await status(`${HUB_URL}/api/v1/admin/templates`, 'HUB_ADMIN_JWT'),
    HUB_USER_JWT: await status(`${HUB_URL}/api/v1/admin/templates`, 'HUB_USER_JWT'),
    HUB_API_KEY: await status(`${HUB_URL}/api/v1/catalog/organization`, 'HUB_API_KEY'),
    FLEET_ADMIN_TOKEN: await status(`${FLEET_URL}/api/v1/auth/me`, 'FLEET_ADMIN_TOKEN'),
    FLEET_OPERATOR_TOKEN: await status(`${FLEET_URL}/api/v1/auth/me`, 'FLEET_OPERATOR_TOKEN'),
    FLEET_VIEWER_TOKEN: await status(`${FLEET_URL}/api/v1/auth/me`, 'FLEET_VIEWER_TOKEN'),
  }).toEqual({
    HUB_ADMIN_JWT: 200,
    HUB_USER_JWT: 403, // known, and no administrator
    HUB_API_KEY: 200,
    FLEET_ADMIN_TOKEN: 200,
    FLEET_OPERATOR_TOKEN: 200,
    FLEET_VIEWER_TOKEN: 200,
  });
});

test('the fleet has the starter catalog when it is ready', async () => {
  const { HUB_URL, FLEET_URL, HUB_API_KEY, FLEET_VIEWER_TOKEN } = product.demo;
  const hub = await get(`${HUB_URL}/api/v1/catalog/templates`, HUB_API_KEY);
  const fleet = await get(`${FLEET_URL}/api/v1/catalog/templates`, FLEET_VIEWER_TOKEN);
  expect(hub.body.pagination.total).toBeGreaterThan(0);
  expect(fleet.body.pagination.total).toBe(hub.body.pagination.total);
});

test('SIGTERM ends everything that was started', async () => {
  product.kill('SIGTERM');
  expect(await product.end()).toEqual({ code: 0, stderr: 'stopping (SIGTERM)\n', left: [] });
});

test('a second start keeps the data and the credentials', async () => {
  const before = product.demo;
  product = await aProduct(dataDir, ports);
  const { HUB_URL, HUB_API_KEY } = product.demo;
  expect(HUB_API_KEY).toBe(before.HUB_API_KEY);
  expect(product.demo.FLEET_VIEWER_TOKEN).toBe(before.FLEET_VIEWER_TOKEN);
  expect((await get(`${HUB_URL}/api/v1/catalog/organization`, HUB_API_KEY)).status).toBe(200);
}, 60_000);

test('a terminal that is closed ends everything', async () => {
  product.kill('SIGHUP');
  expect(await product.end()).toEqual({ code: 0, stderr: 'stopping (SIGHUP)\n', left: [] });
});

test('services end by themselves when the runner is killed, and the next start recovers', async () => {
  product = await aProduct(dataDir, ports);
  product.kill('SIGKILL');
  let { left } = await product.end();
  while (left.some((name) => name !== 'postgres')) {
    await sleep(50);
    ({ left } = await product.end());
  }
  const killed = product.pids;
  product = await aProduct(dataDir, ports);
  expect(product.pids.postgres).not.toBe(killed.postgres);
}, 60_000);

test('a service that dies ends the rest, and its log is shown', async () => {
  process.kill(product.pids.hub ?? 0, 'SIGKILL');
  const { code, stderr, left } = await product.end();
  expect({ code, left }).toEqual({ code: 1, left: [] });
  expect(stderr).toContain('hub ended unexpectedly (SIGKILL). The last lines of');
});

test('a PostgreSQL that dies ends the rest, and its log is named', async () => {
  product = await aProduct(dataDir, ports);
  process.kill(product.pids.postgres ?? 0, 'SIGKILL');
  const { code, stderr, left } = await product.end();
  expect({ code, left }).toEqual({ code: 1, left: [] });
  expect(stderr).toContain('PostgreSQL ended unexpectedly. Its log is');
}, 60_000);
