// The ports of a deployment on a host bind to the addresses of the host for the networks that the workload requires.
import { startDeploymentWorld } from '../world.ts';

const it = await startDeploymentWorld();

const BOTH = { mesh: '10.1.2.3', public: '203.0.113.5' };
const ports = [{ containerPort: 80 }];
const aNetworkedHost = (addresses: object = BOTH) => it.aHost({ network_types: ['mesh', 'public', 'lab'], addresses });

interface Bound {
  readonly HostIp?: string;
  readonly HostPort: string;
}

/** The bindings of port 80 in each container of a manifest. */
const bindingsIn = (manifest: { kind: string; body: { HostConfig: { PortBindings: Record<string, Bound[]> } } }[]) =>
  manifest.filter(({ kind }) => kind === 'Container').map(({ body }) => body.HostConfig.PortBindings['80/tcp'] ?? []);
const addressesOf = async (id: string) =>
  bindingsIn(await it.manifest(id)).map((bound) => bound.map(({ HostIp = 'all' }) => HostIp));
const declare = (id: string, addresses: object) => it.operator.put(`/api/v1/hosts/${id}`, { addresses });

test.each([
  ['no network type', [], [BOTH.mesh]],
  ['mesh', ['mesh'], [BOTH.mesh]],
  ['public', ['public'], [BOTH.public]],
  ['mesh and public', ['mesh', 'public'], [BOTH.mesh, BOTH.public]],
  ['a network type without an address', ['lab'], ['127.0.0.1']],
])(
  'the ports of a workload that requires %s bind to the declared addresses',
  async (_, required_network_types, bound) => {
    await aNetworkedHost();
    const { id } = await it.deployed({ workload: { ports, required_network_types } });
    expect(await addressesOf(id)).toEqual([bound]);
  },
);

test.each([
  ['no addresses', {}, []],
  ['only a public address', { public: BOTH.public }, []],
  ['only a mesh address', { mesh: BOTH.mesh }, ['public']],
])(
  'ports bind to the loopback address on a host that declares %s, and the plan states it',
  async (_, addresses, required) => {
    await aNetworkedHost(addresses);
    const workload = { ports, required_network_types: required };
    const { id } = await it.deployed({ workload });
    expect(await addressesOf(id)).toEqual([['127.0.0.1']]);
    const { id: workload_id } = await it.aWorkload(workload);
    const { body } = await it.plan({ workload_id });
    expect(bindingsIn(body.manifest)).toEqual([[{ HostIp: '127.0.0.1', HostPort: expect.any(String) }]]);
    const note = `its ports bind to 127.0.0.1, because the host declares no address for ${required[0] ?? 'mesh'}`;
    expect(body.placement.candidates[0].reasons).toContain(note);
  },
);

test('a host is preferred neither for nor without its addresses, and a workload without ports has no note about them', async () => {
  await aNetworkedHost({});
  const { id } = await it.aWorkload();
  const { body } = await it.plan({ workload_id: id });
  expect(body.placement.candidates[0].reasons.join()).not.toContain('ports');
});

test('the ports of two addresses of a host are never the same', async () => {
  await aNetworkedHost();
  const required = [['mesh'], ['public'], ['mesh', 'public'], ['lab']];
  for (const required_network_types of required) await it.deployed({ workload: { ports, required_network_types } });
  const found = await it.client.allocatedPort.findMany();
  expect(new Set(found.map(({ host_port }) => host_port)).size).toBe(required.length);
});

test('another address of a host changes no container until a change replaces the containers', async () => {
  const host = await aNetworkedHost();
  const { id } = await it.deployed({ workload: { ports, env_schema: [{ name: 'NAME' }] } });
  const before = await it.manifest(id);
  expect((await declare(host.id, { mesh: '10.9.9.9' })).status).toBe(200);
  expect(await it.manifest(id)).toEqual(before);

  const { body: plan } = await it.plan({ deployment_id: id, replicas: 2 });
  expect(plan.changes).toEqual([{ action: 'create', object: expect.stringMatching(/-1$/), paths: [] }]);
  expect((await it.ask(id, 'scale', { replicas: 2 })).status).toBe(200);
  expect(await it.manifest(id)).toEqual(plan.manifest);
  expect(await addressesOf(id)).toEqual([['10.1.2.3'], ['10.9.9.9']]);

  const planned = await it.plan({ deployment_id: id, env: { NAME: 'new' } });
  expect((await it.change(id, { env: { NAME: 'new' } })).status).toBe(200);
  expect(await it.manifest(id)).toEqual(planned.body.manifest);
  expect(await addressesOf(id)).toEqual([['10.9.9.9'], ['10.9.9.9']]);
});

test('a deployment of version 0.1.0 keeps its ports on all interfaces until a restart, and shows it', async () => {
  await aNetworkedHost();
  const { id } = await it.deployed({ workload: { ports } });
  await it.client.deployment.update({ where: { id }, data: { defaults_version: 1 } });
  await it.client.allocatedPort.updateMany({ where: { deployment_id: id }, data: { addresses: [] } });
  const olderDefaults = async () =>
    (await it.deployment(id)).conditions.filter(({ type }: { type: string }) => type === 'CreatedWithOlderDefaults');
  expect(await addressesOf(id)).toEqual([['all']]);
  expect((await olderDefaults())[0].message).toContain('binds its ports to the addresses of the host');
  await it.ask(id, 'scale', { replicas: 2 });
  expect(await addressesOf(id)).toEqual([['all'], ['all']]);

  const before = await it.client.allocatedPort.findMany({ orderBy: { ordinal: 'asc' } });
  await it.ask(id, 'restart');
  expect(await addressesOf(id)).toEqual([[BOTH.mesh], [BOTH.mesh]]);
  const after = await it.client.allocatedPort.findMany({ orderBy: { ordinal: 'asc' } });
  expect(after.map(({ host_port }) => host_port)).toEqual(before.map(({ host_port }) => host_port));
  expect(await olderDefaults()).toEqual([]);
});

test('endpoints that version 0.1.0 observed have a scope', async () => {
  const onHost = await it.deployed({ workload: { ports }, target: { host_id: (await aNetworkedHost()).id } });
  const onCluster = await it.deployed({ target: { cluster_id: (await it.aCluster()).id } });
  const endpoints = [{ container_port: 80, protocol: 'TCP', address: 'localhost:20000' }];
  await it.client.deployment.updateMany({ data: { endpoints } });
  expect((await it.deployment(onHost.id)).endpoints).toEqual([{ ...endpoints[0], scope: 'all' }]);
  expect((await it.deployment(onCluster.id)).endpoints).toEqual([{ ...endpoints[0], scope: 'cluster' }]);
});
