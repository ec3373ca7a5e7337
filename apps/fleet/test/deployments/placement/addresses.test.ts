// The ports of a deployment on a host bind to the addresses of the host for the networks that the
// workload requires.
import { startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();

const BOTH = { mesh: '10.1.2.3', public: '203.0.113.5' };
const ports = [{ containerPort: 80 }];
const aNetworkedHost = (addresses: object = BOTH) =>
  fleet.aHost({ network_types: ['mesh', 'public', 'lab'], addresses });

interface Bound {
  readonly HostIp?: string;
  readonly HostPort: string;
}

/** The bindings of port 80 in each container of a manifest. */
const bindingsIn = (manifest: { kind: string; body: { HostConfig: { PortBindings: Record<string, Bound[]> } } }[]) =>
  manifest.filter(({ kind }) => kind === 'Container').map(({ body }) => body.HostConfig.PortBindings['80/tcp'] ?? []);
const addressesOf = async (id: string) =>
  bindingsIn(await fleet.manifest(id)).map((bound) => bound.map(({ HostIp = 'all' }) => HostIp));
const declare = (id: string, addresses: object) => fleet.operator.put(`/api/v1/hosts/${id}`, { addresses });

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
    const { id } = await fleet.deployed({ workload: { ports, required_network_types } });
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
    const { id } = await fleet.deployed({ workload });
    expect(await addressesOf(id)).toEqual([['127.0.0.1']]);
    const { id: workload_id } = await fleet.aWorkload(workload);
    const { body } = await fleet.plan({ workload_id });
    expect(bindingsIn(body.manifest)).toEqual([[{ HostIp: '127.0.0.1', HostPort: expect.any(String) }]]);
    const note = `its ports bind to 127.0.0.1, because the host declares no address for ${required[0] ?? 'mesh'}`;
    expect(body.placement.candidates[0].reasons).toContain(note);
  },
);

test('a host is preferred neither for nor without its addresses, and a workload without ports has no note about them', async () => {
  await aNetworkedHost({});
  const { id } = await fleet.aWorkload();
  const { body } = await fleet.plan({ workload_id: id });
  expect(body.placement.candidates[0].reasons.join()).not.toContain('ports');
});

test('the ports of two addresses of a host are never the same', async () => {
  await aNetworkedHost();
  const required = [['mesh'], ['public'], ['mesh', 'public'], ['lab']];
  for (const required_network_types of required) await fleet.deployed({ workload: { ports, required_network_types } });
  const found = await fleet.client.allocatedPort.findMany();
  expect(new Set(found.map(({ host_port }) => host_port)).size).toBe(required.length);
});

test('another address of a host changes no container until a change replaces the containers', async () => {
  const host = await aNetworkedHost();
  const { id } = await fleet.deployed({ workload: { ports, env_schema: [{ name: 'NAME' }] } });
  const before = await fleet.manifest(id);
  expect((await declare(host.id, { mesh: '10.9.9.9' })).status).toBe(200);
  expect(await fleet.manifest(id)).toEqual(before);

  const { body: plan } = await fleet.plan({ deployment_id: id, replicas: 2 });
  expect(plan.changes).toEqual([{ action: 'create', object: expect.stringMatching(/-1$/), paths: [] }]);
  expect((await fleet.ask(id, 'scale', { replicas: 2 })).status).toBe(200);
  expect(await fleet.manifest(id)).toEqual(plan.manifest);
  expect(await addressesOf(id)).toEqual([['10.1.2.3'], ['10.9.9.9']]);

  const planned = await fleet.plan({ deployment_id: id, env: { NAME: 'new' } });
  expect((await fleet.change(id, { env: { NAME: 'new' } })).status).toBe(200);
  expect(await fleet.manifest(id)).toEqual(planned.body.manifest);
  expect(await addressesOf(id)).toEqual([['10.9.9.9'], ['10.9.9.9']]);
});

test('a deployment of version 0.1.0 keeps its ports on all interfaces until a restart, and shows it', async () => {
  await aNetworkedHost();
  const { id } = await fleet.deployed({ workload: { ports } });
  await fleet.client.deployment.update({ where: { id }, data: { defaults_version: 1, updates: {} } });
  await fleet.client.allocatedPort.updateMany({ where: { deployment_id: id }, data: { addresses: [] } });
  const olderDefaults = async () =>
    (await fleet.deployment(id)).conditions.filter(({ type }: { type: string }) => type === 'CreatedWithOlderDefaults');
  expect(await addressesOf(id)).toEqual([['all']]);
  expect((await olderDefaults())[0].message).toContain('binds its ports to the addresses of the host');
  await fleet.ask(id, 'scale', { replicas: 2 });
  expect(await addressesOf(id)).toEqual([['all'], ['all']]);

  const before = await fleet.client.allocatedPort.findMany({ orderBy: { ordinal: 'asc' } });
  await fleet.ask(id, 'restart');
  expect(await addressesOf(id)).toEqual([[BOTH.mesh], [BOTH.mesh]]);
  const after = await fleet.client.allocatedPort.findMany({ orderBy: { ordinal: 'asc' } });
  expect(after.map(({ host_port }) => host_port)).toEqual(before.map(({ host_port }) => host_port));
  expect(await olderDefaults()).toEqual([]);
});

test('endpoints that version 0.1.0 observed have a scope', async () => {
  const onHost = await fleet.deployed({ workload: { ports }, target: { host_id: (await aNetworkedHost()).id } });
  const onCluster = await fleet.deployed({ target: { cluster_id: (await fleet.aCluster()).id } });
  const endpoints = [{ container_port: 80, protocol: 'TCP', address: 'localhost:20000' }];
  await fleet.client.deployment.updateMany({ data: { endpoints } });
  const stored = { ...endpoints[0], scheme: null, instance: null, ready: true, current: true };
  expect((await fleet.deployment(onHost.id)).endpoints).toEqual([{ ...stored, scope: 'all' }]);
  expect((await fleet.deployment(onCluster.id)).endpoints).toEqual([{ ...stored, scope: 'cluster' }]);
});
