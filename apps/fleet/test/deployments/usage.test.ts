// How much CPU and memory instances use, read from an engine over the API.
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, scaled } from '@svc/testing';
import { usage } from '../../src/engines/kubernetes/usage.ts';
import { anApiServer, clientOf, endAll as endClusters } from '../engines/kubernetes/world.ts';
import { anEngine, endAll, serve } from '../engines/servers.ts';
import { startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();
afterAll(endAll);
afterEach(endClusters);

const MIB = 2 ** 20;
const LABELS = { 'app.kubernetes.io/managed-by': 'fleet', 'fleet/generation': '1', 'fleet/body': 'x' };

/** A reading of a container that uses a quarter of a CPU. */
const statsAt = (reading: number) => ({
  read: new Date(Date.parse('2026-01-01T00:00:00Z') + reading * 1000).toISOString(),
  cpu_stats: { cpu_usage: { total_usage: 7e9 + reading * 0.25e9 } },
  memory_stats: { usage: 96 * MIB, limit: 512 * MIB, stats: { inactive_file: 32 * MIB } },
});

/** A deployment on a host with as many instances; containers with other names do not exist. */
async function aDeployment(instances: number, containers: Readonly<Record<string, string>>) {
  const readings = new Map<string, number>();
  let id = '';
  let isBroken = false;
  let isOpen = Promise.resolve();
  const engine = anEngine((req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://engine');
    if (isBroken) return res.writeHead(500).end('{}');
    if (pathname.endsWith('/containers/json')) {
      const labels = (ordinal: number) => ({ ...LABELS, 'fleet/deployment': id, 'fleet/ordinal': String(ordinal) });
      const listed = Object.entries(containers).map(([name, State], at) => ({
        Id: name,
        Names: [`/${name}`],
        Labels: labels(at),
        State,
      }));
      return res.end(JSON.stringify(listed));
    }
    const [, name = ''] = /\/containers\/([^/]+)\/stats$/.exec(pathname) ?? [];
    expect(Object.fromEntries(searchParams)).toEqual({ stream: 'false', 'one-shot': 'true' });
    const reading = (readings.get(name) ?? 0) + 1;
    readings.set(name, reading);
    return void isOpen.then(() => res.end(JSON.stringify(statsAt(reading))));
  });
  await fleet.aHost({ endpoint: await serve(engine) });
  ({ id } = await fleet.deployed());
  await fleet.client.deployment.update({
    where: { id },
    data: {
      phase: 'running',
      instances: Array.from({ length: instances }, (_, ordinal) => ({
        name: `d-${ordinal}`,
        phase: 'running',
        message: '',
        restarts: 0,
      })),
    },
  });
  return {
    readings,
    /** The engine answers only when the returned function is called. */
    holdEngine: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      isOpen = promise;
      return resolve;
    },
    breakEngine: () => {
      isBroken = true;
    },
    read: () => fleet.viewer.get(`/api/v1/deployments/${id}/usage`),
  };
}

const UNKNOWN = { cpus: null, memory_bytes: null, memory_limit_bytes: null };

test('a viewer reads what running instances use, and concurrent requests share one reading', async () => {
  const { read, readings, holdEngine } = await aDeployment(2, { 'd-0': 'running', 'd-1': 'exited' });
  const release = holdEngine();
  const requests = Promise.all([read(), read()]);
  await eventually('the engine is asked', () => readings.get('d-0'), { until: (count) => count === 1 });
  await delay(scaled(500)); // the other request begins no reading
  release();
  const [first, second] = await requests;
  expect(first.status).toBe(200);
  expect(first.body.usage).toEqual({
    instances: [
      { name: 'd-0', cpus: 0.25, memory_bytes: 64 * MIB, memory_limit_bytes: 512 * MIB },
      { name: 'd-1', ...UNKNOWN },
    ],
    omitted: 0,
    note: null,
  });
  expect(second.body).toEqual(first.body);
  expect([...readings]).toEqual([['d-0', 2]]);
});

test('the usage of the first twenty instances is read, and the number of the others is stated', async () => {
  const { read, readings } = await aDeployment(23, { 'd-19': 'running', 'd-20': 'running' });
  const { body } = await read();
  expect({ length: body.usage.instances.length, omitted: body.usage.omitted }).toEqual({ length: 20, omitted: 3 });
  expect([...readings.keys()]).toEqual(['d-19']);
});

test('an engine that fails is a 503 with its reason, and the next request reads again', async () => {
  const { read, breakEngine } = await aDeployment(1, { 'd-0': 'running' });
  expect((await read()).status).toBe(200);
  breakEngine();
  for (let request = 0; request < 2; request += 1) {
    const { status, body } = await read();
    expect({ status, detail: body.detail }).toEqual({ status: 503, detail: 'The engine rejected a request (500).' });
  }
});

test('a deployment without a target has no usage', async () => {
  const { id } = await fleet.deployed({ desired_state: 'stopped' });
  const { body } = await fleet.viewer.get(`/api/v1/deployments/${id}/usage`);
  expect(body.usage).toEqual({ instances: [], omitted: 0, note: null });
});

test('the usage of pods comes from the metrics server of the cluster, whose absence is stated', async () => {
  const server = await anApiServer();
  const client = clientOf(server);
  const pods = { kind: 'PodMetricsList', apiVersion: 'metrics.k8s.io/v1beta1', metadata: {} };
  const container = (cpu: string, memory: string) => ({ name: 'main', usage: { cpu, memory } });
  const items = [
    { metadata: { name: 'pod-1' }, containers: [container('250000000n', '64Mi'), container('50m', '16Mi')] },
  ];
  let hasMetrics = true;
  server.inject(({ path }) => {
    if (path.startsWith('/apis/metrics.k8s.io/') && hasMetrics) {
      return { status: 200, body: JSON.stringify({ ...pods, items }) };
    }
    if (path === '/apis') return { status: 200, body: '{"kind": "APIGroupList", "groups": [{"name": "apps"}]}' };
    return { status: 404, body: '404 page not found', headers: { 'content-type': 'text/plain' } };
  });
  expect(await usage(client, 'some-deployment')).toEqual([
    { name: 'pod-1', cpus: 0.3, memory_bytes: 80 * MIB, memory_limit_bytes: null },
  ]);
  hasMetrics = false;
  await expect(usage(client, 'some-deployment')).rejects.toThrow('The cluster has no metrics server');
  server.inject(() => ({ status: 403, body: '{"kind": "Status", "message": "forbidden"}' }));
  await expect(usage(client, 'some-deployment')).rejects.toThrow('lack permission to list pods of metrics.k8s.io');
});
