import { type Plural, pathOf, startResources } from '../resources.ts';

const world = await startResources();
const { aName, aRoomyHost, asAdmin, client, read } = world;
afterAll(() => world.stop());

const HOST = { engine: 'docker', endpoint: 'tcp://engine.example.test:2376', network_types: ['mesh', 'public'] };
const create = (given: object) => asAdmin.post(pathOf('hosts'), { name: aName('networked'), ...HOST, ...given });
const put = (plural: Plural, id: string, body: object) => asAdmin.put(pathOf(plural, id), body);

test('a host has an address for each network type, which is unverified at first', async () => {
  const addresses = { mesh: '10.1.2.3', public: '2001:db8::5' };
  const { status, body } = await create({ addresses });
  expect({ status, addresses: body.host.addresses, unverified_addresses: body.host.unverified_addresses }).toEqual({
    status: 201,
    addresses,
    unverified_addresses: ['mesh', 'public'],
  });
  expect((await put('hosts', body.host.id, { addresses: { mesh: '127.0.0.1' } })).body.host).toMatchObject({
    addresses: { mesh: '127.0.0.1' },
    unverified_addresses: [],
  });
  expect((await put('hosts', body.host.id, body.host)).status).toBe(200);
});

test.each([
  'localhost',
  '10.1.2.3:80',
  '10.1.2',
  '0.0.0.0',
  '::',
  '0:0:0:0:0:0:0:0',
  '169.254.1.1',
  'fe80::1',
  'fe80::1%eth0',
  '224.0.0.1',
  '255.255.255.255',
  'ff02::1',
  '::ffff:10.1.2.3',
  '',
])('the address %p of a host is rejected', async (address) => {
  const { status, body } = await create({ addresses: { mesh: address } });
  expect(status).toBe(400);
  expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(['addresses.mesh']);
});

test('an address is rejected for a network type that the host does not have or no longer has', async () => {
  const { status, body } = await create({ addresses: { lab: '10.1.2.3' } });
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: [
      { path: 'addresses.lab', message: 'must be for one of network_types of the host', code: 'address_network' },
    ],
  });
  const { body: made } = await create({ addresses: { mesh: '10.1.2.3' } });
  const removed = await put('hosts', made.host.id, { network_types: ['public'] });
  expect({ status: removed.status, path: removed.body.errors[0].path }).toEqual({
    status: 400,
    path: 'addresses.mesh',
  });
  expect((await put('hosts', made.host.id, { network_types: ['public'], addresses: {} })).status).toBe(200);
});

test('another address or endpoint of a host is verified again', async () => {
  const { id } = await aRoomyHost();
  await put('hosts', id, { network_types: ['mesh'], addresses: { mesh: '10.1.2.3' } });
  const verify = () => client.host.update({ where: { id }, data: { verified_addresses: ['10.1.2.3'] } });
  for (const change of [{ addresses: { mesh: '10.1.2.3' } }, { endpoint: 'tcp://other.example.test:2376' }]) {
    await verify();
    expect((await read('hosts', id)).unverified_addresses).toEqual([]);
    expect((await put('hosts', id, change)).body.host.unverified_addresses).toEqual(['mesh']);
  }
});

test('a change of the addresses of a host makes its deployments due', async () => {
  const { id: host_id } = await aRoomyHost();
  const { body } = await asAdmin.post(pathOf('workloads'), { name: aName('moved'), image_name: 'team/app' });
  const due_at = new Date(Date.now() + 3_600_000);
  const { id } = await client.deployment.create({
    data: {
      name: aName('moved'),
      workload_id: body.workload.id,
      revision: 1,
      replicas: 1,
      created_by: 'test',
      host_id,
      due_at,
    },
  });
  const dueAt = async () => (await client.deployment.findUniqueOrThrow({ where: { id } })).due_at;
  await put('hosts', host_id, { taints: [] });
  expect(await dueAt()).toEqual(due_at);
  await put('hosts', host_id, { network_types: ['mesh'], addresses: { mesh: '10.1.2.3' } });
  expect((await dueAt()).getTime()).toBeLessThan(Date.now());
});

test('the public Services of a cluster are ClusterIP unless the cluster selects another type', async () => {
  const members = { server: 'https://cluster.example.test:6443', auth: { kind: 'token', token: 'a token' } };
  const { body } = await asAdmin.post(pathOf('clusters'), { name: aName('published'), ...members });
  expect(body.cluster.public_service_type).toBe('ClusterIP');
  const changed = await put('clusters', body.cluster.id, { public_service_type: 'LoadBalancer' });
  expect(changed.body.cluster.public_service_type).toBe('LoadBalancer');
  expect((await put('clusters', body.cluster.id, { public_service_type: 'ExternalName' })).status).toBe(400);
});

test('the effect NoExecute of a taint is refused, and a stored one remains', async () => {
  const taint = { key: 'team', value: 'red', effect: 'NoExecute' };
  const refused = await create({ taints: [taint] });
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'taints.0.effect' }] } });
  expect(refused.body.errors[0].message).toContain('NoSchedule or PreferNoSchedule');
  const { body } = await create({ taints: [{ ...taint, effect: 'NoSchedule' }] });
  await client.host.update({ where: { id: body.host.id }, data: { taints: [taint] } });
  const changed = await put('hosts', body.host.id, { labels: { changed: 'yes' } });
  expect(changed.body.host).toMatchObject({ taints: [taint], labels: { changed: 'yes' } });
  expect((await put('hosts', body.host.id, { taints: [taint] })).status).toBe(400);
});
