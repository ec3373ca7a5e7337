// Ports of a host that a deployment requests.
import { refusalOfPort } from '../../../src/deployments/host-ports/holders.ts';
import { type Body, reasonsOf, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();

const MESH = '10.1.2.3';
const OPEN = ['53/udp', '80', '8000-8010'];
const workload = {
  ports: [
    { containerPort: 53, protocol: 'UDP' },
    { containerPort: 8080, protocol: 'TCP' },
  ],
  required_network_types: ['mesh'],
  env_schema: [{ name: 'MODE' }],
};

const aHost = (given: Parameters<typeof fleet.aHost>[0] = {}) =>
  fleet.aHost({
    network_types: ['mesh', 'public'],
    addresses: { mesh: MESH, public: '203.0.113.5' },
    open_ports: OPEN,
    ...given,
  });
const deployed = (host: { id: string }, given: Body = {}) =>
  fleet.deployed({ workload, target: { host_id: host.id }, host_ports: { '53/udp': 53 }, ...given });
const bindingsOf = async (id: string) => {
  const manifest = await fleet.manifest(id);
  return manifest.flatMap(({ kind, body }: Body) =>
    kind === 'Container' ? [Object(body).HostConfig.PortBindings] : [],
  );
};

test('a deployment has the port of its host that it requests, at the addresses of its networks only', async () => {
  const host = await aHost();
  const { id: workload_id } = await fleet.aWorkload(workload);
  const request = { workload_id, target: { host_id: host.id }, host_ports: { '53/udp': 53 } };
  const { body: plan } = await fleet.plan(request);
  expect(plan).toMatchObject({
    ok: true,
    host_ports: [{ container_port: 53, protocol: 'UDP', host_port: 53, addresses: [MESH] }],
  });
  const { id } = (await fleet.deploy(request)).body.deployment;
  const [bindings] = await bindingsOf(id);
  expect(bindings).toEqual({
    '53/udp': [{ HostIp: MESH, HostPort: '53' }],
    '8080/tcp': [{ HostIp: MESH, HostPort: expect.stringMatching(/^2\d{4}$/) }],
  });
  expect(await fleet.deployment(id)).toMatchObject({ host_ports: { '53/udp': 53 } });
});

test('no port is open by default, and only an admin opens ports', async () => {
  const host = await fleet.aHost();
  expect(host.open_ports).toEqual([]);
  const path = `/api/v1/hosts/${host.id}`;
  const refused = await fleet.operator.put(path, { open_ports: ['53/udp'] });
  expect(refused).toMatchObject({ status: 403, body: { detail: 'Only an admin can open ports of a host.' } });
  const opened = await fleet.admin.put(path, { open_ports: ['53/udp'] });
  expect(opened).toMatchObject({ status: 200, body: { host: { open_ports: ['53/udp'] } } });
  const sentBack = await fleet.operator.put(path, { open_ports: ['53/udp'], labels: { a: 'b' } });
  expect(sentBack.status).toBe(200);
});

test.each([
  [['0'], 'open_ports.0'],
  [['65536'], 'open_ports.0'],
  [['20-10'], 'open_ports.0'],
  [['53/icmp'], 'open_ports.0'],
  [['a'], 'open_ports.0'],
  [Array.from({ length: 65 }, (_, index) => String(index + 1)), 'open_ports'],
])('open ports must not be %j', async (open_ports, path) => {
  const host = await fleet.aHost();
  const { status, body } = await fleet.admin.put(`/api/v1/hosts/${host.id}`, { open_ports });
  expect({ status, paths: body.errors.map((error: { path: string }) => error.path) }).toEqual({
    status: 400,
    paths: [path],
  });
});

test.each<[string, Body, { path: string; message: string }]>([
  [
    'a port that is not open',
    { host_ports: { '53/udp': 54 } },
    {
      path: 'host_ports.53/udp',
      message: 'must be an open port of host HOST: an admin has opened 53/udp, 80, 8000-8010, and not 54/udp',
    },
  ],
  [
    'a port that is open for another protocol',
    { host_ports: { '53/udp': 80 } },
    {
      path: 'host_ports.53/udp',
      message: 'must be an open port of host HOST: an admin has opened 53/udp, 80, 8000-8010, and not 80/udp',
    },
  ],
  [
    'a port that the workload does not have',
    { host_ports: { '54/udp': 53 } },
    { path: 'host_ports.54/udp', message: 'is not a port of this workload, which has 53/udp, 8080/tcp' },
  ],
  [
    'two replicas',
    { replicas: 2 },
    { path: 'host_ports', message: 'needs one replica, because only one instance can have a port of the host' },
  ],
  [
    'no target',
    { target: null },
    { path: 'target', message: 'must be a host, because the deployment requests ports of one; clusters have none' },
  ],
])('a request with %s is refused', async (_, given, reason) => {
  const host = await aHost();
  const { id: workload_id } = await fleet.aWorkload(workload);
  const request = { workload_id, target: { host_id: host.id }, host_ports: { '53/udp': 53 }, ...given };
  const expected = { ...reason, message: reason.message.replace('HOST', host.name) };
  expect(reasonsOf(await fleet.plan(request))).toContainEqual(expected);
  const { status } = await fleet.operator.post('/api/v1/deployments', { name: 'refused', ...request });
  expect(status).toBe(422);
});

test('a port that somebody uses is refused with the name of the holder', async () => {
  const host = await aHost({ endpoint: 'tcp://127.0.0.1:8000' });
  const first = await deployed(host);
  const other = { target: { host_id: host.id } };
  const { id: workload_id } = await fleet.aWorkload(workload);
  const reason = async (host_ports: Body) =>
    reasonsOf(await fleet.plan({ workload_id, ...other, host_ports }))[0]?.message;
  expect(await reason({ '53/udp': 53 })).toBe(
    `must be a free port: the deployment ${first.name} already uses 53/udp of host ${host.name}`,
  );
  expect(await reason({ '8080/tcp': 8000 })).toBe(
    `must be a free port: the engine of the host already uses 8000/tcp of host ${host.name}`,
  );
  await fleet.deployed({ workload, ...other, host_ports: { '8080/tcp': 8001 } });
  expect(await reason({ '8080/tcp': 8001 })).toMatch(/^must be a free port: the deployment /);
  const twice = { ports: [{ containerPort: 1 }, { containerPort: 2 }] };
  const { id } = await fleet.aWorkload(twice);
  const { body } = await fleet.plan({ workload_id: id, ...other, host_ports: { '1/tcp': 8002, '2/tcp': 8002 } });
  expect(body.refusals[0]?.message).toBe(
    `must be a free port: the port 1/tcp of this deployment already uses 8002/tcp of host ${host.name}`,
  );
});

test.each([
  ['unix:///run/engine.sock', 'TCP', 'must be a free port: this fleet already uses 80/tcp of host mine'],
  ['tcp://127.0.0.1:2376', 'TCP', 'must be a free port: this fleet already uses 80/tcp of host mine'],
  ['tcp://203.0.113.9:2376', 'TCP', undefined],
  ['unix:///run/engine.sock', 'UDP', undefined],
])('the port of the fleet is taken on its own machine only: %s, %s', async (endpoint, protocol, message) => {
  const { id } = await aHost();
  const host = { id, name: 'mine', endpoint, open_ports: ['80', '80/udp'] };
  const port = { key: '8080/tcp', protocol, host_port: 80 };
  const refusal = await refusalOfPort(fleet.client, port, { host, servicePort: 80, holders: new Map() });
  expect(refusal?.message).toBe(message);
});

test('a change moves the port and back, keeps it while it is not open any more, and ends the old instance first', async () => {
  const host = await aHost();
  const { id } = await deployed(host);
  const portOf = async () => (await bindingsOf(id))[0]['53/udp'][0].HostPort;
  const dynamic = (await bindingsOf(id))[0]['8080/tcp'];
  await fleet.admin.put(`/api/v1/hosts/${host.id}`, { open_ports: ['8080'] });
  const plan = (await fleet.plan({ deployment_id: id, env: { MODE: 'new' } })).body;
  expect(plan).toMatchObject({ ok: true, rollout: { extra_instances: 0 } });
  expect(plan.rollout.reason).toBe('Only one instance at a time can have the port of the host for 53/udp.');
  expect((await fleet.change(id, { env: { MODE: 'new' } })).status).toBe(200);
  expect(await portOf()).toBe('53');

  expect((await fleet.change(id, { host_ports: { '53/udp': 5353 } })).status).toBe(422);
  await fleet.admin.put(`/api/v1/hosts/${host.id}`, { open_ports: ['5353/udp'] });
  expect((await fleet.change(id, { host_ports: { '53/udp': 5353 } })).status).toBe(200);
  expect(await portOf()).toBe('5353');
  expect((await fleet.change(id, { host_ports: {} })).status).toBe(200);
  expect(await portOf()).toMatch(/^2\d{4}$/);
  expect((await bindingsOf(id))[0]['8080/tcp']).toEqual(dynamic);
  const rows = await fleet.client.allocatedPort.findMany({ where: { deployment_id: id, ordinal: 0 } });
  expect(rows).toHaveLength(2);

  expect((await fleet.ask(id, 'rollback')).status).toBe(200);
  expect(await portOf()).toBe('5353');
  const [event] = await fleet.events(id);
  expect(event.details).toMatchObject({ host_ports: { from: {}, to: { '53/udp': 5353 } } });
});

test('a stopped deployment keeps its port, and a deleted one releases it', async () => {
  const host = await aHost();
  const first = await deployed(host);
  await fleet.ask(first.id, 'stop');
  const { id: workload_id } = await fleet.aWorkload(workload);
  const request = { workload_id, target: { host_id: host.id }, host_ports: { '53/udp': 53 } };
  expect((await fleet.plan(request)).body.ok).toBe(false);
  await fleet.client.deployment.delete({ where: { id: first.id } });
  expect((await fleet.plan(request)).body.ok).toBe(true);
});

test('the proposal of a template opens nothing', async () => {
  const host = await aHost();
  const proposing = { ports: [{ containerPort: 53, protocol: 'UDP', host_port: 53 }] };
  const { id } = await fleet.deployed({ workload: proposing, target: { host_id: host.id } });
  expect(await bindingsOf(id)).toEqual([{ '53/udp': [{ HostIp: MESH, HostPort: expect.stringMatching(/^2\d{4}$/) }] }]);
});
