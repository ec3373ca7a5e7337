import { expectRefusedIn, fieldError } from '../expect-refused.ts';
import { reasonsOf, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();
const refused = expectRefusedIn(fleet);

/** An object of the manifest of a deployment on a host. */
interface ManifestObject {
  readonly kind: string;
  readonly body?: { readonly HostConfig: { readonly PortBindings: unknown } };
}

const PORTS = [
  { containerPort: 53, protocol: 'TCP' },
  { containerPort: 53, protocol: 'UDP' },
  { containerPort: 80, protocol: 'TCP' },
];

/** The allocated container ports of a deployment as `<ordinal> <port>/<protocol>`. */
const allocated = async (id: string) =>
  (await fleet.client.allocatedPort.findMany({ where: { deployment_id: id } }))
    .map(({ ordinal, container_port, protocol }) => `${ordinal} ${container_port}/${protocol}`)
    .sort();

const hostPorts = async (id: string) =>
  (await fleet.client.allocatedPort.findMany({ where: { deployment_id: id, ordinal: 0 } }))
    .map(({ host_port }) => host_port)
    .sort();

/** Leaves this number of TCP ports of a host free. */
async function leaveFree(hostId: string, free: number) {
  const { id } = await fleet.deployed({ desired_state: 'stopped', target: { host_id: hostId } });
  await fleet.client.$executeRaw`
    INSERT INTO allocated_ports (host_id, protocol, host_port, deployment_id, ordinal, container_port)
    SELECT ${hostId}::uuid, 'TCP', port, ${id}::uuid, 0, port FROM generate_series(${20_000 + free}::int, 29999) port`;
}

test('a deployment that needs more host ports than are free is refused by its plan as well', async () => {
  const host = await fleet.aHost();
  await leaveFree(host.id, 3);
  const { id } = await fleet.aWorkload({ ports: PORTS });
  expect(await refused({ workload_id: id, replicas: 2 }, 'no_placement')).toEqual([
    fieldError('target', '4 more host ports', '3 free'),
  ]);
  expect((await fleet.deploy({ workload_id: id })).status).toBe(201);
});

test('a change that needs more host ports than are free is refused by its plan as well', async () => {
  const host = await fleet.aHost();
  await leaveFree(host.id, 4);
  const { id } = await fleet.deployed({ workload: { ports: PORTS } });
  const plan = await fleet.plan({ deployment_id: id, replicas: 3 });
  const answer = await fleet.change(id, { replicas: 3 });
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code: 'no_placement' });
  expect(plan.body).toMatchObject({ ok: false, refusals: [{ code: 'no_placement' }] });
  expect(reasonsOf(plan)).toEqual([fieldError('target', '4 more host ports', '2 free')]);
  expect(reasonsOf(answer)).toEqual(reasonsOf(plan));
});

test('a change of replicas allocates the added ports and releases the removed ones', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed({ workload: { ports: PORTS } });
  const first = await hostPorts(id);
  await fleet.ask(id, 'scale', { replicas: 2 });
  expect(await allocated(id)).toEqual(
    [0, 1].flatMap((ordinal) => ['53/TCP', '53/UDP', '80/TCP'].map((port) => `${ordinal} ${port}`)),
  );
  await fleet.ask(id, 'scale', { replicas: 1 });
  expect(await hostPorts(id)).toEqual(first);
});

test('a change of the declared ports allocates the added ones, and keeps the removed ones until the old instances have ended', async () => {
  await fleet.aHost();
  const updates = { order: 'stop_first' };
  const { id, workload_id } = await fleet.deployed({ workload: { ports: PORTS.slice(0, 1) }, updates });
  for (const ports of [PORTS, PORTS.slice(0, 2), []]) {
    const { body } = await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { ports });
    expect((await fleet.change(id, { revision: body.workload.revision })).status).toBe(200);
    expect(await allocated(id)).toEqual(PORTS.map(({ containerPort, protocol }) => `0 ${containerPort}/${protocol}`));
  }
});

test('the manifest and the plan of a deployment show the host ports of each replica', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed({ workload: { ports: PORTS }, replicas: 2 });
  const bindings = (manifest: readonly ManifestObject[]) =>
    manifest.filter(({ kind }) => kind === 'Container').map(({ body }) => body?.HostConfig.PortBindings);
  const stored = async (replicas: number) => {
    const ports = await fleet.client.allocatedPort.findMany({ where: { deployment_id: id } });
    return Array.from({ length: replicas }, (_, ordinal) =>
      Object.fromEntries(
        ports
          .filter((port) => port.ordinal === ordinal)
          .map((port) => [
            `${port.container_port}/${port.protocol.toLowerCase()}`,
            [{ HostIp: '127.0.0.1', HostPort: String(port.host_port) }],
          ]),
      ),
    );
  };
  expect(bindings(await fleet.manifest(id))).toEqual(await stored(2));
  const { body: plan } = await fleet.plan({ deployment_id: id, replicas: 3 });
  await fleet.ask(id, 'scale', { replicas: 3 });
  expect(bindings(plan.manifest)).toEqual(await stored(3));
  expect(await fleet.manifest(id)).toEqual(plan.manifest);
});
