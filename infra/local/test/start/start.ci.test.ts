import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { byDepth, depth, eventually } from '@svc/testing';
import { describeWithEngine, engineKind, engineProblem, startEngine, type TestEngine } from '@svc/testing/engine';
import { findLocalEngine } from '../../src/local-engine.ts';
import { responsesOf, tour } from '../documentation/pages.ts';
import { aProduct, freePorts, NO_ENGINE, type Ports, type Product } from './product.ts';

/** Signals other than SIGTERM that stop the product. The tests of the lifetime cover all of them. */
const OTHER_SIGNALS = byDepth<readonly NodeJS.Signals[]>({ short: [], full: ['SIGHUP'], long: ['SIGHUP', 'SIGINT'] });
/** Not at depth short: two more starts of the whole product. */
const describeFromFull = depth === 'short' ? () => undefined : describe;
const testFromFull = depth === 'short' ? () => undefined : test;

// All tests use one data folder. Each test continues where the previous one ended, because a start is slow.
let parent: string;
let dataDir: string;
let ports: Ports;
let product: Product;
let engine: TestEngine | undefined;

beforeAll(async () => {
  parent = fs.mkdtempSync(path.join(tmpdir(), 'start-'));
  fs.chmodSync(parent, 0o711); // if root runs the tests, PostgreSQL runs as another user, which must be able to enter the folder
  dataDir = path.join(parent, '.data');
  ports = await freePorts();
  product = await aProduct(dataDir, ports);
});
afterAll(async () => {
  product?.kill('SIGTERM');
  await product?.end();
  await engine?.stop();
  fs.rmSync(parent, { recursive: true });
});

async function get(url: string, bearer: string | undefined) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${bearer}` } });
  return { status: response.status, body: JSON.parse((await response.text()) || 'null') };
}

describe('a first start', () => {
  test('runs five processes, and the last line of its output starts with ready', () => {
    expect(Object.keys(product.pids).sort()).toEqual(['fleet', 'hub', 'identity-provider', 'postgres', 'runner']);
    expect(product.lines.at(-1)).toMatch(
      /^ready in [\d.]+ s: hub http:\/\/127\.0\.0\.1:\d+, fleet http:\/\/127\.0\.0\.1:\d+$/,
    );
  });

  test('prints a line with the duration of each step', () => {
    const steps = product.lines.flatMap((line) => /^([a-z].*): \d+\.\d s$/.exec(line)?.[1] ?? []);
    expect(steps.toSorted()).toEqual([
      'importing the catalog',
      'starting PostgreSQL',
      'starting fleet',
      'starting hub',
      'starting identity-provider',
      'syncing the catalog',
    ]);
  });

  test('writes valid credentials to demo.env', async () => {
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
      HUB_USER_JWT: 403, // a known user, but not an administrator
      HUB_API_KEY: 200,
      FLEET_ADMIN_TOKEN: 200,
      FLEET_OPERATOR_TOKEN: 200,
      FLEET_VIEWER_TOKEN: 200,
    });
  });

  test('has synced the starter catalog to the fleet', async () => {
    const { HUB_URL, FLEET_URL, HUB_API_KEY, FLEET_VIEWER_TOKEN } = product.demo;
    const hub = await get(`${HUB_URL}/api/v1/catalog/templates`, HUB_API_KEY);
    const fleet = await get(`${FLEET_URL}/api/v1/catalog/templates`, FLEET_VIEWER_TOKEN);
    expect(hub.body.pagination.total).toBeGreaterThan(0);
    expect(fleet.body.pagination.total).toBe(hub.body.pagination.total);
  });

  test('supports the tour in README.md', async () => {
    const responses = await responsesOf(tour(), parent);
    const [found, foundByKey, categories, mirrored, fresh, edited, synced, arrived, session] = responses;
    const [rejected, planned, deployed, deployments, called] = responses.slice(9);
    const some = { templates: expect.arrayContaining([expect.objectContaining({ slug: expect.any(String) })]) };
    expect(found).toMatchObject(some);
    expect(foundByKey).toMatchObject(some);
    expect(categories).toMatchObject({
      categories: expect.arrayContaining([expect.objectContaining({ slug: 'inference' })]),
    });
    expect(mirrored).toMatchObject(some);
    expect(fresh).toMatchObject({ status: 'fresh', last_failure: null });
    expect(edited).toMatchObject({ template: { slug: 'qdrant', description: 'The vector store of our choice' } });
    expect(synced).toMatchObject({ status: 'fresh', last_sync: { full: false, updated: 1, removed: 0 } });
    expect(arrived).toMatchObject({ slug: 'qdrant', description: 'The vector store of our choice' });
    expect(session).toMatchObject({ token_type: 'Bearer', user: { role: 'admin', temporary: true } });
    // This start has no engine.
    expect(planned).toMatchObject({ ok: false, refusals: [{ code: 'no_placement' }] });
    expect(deployed).toMatchObject({ status: 422, code: 'no_placement' });
    expect(deployments).toMatchObject({ deployments: [] });
    expect(called).toMatchObject({ result: { structuredContent: { you: { role: 'viewer' } } } });
    expect(rejected).toMatchObject({ status: 400, errors: [{ path: 'page' }, { path: 'colour' }] });
  });

  test('prints three commands that work', async () => {
    const printed = product.lines.filter((line) => line.includes('; curl '));
    expect(printed).toHaveLength(3);
    const script = printed.map((line) => line.trim().replace('; curl', '\ncurl')).join('\n');
    for (const response of await responsesOf(script, parent)) expect(response).not.toHaveProperty('code');
  });

  test('stops all processes on SIGTERM', async () => {
    product.kill('SIGTERM');
    expect(await product.end()).toEqual({ code: 0, stderr: 'stopping (SIGTERM)\n', left: [] });
  });
});

describe('a second start', () => {
  beforeAll(async () => {
    if (engineProblem(engineKind()) === undefined) engine = await startEngine();
  });

  test('keeps the data and the credentials', async () => {
    const before = product.demo;
    product = await aProduct(dataDir, ports, { engine: engine?.endpoint });
    const { HUB_URL, HUB_API_KEY } = product.demo;
    expect(HUB_API_KEY).toBe(before.HUB_API_KEY);
    expect(product.demo.FLEET_VIEWER_TOKEN).toBe(before.FLEET_VIEWER_TOKEN);
    expect((await get(`${HUB_URL}/api/v1/catalog/organization`, HUB_API_KEY)).status).toBe(200);
  });

  describeWithEngine('with an engine', () => {
    test('registers it as the host local', () => expectLocalHost());
  });

  test('prints the log of a service that ends unexpectedly, and stops the other processes', async () => {
    if (!engine) await registerUnreachableHost();
    process.kill(product.pids.hub ?? 0, 'SIGKILL');
    const { code, stderr, left } = await product.end();
    expect({ code, left }).toEqual({ code: 1, left: [] });
    expect(stderr).toContain('hub ended unexpectedly (SIGKILL). The last lines of');
  });

  test('is not possible with --demo if the fleet has a host that is not simulated', async () => {
    await expect(aProduct(dataDir, ports, { args: ['--demo'] })).rejects.toThrow(
      '--demo adds simulated hosts only to a fleet without other hosts and clusters, but this one has local.',
    );
  });
});

describe('a start with simulated hosts', () => {
  const demoDir = () => path.join(parent, '.data-demo');
  const read = async (at: string) =>
    (await get(`${product.demo.FLEET_URL}/api/v1${at}`, product.demo.FLEET_VIEWER_TOKEN)).body;

  test('shows deployments that run, and one with a problem', async () => {
    product = await aProduct(demoDir(), ports, { args: ['--demo'] });
    expect(product.pids).toHaveProperty('simulated-hosts');
    expect(await read('/hosts')).toMatchObject({
      hosts: [{ name: 'demo-gpu-1' }, { name: 'demo-data-1' }, { name: 'demo-web-1' }],
    });
    const phases = async () => {
      const { deployments } = await read('/deployments');
      return Object.fromEntries(deployments.map((each: { name: string; phase: string }) => [each.name, each.phase]));
    };
    const running = ['shop-web', 'shop-sessions', 'shop-database', 'shop-cache', 'status-page', 'chat-model'];
    await eventually('the deployments run', phases, {
      until: ({ 'checkout-api': failing, ...others }) =>
        running.every((name) => others[name] === 'running') &&
        !['pending', 'starting', 'running'].includes(failing ?? 'pending'),
    });
  });

  testFromFull('begins again with the same hosts at each start with --demo', async () => {
    const before = await read('/hosts');
    product.kill('SIGTERM');
    expect(await product.end()).toMatchObject({ code: 0, left: [] });
    product = await aProduct(demoDir(), ports, { args: ['--demo'] });
    const after = await read('/hosts');
    const names = ({ hosts }: { hosts: { name: string }[] }) => hosts.map(({ name }) => name);
    expect(names(after)).toEqual(names(before));
    expect(after.hosts[0].id).not.toBe(before.hosts[0].id);
    expect((await read('/deployments')).pagination.total).toBe(7);
  });

  test('leaves nothing behind after the next start without --demo', async () => {
    product.kill('SIGTERM');
    await product.end();
    product = await aProduct(demoDir(), ports);
    expect(await read('/hosts')).toMatchObject({ hosts: [] });
    expect(await read('/deployments')).toMatchObject({ deployments: [] });
    expect(await read('/workloads')).toMatchObject({ workloads: [] });
    product.kill('SIGTERM');
    expect(await product.end()).toMatchObject({ code: 0, left: [] });
  });
});

describeFromFull('a later start', () => {
  beforeAll(async () => {
    product = await aProduct(dataDir, ports, { engine: engine?.endpoint });
  });

  describeWithEngine('with the same engine', () => {
    test('keeps the host local', () => expectLocalHost());
  });

  test('succeeds after the runner was killed and its services have ended by themselves', async () => {
    product.kill('SIGKILL');
    await eventually('the services have ended', () => product.end(), {
      until: ({ left }) => left.every((name) => name === 'postgres'),
    });
    const killed = product.pids;
    product = await aProduct(dataDir, ports);
    expect(product.pids.postgres).not.toBe(killed.postgres);
  });

  test('prints the path of the log if PostgreSQL ends unexpectedly, and stops the other processes', async () => {
    process.kill(product.pids.postgres ?? 0, 'SIGKILL');
    const { code, stderr, left } = await product.end();
    expect({ code, left }).toEqual({ code: 1, left: [] });
    expect(stderr).toContain('PostgreSQL ended unexpectedly. Its log is');
  });

  for (const signal of OTHER_SIGNALS) {
    test(`stops all processes on ${signal}`, async () => {
      product = await aProduct(dataDir, ports);
      product.kill(signal);
      expect(await product.end()).toEqual({ code: 0, stderr: `stopping (${signal})\n`, left: [] });
    });
  }
});

test('findLocalEngine finds no engine at a missing socket or another file', async () => {
  expect(await findLocalEngine(['/nowhere/engine.sock', import.meta.filename])).toBeUndefined();
});

/** Registers the host `local` as a start with an engine does. No engine responds there. */
async function registerUnreachableHost(): Promise<void> {
  const { FLEET_URL, FLEET_ADMIN_TOKEN } = product.demo;
  const { status } = await fetch(`${FLEET_URL}/api/v1/hosts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${FLEET_ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'local', engine: 'podman', endpoint: NO_ENGINE }),
  });
  expect(status).toBe(201);
}

/** Expects that the engine is registered as the host `local`, and that the fleet can reach it. */
async function expectLocalHost(): Promise<void> {
  expect(product.lines.find((line) => line.startsWith('host '))).toBe(
    `host               local: Podman at ${engine?.endpoint}`,
  );
  const { FLEET_URL, FLEET_VIEWER_TOKEN } = product.demo;
  const host = async () => (await get(`${FLEET_URL}/api/v1/hosts?search=local`, FLEET_VIEWER_TOKEN)).body.hosts[0];
  await eventually('the host is checked', host, { until: (each) => each?.reachability !== 'unknown' });
  expect(await host()).toMatchObject({
    reachability: 'online',
    addresses: { mesh: '127.0.0.1', public: '127.0.0.1' },
  });
}
