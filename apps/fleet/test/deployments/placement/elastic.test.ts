// The limits of elastic clusters in the API, and deployments that need new nodes.
import { reasonsOf, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();

const LIMITS = {
  max_nodes: 2,
  per_replica: { cpu: '8', memory: '32Gi', gpu_count: 1 },
  gpus: [{ model: 'NVIDIA-L4', vram: '24Gi', count: 1 }],
};

/** A cluster without nodes, which can add two of them. */
const anEmptyCluster = async () => {
  const cluster = await fleet.aCluster({ cpus: 0, gib: 0 });
  const path = `/api/v1/clusters/${cluster.id}`;
  expect((await fleet.admin.put(path, { elastic: LIMITS })).body.cluster.elastic).toEqual(LIMITS);
  return { ...cluster, path, target: { cluster_id: cluster.id } };
};

const GPU = { cpu_request: '4', memory_request: '16Gi', gpu_count: 1, vram_request: '24Gi' };

test('a deployment is placed on a node that the cluster must add, and the plan says so', async () => {
  const { target } = await anEmptyCluster();
  const { id: workload_id } = await fleet.aWorkload(GPU);
  const { body: plan } = await fleet.plan({ workload_id });
  expect(plan).toMatchObject({ ok: true, placement: { target: { ...target, host_id: null } } });
  expect(plan.placement.candidates[0].reasons[0]).toMatch(/^needs a new node: /);
  const { status, body } = await fleet.deploy({ workload_id });
  expect({ status, target: body.deployment.target }).toEqual({ status: 201, target: { ...target, host_id: null } });
  const second = await fleet.deploy({ workload_id });
  expect({ status: second.status, reasons: reasonsOf(second) }).toMatchObject({
    status: 422,
    reasons: [{ message: expect.stringContaining('and the limits of the elastic cluster permit 0') }],
  });
});

test('a target with present capacity is preferred to a new node', async () => {
  await anEmptyCluster();
  const host = await fleet.aHost({ gpuCount: 1 });
  const { id: workload_id } = await fleet.aWorkload(GPU);
  const { body: plan } = await fleet.plan({ workload_id });
  expect(plan.placement.target).toEqual({ host_id: host.id, cluster_id: null });
});

test('concurrent creations do not exceed the limits', async () => {
  const { target } = await anEmptyCluster();
  const { id: workload_id } = await fleet.aWorkload({ cpu_request: '8' });
  const answers = await Promise.all([1, 2, 3, 4].map(() => fleet.deploy({ workload_id, target })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 422, 422]);
});

test('only an admin changes the limits; an operator can send a cluster back as it was read', async () => {
  const { path } = await anEmptyCluster();
  for (const elastic of [null, { ...LIMITS, max_nodes: 100 }]) {
    expect(await fleet.operator.put(path, { elastic })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope', detail: 'Only an admin can set elastic of a cluster.' },
    });
  }
  const { cluster } = (await fleet.operator.get(path)).body;
  const { server: _, ...members } = cluster;
  expect((await fleet.operator.put(path, { ...members, network_types: ['mesh'] })).body.cluster).toMatchObject({
    elastic: LIMITS,
    network_types: ['mesh'],
  });
  const registration = {
    name: 'of-an-operator',
    server: 'https://cluster.example.test:6443',
    auth: { kind: 'token', token: 'of-a-service-account' },
  };
  expect((await fleet.operator.post('/api/v1/clusters', { ...registration, elastic: LIMITS })).status).toBe(403);
  expect((await fleet.admin.put(path, { elastic: null })).body.cluster.elastic).toBeNull();
});

test.each([
  ['without a node', { ...LIMITS, max_nodes: 0 }, 'elastic.max_nodes'],
  [
    'with an empty amount',
    { ...LIMITS, per_replica: { cpu: '', memory: '1Gi', gpu_count: 0 } },
    'elastic.per_replica.cpu',
  ],
  ['with a model twice', { ...LIMITS, gpus: [...LIMITS.gpus, ...LIMITS.gpus] }, 'elastic.gpus'],
])('limits %s are rejected', async (_, elastic, path) => {
  const { id } = await fleet.aCluster();
  const { status, body } = await fleet.admin.put(`/api/v1/clusters/${id}`, { elastic });
  expect({ status, path: body.errors?.[0]?.path }).toEqual({ status: 400, path });
});
