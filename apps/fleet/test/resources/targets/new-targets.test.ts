// Hosts and clusters that are checked before they are registered.
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { contentsOf } from '../../audit/contents.ts';
import { startApiServer } from '../../engines/kubernetes/api-server.ts';
import { anEngine, endAll, serve } from '../../engines/servers.ts';
import { type Resources, startResources } from '../resources.ts';

let world: Resources;
beforeAll(async () => {
  world = await startResources();
});
afterEach(endAll);
afterAll(() => world.stop());

const PODMAN = { 'Api-Version': '1.41', 'Libpod-Api-Version': '5.4.2' };

/** An engine in a swarm. @returns its endpoint, and the requests other than GET */
async function anEngineAt(head?: Readonly<Record<string, string>>) {
  const changes: string[] = [];
  const endpoint = await serve(
    anEngine((req, res) => {
      if (req.method !== 'GET') changes.push(`${req.method} ${req.url}`);
      const info = { NCPU: 8, MemTotal: 2 ** 35, ID: 'the-engine', Swarm: { NodeAddr: '10.1.2.3' } };
      if (req.url?.endsWith('/version')) res.end(JSON.stringify({ Version: '28.0.0', Arch: 'x86_64' }));
      else if (req.url?.endsWith('/info')) res.end(JSON.stringify(info));
      else res.writeHead(404).end('{}');
    }, head),
  );
  return { endpoint, changes };
}

const checkHost = (body: object) => world.asAdmin.post('/api/v1/hosts/check', { engine: 'docker', ...body });

test('an engine is checked before it is registered: its version, its capacity and its addresses', async () => {
  const { endpoint } = await anEngineAt();
  const before = await contentsOf(world.database);
  const { status, body } = await checkHost({ endpoint });
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      check: {
        reachability: 'online',
        message: '',
        engine_version: '28.0.0',
        arch: 'x86_64',
        capacity: { cpu: '8', memory: '32Gi', gpu_count: 0 },
        registered_as: null,
        addresses: [{ address: '10.1.2.3', is_public: false }],
      },
    },
  });
  expect(await contentsOf(world.database)).toEqual(before);
});

test('the check of an engine that is registered already names its host', async () => {
  const { endpoint } = await anEngineAt();
  const { id, name } = await world.aHost({ endpoint });
  expect((await checkHost({ endpoint })).body.check.registered_as).toEqual({ id, name });
});

test('a check before the registration stores nothing on a Podman engine', async () => {
  const { endpoint, changes } = await anEngineAt(PODMAN);
  const { body } = await checkHost({ engine: 'podman', endpoint });
  expect(body.check).toMatchObject({ reachability: 'online', registered_as: null });
  expect(changes).toEqual([]);
});

test('a check before the registration states why an engine does not respond', async () => {
  const { endpoint } = await anEngineAt();
  const failureOf = async (body: object) => (await checkHost(body)).body.check;
  expect(await failureOf({ endpoint: 'unix:///nowhere/engine.sock' })).toEqual({
    reachability: 'unreachable',
    message: 'The socket of its endpoint does not exist on the machine of this service.',
    engine_version: null,
    arch: null,
    capacity: null,
    registered_as: null,
    addresses: [],
  });
  expect((await failureOf({ engine: 'podman', endpoint })).message).toContain('the engine is docker');
});

test('a check before the registration has the same rules as the registration', async () => {
  const local = { engine: 'docker', endpoint: 'unix:///run/engine.sock' };
  const ofOperator = await world.asOperator.post('/api/v1/hosts/check', local);
  expect([ofOperator.status, ofOperator.body.code]).toEqual([403, 'insufficient_scope']);
  const { status, body } = await checkHost({ endpoint: 'engine.example.test' });
  expect([status, body.errors[0].path]).toEqual([400, 'endpoint']);
});

test('a cluster is checked before it is registered', async () => {
  const cluster = await startApiServer();
  const auth = { kind: 'token', token: cluster.token };
  const connection = { server: cluster.url, ca_certificate: cluster.ca, auth };
  const before = await contentsOf(world.database);
  const check = async (given: object) =>
    (await world.asAdmin.post('/api/v1/clusters/check', { ...connection, ...given })).body.check;
  expect(await check({})).toMatchObject({ reachability: 'online', message: '', registered_as: null });
  expect(await contentsOf(world.database)).toEqual(before);
  await cluster.stop();
  expect(await check({})).toMatchObject({ reachability: 'unreachable', kubernetes_version: null, conditions: [] });
});
