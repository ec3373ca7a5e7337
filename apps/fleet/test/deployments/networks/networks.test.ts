// The isolated networks of hosts, and the addresses of deployments in them.
import { byDepth, LONG_TEST_MS } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { createCandidates } from '../../../src/deployments/candidates.ts';
import { subnetOf } from '../../../src/placement/subnets.ts';
import { CONTAINERS_ARE_ISOLATED } from '../../../src/render/defaults.ts';
import { creation, plansIn, reasonsOf as reasonsOfPlan } from '../plans/world.ts';
import { receivedBy } from '../values/variables.ts';
import { type Body, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();
const { client } = fleet;

const PORT = 5432;
const DATABASE = { ports: [{ containerPort: PORT }] };
const APP = { env_schema: [{ name: 'ADDRESS' }] };
const ADDRESS = { deployment: 'database', port: PORT, as: 'host:port' };

interface Taken {
  readonly deployment: string;
  readonly ordinal: number;
  readonly address: string;
  readonly joined: boolean;
}
const taken = (networkId?: string) => client.$queryRaw<Taken[]>`
  SELECT d.name AS deployment, a.ordinal, host(a.address) AS address, a.joined
  FROM network_addresses a JOIN deployments d ON d.id = a.deployment_id
  WHERE ${networkId ?? null}::uuid IS NULL OR a.network_id = ${networkId ?? null}::uuid ORDER BY a.address`;
const addressesOf = async (name: string) =>
  (await taken()).filter(({ deployment }) => deployment === name).map(({ address }) => address);
const subnets = async () =>
  (await client.$queryRaw<{ subnet: string }[]>`SELECT subnet::text FROM networks ORDER BY 1`).map(
    ({ subnet }) => subnet,
  );
const manifest = async (id: string) => (await fleet.operator.get(`/api/v1/deployments/${id}/manifest`)).body.manifest;
const kinds = (objects: readonly Body[], kind: string) => objects.filter((object) => object.kind === kind);

/** As an application would have it: a network of its own, to which a deployment belongs. */
async function inOwnNetwork(deploymentId: string, host_id: string) {
  const application_id = '019a0000-0000-7000-8000-0000000000aa';
  const { id } = await client.network.create({ data: { host_id, application_id, subnet: '10.213.16.0/26' } });
  await client.$executeRaw`
    UPDATE network_addresses SET network_id = ${id}::uuid, address = '10.213.16.2'
    WHERE deployment_id = ${deploymentId}::uuid AND ordinal = 0`;
  return id;
}

test('deployments on a host have fixed addresses in one isolated network, and MAC addresses of them', async () => {
  await fleet.aHost();
  const one = await fleet.deployed({ name: 'one', replicas: 2, workload: DATABASE });
  const other = await fleet.deployed({ name: 'other' });
  expect(await subnets()).toEqual(['10.213.0.0/20']);
  expect(await taken()).toEqual([
    { deployment: 'one', ordinal: 0, address: '10.213.0.2', joined: false },
    { deployment: 'one', ordinal: 1, address: '10.213.0.3', joined: false },
    { deployment: 'other', ordinal: 0, address: '10.213.0.4', joined: false },
  ]);
  const objects = await manifest(one.id);
  const [network] = kinds(objects, 'Network') as [{ name: string; body: Body }];
  expect(network).toEqual({
    kind: 'Network',
    name: expect.stringMatching(/^svc-alone-[0-9a-f]{8}$/),
    body: { Subnet: '10.213.0.0/20', Labels: expect.objectContaining({ 'app.kubernetes.io/managed-by': 'fleet' }) },
  });
  const bodies = kinds(objects, 'Container').map(({ body }) => body);
  expect(bodies).toMatchObject([
    {
      HostConfig: { NetworkMode: network.name, PortBindings: { [`${PORT}/tcp`]: [{ HostIp: '127.0.0.1' }] } },
      NetworkingConfig: {
        EndpointsConfig: {
          [network.name]: { IPAMConfig: { IPv4Address: '10.213.0.2' }, MacAddress: '02:42:0a:d5:00:02' },
        },
      },
    },
    { NetworkingConfig: { EndpointsConfig: { [network.name]: { MacAddress: '02:42:0a:d5:00:03' } } } },
  ]);
  expect(kinds(await manifest(other.id), 'Network')).toEqual([network]);
});

test('a plan shows the network and the addresses that the creation then has, and stores none', async () => {
  await fleet.aHost();
  const { id: workload_id } = await fleet.aWorkload(DATABASE);
  const { body } = await fleet.plan({ workload_id, name: 'one' });
  expect(await subnets()).toEqual([]);
  const { id } = await fleet.deployed({ workload_id, name: 'one' });
  const endpointOf = (objects: readonly Body[]) =>
    JSON.stringify(kinds(objects, 'Container')[0]).match(/"IPAMConfig":\{[^}]*\},"MacAddress":"[^"]*"/)?.[0];
  expect(endpointOf(body.manifest)).toContain('10.213.0.2');
  expect(endpointOf(body.manifest)).toEqual(endpointOf(await manifest(id)));
});

test('each host has its own network, and a deployment on a cluster has none', async () => {
  const hosts = [await fleet.aHost(), await fleet.aHost()];
  for (const { id } of hosts) await fleet.deployed({ target: { host_id: id } });
  const cluster = await fleet.aCluster();
  await fleet.deployed({ target: { cluster_id: cluster.id } });
  expect(await subnets()).toEqual(['10.213.0.0/20', '10.213.0.0/20']);
  expect((await taken()).map(({ address }) => address)).toEqual(['10.213.0.2', '10.213.0.2']);
});

test('more replicas get more addresses, fewer release them, and a restart keeps them', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed({ name: 'one' });
  await fleet.deployed({ name: 'other' });
  await fleet.change(id, { replicas: 3 });
  expect(await addressesOf('one')).toEqual(['10.213.0.2', '10.213.0.4', '10.213.0.5']);
  await fleet.ask(id, 'restart');
  await fleet.ask(id, 'stop');
  expect((await addressesOf('one')).slice(0, 3)).toEqual(['10.213.0.2', '10.213.0.4', '10.213.0.5']);
  await fleet.ask(id, 'start');
  await fleet.change(id, { replicas: 1 });
  expect(await addressesOf('one')).toEqual(['10.213.0.2']);
});

test('a deployment of an earlier version stays on the default network until it is restarted', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed({ name: 'old' });
  await client.networkAddress.deleteMany();
  await client.deployment.update({
    where: { id },
    data: { defaults_version: CONTAINERS_ARE_ISOLATED - 1, updates: {} },
  });
  const containerOf = async () =>
    (kinds(await manifest(id), 'Container')[0] as { body: Body & { Labels: Readonly<Record<string, string>> } }).body;
  const before = await containerOf();
  expect(before).not.toHaveProperty('NetworkingConfig');
  await fleet.change(id, { replicas: 2, labels: { team: 'a' } });
  expect((await containerOf()).Labels['fleet/body']).toBe(before.Labels['fleet/body']);
  expect(await taken()).toEqual([]);
  const { conditions } = await fleet.deployment(id);
  expect(conditions).toContainEqual(
    expect.objectContaining({
      type: 'CreatedWithOlderDefaults',
      message: expect.stringContaining(
        'moves its containers from the default network of the engine to an isolated network',
      ),
    }),
  );
  await fleet.ask(id, 'restart');
  expect(await containerOf()).toHaveProperty('NetworkingConfig');
});

test('a subnet that the host refuses is not used', async () => {
  await fleet.aHost({ refused_subnets: ['10.213.0.0/20', '10.213.32.0/20'] });
  await fleet.deployed();
  expect(await subnets()).toEqual(['10.213.16.0/20']);
});

test('without a free subnet or address, a deployment is refused with the bound', async () => {
  const host = await fleet.aHost();
  const pool = createCandidates(subnetOf('10.99.0.0/19'));
  const { id: workload_id } = await fleet.aWorkload();
  const planned = async (refused: string[], given: object = {}) => {
    await client.host.update({ where: { id: host.id }, data: { refused_subnets: refused } });
    const [decided] = await plansIn(fleet, pool).plan(async () => [creation({ name: 'one', workload_id, ...given })]);
    return decided && reasonsOfPlan(decided);
  };
  expect(await planned(['10.99.0.0/20'])).toEqual([]);
  expect(await planned(['10.99.0.0/19'])).toEqual([
    {
      path: 'target',
      message: expect.stringMatching(/a network with 4096 addresses.* 10\.99\.0\.0\/19 has none left/),
    },
  ]);
  await client.network.create({ data: { host_id: host.id, subnet: '10.99.0.0/29' } });
  expect(await planned([], { replicas: 5 })).toEqual([]);
  expect(await planned([], { replicas: 6 })).toEqual([
    { path: 'target', message: expect.stringMatching(/needs 6 more addresses .* which has 5 of 5 free/) },
  ]);
});

test('on one host, the address of a binding is that in the network, also without a published address', async () => {
  await fleet.aHost();
  await fleet.deployed({ name: 'database', workload: DATABASE });
  const { id } = await fleet.deployed({ name: 'app', workload: APP, env: { ADDRESS } });
  expect((await receivedBy(fleet, id)).env.ADDRESS).toBe(`10.213.0.2:${PORT}`);
  const { bindings } = (await fleet.operator.get(`/api/v1/deployments/${id}/manifest`)).body;
  expect(bindings).toMatchObject([{ address: `10.213.0.2:${PORT}`, note: null }]);
});

test('from a deployment on the default network, the address of a binding is the published one', async () => {
  await fleet.aHost({ network_types: ['mesh'], addresses: { mesh: '10.1.2.3' } });
  const database = await fleet.deployed({ name: 'database', workload: DATABASE });
  const { id } = await fleet.deployed({ name: 'app', workload: APP, env: { ADDRESS } });
  const { host_port } = await client.allocatedPort.findFirstOrThrow({ where: { deployment_id: database.id } });
  await client.deployment.update({ where: { id }, data: { defaults_version: CONTAINERS_ARE_ISOLATED - 1 } });
  await fleet.ask(database.id, 'restart');
  expect((await receivedBy(fleet, id)).env.ADDRESS).toBe(`10.1.2.3:${host_port}`);
  await fleet.ask(id, 'restart');
  expect((await receivedBy(fleet, id)).env.ADDRESS).toBe(`10.213.0.2:${PORT}`);
});

test('a deployment joins the network of another application for an address, and the plan says what it then reaches', async () => {
  const host = await fleet.aHost();
  const database = await fleet.deployed({ name: 'database', workload: DATABASE });
  const network = await inOwnNetwork(database.id, host.id);
  const { id: workload_id } = await fleet.aWorkload(APP);
  const request = { workload_id, name: 'app', replicas: 2, env: { ADDRESS } };
  const { body } = await fleet.plan(request);
  expect(body.bindings).toMatchObject([
    {
      address: `10.213.16.2:${PORT}`,
      note: 'joins the network of the application of database, and reaches all ports of all containers in it',
    },
  ]);
  const { id } = await fleet.deployed(request);
  expect(await taken(network)).toEqual([
    { deployment: 'database', ordinal: 0, address: '10.213.16.2', joined: false },
    { deployment: 'app', ordinal: 0, address: '10.213.16.3', joined: true },
    { deployment: 'app', ordinal: 1, address: '10.213.16.4', joined: true },
  ]);
  const objects = await manifest(id);
  expect(kinds(objects, 'Network')).toHaveLength(2);
  const [container] = kinds(objects, 'Container') as [{ body: { NetworkingConfig: { EndpointsConfig: Body } } }];
  expect(Object.values(container.body.NetworkingConfig.EndpointsConfig)).toMatchObject([
    { IPAMConfig: { IPv4Address: expect.stringMatching(/^10\.213\.0\./) } },
    { IPAMConfig: { IPv4Address: '10.213.16.3' } },
  ]);
  await fleet.ask(id, 'stop');
  await fleet.change(id, { env: { ADDRESS: 'none' } });
  await fleet.ask(id, 'start');
  expect((await taken(network)).map(({ deployment }) => deployment)).toEqual(['database']);
});

test('a deployment follows to the network of what it is bound to, as a new generation', async () => {
  const host = await fleet.aHost();
  const database = await fleet.deployed({ name: 'database', workload: DATABASE });
  const { id } = await fleet.deployed({ name: 'app', workload: APP, env: { ADDRESS } });
  const network = await inOwnNetwork(database.id, host.id);
  const { restartForAddress } = await import('../../../src/deployments/addresses/dependents.ts');
  const { THE_FLEET } = await import('../../../src/identity/principal.ts');
  await client.$transaction((transaction) => restartForAddress({ transaction, principal: THE_FLEET }, database));
  expect((await fleet.deployment(id)).generation).toBe(2);
  expect((await receivedBy(fleet, id)).env.ADDRESS).toBe(`10.213.16.2:${PORT}`);
  expect((await taken(network)).map(({ deployment, joined }) => [deployment, joined])).toEqual([
    ['database', false],
    ['app', true],
  ]);
});

test('the parts of an application know each other by name, and the removal of one changes nothing of the others', async () => {
  const host = await fleet.aHost();
  const database = await fleet.deployed({ name: 'database', workload: DATABASE });
  const web = await fleet.deployed({ name: 'web' });
  const network = await inOwnNetwork(database.id, host.id);
  await client.$executeRaw`
    UPDATE network_addresses SET network_id = ${network}::uuid, address = '10.213.16.3' WHERE deployment_id = ${web.id}::uuid`;
  const names = async () => {
    const [container] = kinds(await manifest(web.id), 'Container') as [
      { body: { HostConfig: { ExtraHosts: string[] } } },
    ];
    return container.body.HostConfig.ExtraHosts;
  };
  expect(await names()).toEqual(['database:10.213.16.2', 'web:10.213.16.3']);
  expect((await fleet.remove(database.id)).status).toBe(200);
  expect(await taken(network)).toHaveLength(1);
  expect(await names()).toEqual(['database:10.213.16.2', 'web:10.213.16.3']);
});

const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), replicas: fc.integer({ min: 1, max: 4 }), host: fc.nat(1) }),
  fc.record({ kind: fc.constant('scale' as const), replicas: fc.integer({ min: 1, max: 5 }), which: fc.nat(20) }),
  fc.record({ kind: fc.constant('restart' as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant('delete' as const), which: fc.nat(20) }),
);

test(
  'no address has two owners, and each instance has one, whatever is created, scaled and deleted',
  async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      await client.$executeRaw`TRUNCATE hosts, deployments CASCADE`;
      const hosts = [await fleet.aHost(), await fleet.aHost()];
      const { id: workload_id } = await fleet.aWorkload();
      const existing: string[] = [];
      for (const each of steps) {
        if (each.kind === 'create') {
          const target = { host_id: hosts[each.host]?.id };
          existing.push((await fleet.deployed({ workload_id, target, replicas: each.replicas })).id);
          continue;
        }
        const [id] = existing.length === 0 ? [] : existing.splice(each.which % existing.length, 1);
        if (id === undefined) continue;
        if (each.kind === 'delete') {
          await fleet.remove(id);
          continue;
        }
        existing.push(id);
        if (each.kind === 'scale') await fleet.ask(id, 'scale', { replicas: each.replicas });
        else await fleet.ask(id, 'restart');
      }
      const rows = await client.$queryRaw<{ owners: number; outside: number }[]>`
      SELECT count(*)::int AS owners, count(*) FILTER (WHERE NOT a.address << n.subnet OR d.host_id <> n.host_id)::int AS outside
      FROM network_addresses a JOIN networks n ON n.id = a.network_id JOIN deployments d ON d.id = a.deployment_id
      GROUP BY n.host_id, a.address`;
      expect(rows.filter(({ owners, outside }) => owners > 1 || outside > 0)).toEqual([]);
      const deployments = await client.deployment.findMany({ include: { network_addresses: true } });
      for (const { replicas, extra_instances, network_addresses } of deployments) {
        const ordinals = network_addresses.map(({ ordinal }) => ordinal).toSorted();
        expect(ordinals).toEqual(Array.from({ length: replicas + extra_instances }, (_, ordinal) => ordinal));
      }
    });
    await fc.assert(property, seeded({ numRuns: byDepth({ short: 8, full: 100, long: 1000 }) }));
  },
  LONG_TEST_MS,
);
