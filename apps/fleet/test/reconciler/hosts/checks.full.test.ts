import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { eventually } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { startEngineProxy } from './engine-proxy.ts';
import { type MachineWorld, startMachineWorld } from './world.ts';

describeWithEngine('the check of a host', () => {
  let world: MachineWorld;
  beforeAll(async () => {
    world = await startMachineWorld();
  });
  afterAll(() => world?.stop());
  afterEach(() => world.database.client.host.deleteMany()); // the same engine cannot be registered twice
  let count = 0;
  const aHost = (given = {}) => world.aHost({ name: `host-${++count}`, ...given });
  const checked = async (id: string, api = world.api) => (await world.good(api.post(`/api/v1/hosts/${id}/check`))).host;

  test('reports the engine and the capacity of the machine', async () => {
    const { id } = await aHost();
    const { host } = JSON.parse(await world.podman.byHand('info', '--format', 'json'));
    const seen = await checked(id);
    expect(seen).toMatchObject({
      reachability: 'online',
      message: '',
      arch: host.arch,
      capacity: { cpu: `${cpus().length}`, gpu_count: 0 },
    });
    expect(seen.engine_version).toMatch(/^\d+\.\d+\.\d+/);
    const row = await world.database.client.host.findUniqueOrThrow({ where: { id } });
    expect(row.memory_bytes).toBe(BigInt(host.memTotal));
  });

  test('is allowed for operators and admins', async () => {
    const { id } = await aHost();
    const path = `/api/v1/hosts/${id}/check`;
    expect(await world.asViewer.post(path)).toMatchObject({ status: 403 });
    expect(await world.asOperator.post(path)).toMatchObject({ status: 200 });
    expect(await world.asOperator.post('/api/v1/hosts/01999999-0000-7000-8000-000000000000/check')).toMatchObject({
      status: 404,
    });
  });

  test.each([
    [
      'a different engine than registered',
      { engine: 'docker' },
      'It is registered as docker, but the engine is podman.',
    ],
    [
      'a missing socket',
      { endpoint: 'unix:///nowhere/engine.sock' },
      'The socket of its endpoint does not exist on the machine of this service.',
    ],
  ])('reports %s', async (_, given, message) => {
    const { id } = await aHost(given);
    expect(await checked(id)).toMatchObject({ reachability: 'unreachable', message, capacity: null });
  });

  test('reports a server that is not a container engine', async () => {
    const other = createServer((_, res) => res.end('hello')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    // The server listens.
    const { id } = await aHost({ endpoint: `tcp://127.0.0.1:${(other.address() as AddressInfo).port}` });
    expect(await checked(id)).toMatchObject({
      reachability: 'unreachable',
      message: 'The server at its endpoint is not a container engine.',
    });
    other.close();
  });

  test('uses a changed endpoint and a changed engine at once', async () => {
    const { id } = await aHost({ endpoint: 'unix:///nowhere/engine.sock' });
    await world.hostIs(id, 'unreachable');
    const change = (body: object) => world.good(world.api.put(`/api/v1/hosts/${id}`, body));
    await change({ endpoint: world.podman.endpoint });
    await world.hostIs(id, 'online');
    await change({ engine: 'docker' });
    await world.hostIs(id, 'unreachable');
    await change({ engine: 'podman' });
    await world.hostIs(id, 'online');
  });

  test('does not delay the check of another host if the host does not respond', async () => {
    const proxy = await startEngineProxy(world.podman.endpoint);
    proxy.setFault(() => 'hangs');
    await aHost({ endpoint: proxy.endpoint });
    await eventually('the host receives a request', async () => proxy.seen.hangs > 1);
    const { id } = await aHost();
    await world.hostIs(id, 'online');
    // The registration has stopped waiting for the host, and the first check has not ended.
    expect(proxy.underWay()).toBe(1);
    expect(proxy.seen.hangs).toBe(2);
    await proxy.stop();
  });

  test('runs regularly, on one fleet process at a time', async () => {
    const proxy = await startEngineProxy(world.podman.endpoint);
    const { engineRuntime } = world.aReplica({ outboundAllow: new Set(['http', 'loopback', 'unix']) }).services;
    engineRuntime.start();
    const { id } = await aHost({ endpoint: proxy.endpoint });
    await world.hostIs(id, 'online');
    let asked = 0;
    proxy.setFault((request) => {
      if (request.endsWith('/info')) asked += 1;
      return 'passed';
    });
    const rounds = 4;
    for (let round = 1; round <= rounds; round += 1) {
      const before = asked;
      await world.database.client.host.update({ where: { id }, data: { check_at: new Date(0) } });
      await eventually('the host receives a request', async () => asked > before && proxy.underWay() === 0);
    }
    expect(asked).toBe(rounds);
    await engineRuntime.stop();
    await proxy.stop();
  });
});
