// What a rollout with an extra instance has on its host, as the plan says beforehand.
import { type Body, GIB, reasonsOf, startDeploymentWorld } from '../world.ts';
import { observed, passesOf } from './passes.ts';

const fleet = await startDeploymentWorld();
const { client } = fleet;
const { pass } = passesOf(fleet);

const PORTS = [{ containerPort: 80 }];
const workload = { env_schema: [{ name: 'MODE' }], ports: PORTS, cpu_request: '1', memory_request: '1Gi' };
const change = { env: { MODE: 'new' } };
const updates = { ready_seconds: 0 };

const planned = async (id: string, body: Body = change) => (await fleet.plan({ deployment_id: id, ...body })).body;

/** What is allocated to a deployment. */
async function allocated(id: string) {
  const row = await client.deployment.findUniqueOrThrow({ where: { id }, include: { allocated_gpus: true } });
  const ports = await client.allocatedPort.findMany({ where: { deployment_id: id } });
  return {
    extra: row.extra_instances,
    cpus: Number(row.cpu_millis) / 1000,
    gib: Number(row.memory_bytes) / GIB,
    gpus: row.allocated_gpus.map(({ gpu_id, ordinal }) => `${ordinal} ${gpu_id}`).sort(),
    ports: ports.map(({ ordinal, container_port }) => `${ordinal} ${container_port}`).sort(),
  };
}

/** Passes in which all instances are current and ready. */
async function completed(id: string): Promise<void> {
  const { replicas } = await client.deployment.findUniqueOrThrow({ where: { id } });
  const [instance] = observed().instances;
  if (!instance) throw new Error('no instance');
  const instances = [...Array(replicas).keys()].map((ordinal) => ({ ...instance, name: `web-${ordinal}`, ordinal }));
  await pass(id, observed({ instances }));
  await pass(id, observed({ instances }));
  expect((await fleet.deployment(id)).rollout.state).toBe('succeeded');
}

test('a change has resources, ports and GPUs for one instance more until its rollout ends', async () => {
  await fleet.aHost({ gpuCount: 3 });
  const { id } = await fleet.deployed({ workload: { ...workload, gpu_count: 1 }, replicas: 2, updates });
  await completed(id);
  const before = { extra: 0, cpus: 2, gib: 2, gpus: ['0 gpu-0', '1 gpu-1'], ports: ['0 80', '1 80'] };
  expect(await allocated(id)).toEqual(before);
  expect((await planned(id)).rollout).toEqual({ extra_instances: 1, reason: '' });
  expect((await fleet.change(id, change)).status).toBe(200);
  expect(await allocated(id)).toEqual({
    extra: 1,
    cpus: 3,
    gib: 3,
    gpus: [...before.gpus, '2 gpu-2'],
    ports: [...before.ports, '2 80'],
  });
  expect((await fleet.deployment(id)).rollout).toMatchObject({ state: 'progressing', extra: true });
  await completed(id);
  expect(await allocated(id)).toEqual(before);
});

test('a change to other amounts has the larger ones until its rollout ends', async () => {
  await fleet.aHost();
  const { id, workload_id } = await fleet.deployed({ workload: { ...workload, cpu_request: '3' }, updates });
  await completed(id);
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { cpu_request: '1', memory_request: '5Gi' });
  expect((await fleet.change(id, { revision: 2 })).status).toBe(200);
  expect(await allocated(id)).toMatchObject({ extra: 1, cpus: 6, gib: 10 });
  await completed(id);
  expect(await allocated(id)).toMatchObject({ extra: 0, cpus: 1, gib: 5 });
});

test('the ports of the earlier revision stay allocated until the rollout ends', async () => {
  await fleet.aHost();
  const { id, workload_id } = await fleet.deployed({ workload, updates });
  await completed(id);
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { ports: [{ containerPort: 81 }] });
  expect((await fleet.change(id, { revision: 2 })).status).toBe(200);
  expect((await allocated(id)).ports).toEqual(['0 80', '0 81', '1 81']);
  await completed(id);
  expect((await allocated(id)).ports).toEqual(['0 81']);
});

test.each<[string, Body, Body, Body, string]>([
  ['the host has no CPUs left', { cpus: 1 }, {}, {}, 'Its host has no room for one instance more'],
  ['the host has no GPU left', { gpuCount: 1 }, { gpu_count: 1 }, {}, 'Its host has no room for one instance more'],
  [
    'the policy is to stop first',
    {},
    {},
    { order: 'stop_first' },
    'The deployment is configured to end the old instance first.',
  ],
  [
    'only one instance can write',
    {},
    { volume_mounts: [{ name: 'data', mountPath: '/data' }] },
    {},
    'Only one instance at a time can use the volume',
  ],
])('a change has no extra instance, and says why, if %s', async (_title, host, spec, policy, reason) => {
  await fleet.aHost(host);
  const { id } = await fleet.deployed({ workload: { ...workload, ...spec }, updates: { ...updates, ...policy } });
  const { rollout, outage, ok } = await planned(id);
  expect({ ok, rollout }).toEqual({
    ok: true,
    rollout: { extra_instances: 0, reason: expect.stringContaining(reason) },
  });
  expect(outage).toMatchObject({ expected: true, total: true, reason: expect.stringContaining(reason) });
  const before = await allocated(id);
  expect((await fleet.change(id, change)).status).toBe(200);
  expect(await allocated(id)).toEqual(before);
});

test('a change that must start the new instance first is refused where that is not possible', async () => {
  await fleet.aHost({ cpus: 1 });
  const { id } = await fleet.deployed({ workload, updates: { ...updates, order: 'start_first' } });
  const answer = await fleet.change(id, change);
  expect(answer.status).toBe(422);
  expect(reasonsOf(answer)).toEqual(reasonsOf(await fleet.plan({ deployment_id: id, ...change })));
  expect(reasonsOf(answer)).toEqual([
    {
      path: 'updates.order',
      message: expect.stringMatching(/^cannot start the new instance first: Its host has no room/),
    },
  ]);
  expect((await fleet.change(id, { ...change, updates: { order: 'auto' } })).status).toBe(200);
});

test('a change that replaces nothing, a job, and a deployment on a cluster have no extra instance', async () => {
  await fleet.aHost();
  const none = { extra_instances: 0, reason: '' };
  const { id } = await fleet.deployed({ workload });
  for (const body of [{ replicas: 2 }, { labels: { a: 'b' } }, { desired_state: 'stopped' }]) {
    expect((await planned(id, body)).rollout).toEqual(none);
  }
  const job = await fleet.deployed({ workload: { ...workload, kind: 'job' } });
  expect((await planned(job.id)).rollout).toEqual(none);
  const cluster = await fleet.aCluster();
  const onCluster = await fleet.deployed({ workload, target: { cluster_id: cluster.id } });
  expect((await planned(onCluster.id)).rollout).toEqual(none);
});

test('a change during a rollout keeps its extra instance, and a stop releases it', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed({ workload, updates });
  await completed(id);
  await fleet.change(id, change);
  await fleet.change(id, { env: { MODE: 'newer' } });
  expect(await allocated(id)).toMatchObject({ extra: 1, cpus: 2, ports: ['0 80', '1 80'] });
  await fleet.ask(id, 'stop');
  expect(await allocated(id)).toMatchObject({ extra: 0, cpus: 0 });
});
