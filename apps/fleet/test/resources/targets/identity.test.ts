// The same engine that is registered twice, and another engine at the address of a host.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { startApiServer } from '../../engines/kubernetes/api-server.ts';
import { anEngine, endAll, serve } from '../../engines/servers.ts';
import { type Resources, startResources } from '../resources.ts';

let world: Resources;
beforeAll(async () => {
  world = await startResources();
});
afterAll(async () => {
  await endAll();
  await world.services.engineRuntime.stop();
  await world.stop();
});

const GPUS = [{ id: 'gpu-0', model: 'any', vram: '24Gi' }];

/** A Docker engine with an identity that a test can change; undefined: it reports none. */
async function aDocker(id: string | undefined) {
  const reported = { id };
  const endpoint = await serve(
    anEngine((req, res) => {
      const { pathname } = new URL(req.url ?? '', 'http://engine');
      const answers: Record<string, unknown> = {
        '/v1.47/version': { Version: '27.0.0', Arch: 'amd64' },
        '/v1.47/info': { NCPU: 8, MemTotal: 2 ** 35, ID: reported.id },
        '/v1.47/containers/json': [],
        '/v1.47/volumes': { Volumes: [] },
      };
      const answer = answers[pathname];
      res.statusCode = answer === undefined ? 404 : 200;
      res.end(JSON.stringify(answer ?? { message: 'no such page' }));
    }),
  );
  return { endpoint, reported };
}

const register = (given: object) =>
  world.asAdmin.post('/api/v1/hosts', { name: world.aName('machine'), engine: 'docker', gpus: GPUS, ...given });
const checked = async (id: string, plural: 'hosts' | 'clusters' = 'hosts') => {
  const { body } = await world.asAdmin.post(`/api/v1/${plural}/${id}/check`);
  return body[plural.slice(0, -1)];
};
const conditionOf = (shown: { conditions: { type: string }[] }, type: string) =>
  shown.conditions.find((condition) => condition.type === type);
/** A host that an earlier version registered, which did not know identities. */
const anOldHost = async (endpoint: string) => {
  const { body } = await register({ endpoint });
  await world.client.host.update({ where: { id: body.host.id }, data: { identity: null } });
  return body.host as { id: string; name: string };
};

describe('an engine', () => {
  test('is registered only once: the second registration is a 409 that names the first', async () => {
    const { endpoint } = await aDocker('AAAA:BBBB');
    const { body: first } = await register({ endpoint });
    expect(first.host).toMatchObject({ identity: 'AAAA:BBBB' });
    const second = await register({ endpoint: endpoint.replace('localhost', '127.0.0.1') });
    expect(second).toMatchObject({ status: 409, body: { code: 'already_registered' } });
    expect(second.body.detail).toContain(`already registered as the host ${first.host.name} (${first.host.id})`);
  });

  test('is registered only once by concurrent requests', async () => {
    const { endpoint } = await aDocker('CCCC');
    const answers = await Promise.all([1, 2, 3].map(() => register({ endpoint })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  test('of one host is not accepted as the new endpoint of another host', async () => {
    const one = await aDocker('DDDD');
    const other = await aDocker('EEEE');
    await register({ endpoint: one.endpoint });
    const { body } = await register({ endpoint: other.endpoint });
    const answer = await world.asAdmin.put(`/api/v1/hosts/${body.host.id}`, { endpoint: one.endpoint });
    expect(answer).toMatchObject({ status: 409, body: { code: 'already_registered' } });
    expect((await world.read('hosts', body.host.id)).endpoint).toBe(other.endpoint);
  });

  test('that reports no identity is registered, and the host states that duplicates are not detected', async () => {
    const { endpoint } = await aDocker(undefined);
    const { body } = await register({ endpoint });
    const host = await checked(body.host.id);
    expect(host).toMatchObject({ reachability: 'online', identity: null });
    expect(conditionOf(host, 'IdentityKnown')).toMatchObject({ status: 'False', reason: 'NotReported' });
    expect((await register({ endpoint })).status).toBe(201);
  });

  test('that was registered twice by an earlier version is reported on both hosts, and offers its GPUs once', async () => {
    const { endpoint } = await aDocker('FFFF');
    const first = await anOldHost(endpoint);
    const second = await anOldHost(endpoint);
    for (const { id } of [first, second]) await checked(id);
    const { body } = await world.asViewer.get('/api/v1/hosts');
    const listed = (id: string) => body.hosts.find((host: { id: string }) => host.id === id);
    expect(conditionOf(listed(first.id), 'Unique')).toMatchObject({
      status: 'False',
      message: `The same engine is registered again as ${second.name}. Nothing new is placed there. Delete one of the registrations.`,
    });
    expect(conditionOf(listed(second.id), 'Unique')).toMatchObject({
      status: 'False',
      message: `The host ${first.name} is the same engine and was registered first. Nothing new is placed here. Delete one of the two.`,
    });

    const workload = await world.aWorkload({ gpu_count: 1 });
    const plan = async (host_id: string) =>
      (await world.asOperator.post('/api/v1/deployments/plan', { workload_id: workload.id, target: { host_id } })).body;
    expect(JSON.stringify((await plan(second.id)).refusals)).toContain(
      `is the same engine as host ${first.name}, which was registered first`,
    );
    // A deployment that was placed on the second host before the upgrade uses the only GPU of the
    // engine.
    const name = world.aName('existing');
    const given = { name, created_by: 'test', replicas: 1, host_id: second.id, gpu_count: 1 };
    const { id } = await world.client.deployment.create({ data: { ...given, workload_id: workload.id, revision: 1 } });
    const gpu = { host_id: second.id, gpu_id: 'gpu-0', deployment_id: id, ordinal: 0 };
    await world.client.allocatedGpu.create({ data: gpu });
    expect(JSON.stringify((await plan(first.id)).refusals)).toContain('needs 1 GPU, 0 of 1 are free');

    await world.client.deployment.delete({ where: { id } });
    await world.asAdmin.delete(`/api/v1/hosts/${first.id}`);
    expect(conditionOf(await world.read('hosts', second.id), 'Unique')).toMatchObject({ status: 'True' });
    expect(await plan(second.id)).toMatchObject({ ok: true });
  });

  test('that replaced the one of a host with deployments is unreachable until a user accepts it', async () => {
    const { endpoint, reported } = await aDocker('GGGG');
    const { body } = await register({ endpoint });
    const { id } = body.host;
    await checked(id);
    const volume = await world.aVolume();
    await world.client.volume.update({ where: { id: volume.id }, data: { host_id: id } });
    reported.id = 'HHHH';
    const replaced = await checked(id);
    expect(replaced).toMatchObject({ reachability: 'unreachable', identity: 'GGGG' });
    expect(replaced.message).toMatch(/^Another engine responds at its address: its identity is HHHH and was GGGG\./);
    const accepted = await world.asOperator.put(`/api/v1/hosts/${id}`, { accept_engine: true });
    expect(accepted.status).toBe(200);
    expect(await checked(id)).toMatchObject({ reachability: 'online', identity: 'HHHH', message: '' });
  });

  test('that replaced the one of an empty host is accepted', async () => {
    const { endpoint, reported } = await aDocker('IIII');
    const { body } = await register({ endpoint });
    reported.id = 'JJJJ';
    expect(await checked(body.host.id)).toMatchObject({ reachability: 'online', identity: 'JJJJ' });
  });
});

describe('a cluster', () => {
  const register = async (server: { url: string; ca: string; token: string }, given: object = {}) => {
    const auth = { kind: 'token', token: server.token };
    const body = { name: world.aName('cluster'), server: server.url, ca_certificate: server.ca, auth, ...given };
    return world.asAdmin.post('/api/v1/clusters', body);
  };

  test('is registered only once with a namespace, and its nodes have their UID', async () => {
    const server = await startApiServer();
    const node = server.put('nodes', { metadata: { name: 'node-of-identity' } });
    const { body } = await register(server);
    const { uid } = server.object('namespaces', 'kube-system').metadata;
    expect(body.cluster.identity).toBe(uid);
    const second = await register(server);
    expect(second).toMatchObject({ status: 409, body: { code: 'already_registered' } });
    expect(second.body.detail).toContain(
      `already registered as the cluster ${body.cluster.name} (${body.cluster.id}) with the namespace fleet`,
    );
    expect(conditionOf(await checked(body.cluster.id, 'clusters'), 'Unique')).toMatchObject({ status: 'True' });
    const { body: list } = await world.asViewer.get('/api/v1/hosts?search=node-of-identity');
    expect(list.hosts).toMatchObject([{ identity: node.metadata.uid, conditions: [] }]);
    await server.stop();
  });

  test('is registered again with another namespace, also by a change of the namespace alone', async () => {
    const server = await startApiServer({ namespaces: ['fleet', 'team-a', 'team-b'] });
    const first = (await register(server)).body.cluster;
    const second = await register(server, { namespace: 'team-a' });
    expect(second.status).toBe(201);
    const { id } = second.body.cluster;
    for (const one of [first.id, id]) {
      expect(conditionOf(await checked(one, 'clusters'), 'Unique')).toMatchObject({ status: 'True' });
    }
    const move = (namespace: string) => world.asOperator.put(`/api/v1/clusters/${id}`, { namespace });
    const refused = await move('fleet');
    expect(refused).toMatchObject({ status: 409, body: { code: 'already_registered' } });
    expect(refused.body.detail).toContain(first.name);
    expect((await world.read('clusters', id)).namespace).toBe('team-a');
    expect((await move('team-b')).status).toBe(200);
    expect((await register(server, { namespace: 'team-a' })).status).toBe(201);
    expect((await register(server, { namespace: 'team-b' })).body.code).toBe('already_registered');
    const { auth, ca_certificate } = { auth: { kind: 'token', token: server.token }, ca_certificate: server.ca };
    const check = async (namespace: string) =>
      (await world.asAdmin.post('/api/v1/clusters/check', { server: server.url, auth, ca_certificate, namespace })).body
        .check;
    expect(await check('team-b')).toMatchObject({ registered_as: { id } });
    expect(await check('team-c')).toMatchObject({ registered_as: null });
    await server.stop();
  });

  test('is registered only once with a namespace by concurrent requests', async () => {
    const server = await startApiServer();
    const namespaces = ['one', 'one', 'two', 'two'];
    const answers = await Promise.all(namespaces.map((namespace) => register(server, { namespace })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409]);
    const ids = answers.flatMap(({ body }) => body.cluster?.id ?? []);
    const moved = await Promise.all(
      ids.map((id) => world.asOperator.put(`/api/v1/clusters/${id}`, { namespace: 'three' })),
    );
    expect(moved.map(({ status }) => status).sort()).toEqual([200, 409]);
    await server.stop();
  });

  test('has its capacity once, whatever the number of its namespaces', async () => {
    const server = await startApiServer({ namespaces: ['fleet', 'team-a'] });
    const status = { conditions: [{ type: 'Ready', status: 'True' }], allocatable: { cpu: '8', memory: '32Gi' } };
    server.put('nodes', { metadata: { name: 'only' }, status });
    const first = (await register(server)).body.cluster;
    const second = (await register(server, { namespace: 'team-a' })).body.cluster;
    for (const { id } of [first, second]) await checked(id, 'clusters');
    const workload = await world.aWorkload({ cpu_request: '3' });
    const name = world.aName('existing');
    const given = { name, created_by: 'test', replicas: 1, cluster_id: second.id, cpu_millis: 6000 };
    const { id } = await world.client.deployment.create({ data: { ...given, workload_id: workload.id, revision: 1 } });
    for (const cluster of [first, second]) {
      expect((await world.read('clusters', cluster.id)).allocated).toMatchObject({ cpu: '6' });
      const body = { workload_id: workload.id, target: { cluster_id: cluster.id } };
      const plan = (await world.asOperator.post('/api/v1/deployments/plan', body)).body;
      expect(JSON.stringify(plan.refusals)).toContain('needs 3 CPUs, 2 of 8 are free');
    }
    await world.client.deployment.delete({ where: { id } });
    await server.stop();
  });

  test('whose credentials lack the permission to read its identity works, and states it in a condition', async () => {
    const server = await startApiServer();
    server.forbidden.add('get namespaces');
    const { body } = await register(server);
    const cluster = await checked(body.cluster.id, 'clusters');
    expect(cluster).toMatchObject({ reachability: 'online', identity: null });
    expect(conditionOf(cluster, 'IdentityKnown')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('lack permission to get the namespace kube-system'),
    });
    expect((await register(server)).status).toBe(201);
    await server.stop();
  });

  test('that was registered twice by an earlier version is reported after the permission is granted', async () => {
    const server = await startApiServer();
    server.forbidden.add('get namespaces');
    const first = (await register(server)).body.cluster;
    const second = (await register(server)).body.cluster;
    server.forbidden.delete('get namespaces');
    for (const { id } of [first, second]) await checked(id, 'clusters');
    const unique = await eventually('the duplicate is reported', async () =>
      conditionOf(await world.read('clusters', second.id), 'Unique'),
    );
    expect(unique).toMatchObject({ status: 'False', message: expect.stringContaining(first.name) });
    await server.stop();
  });
});
