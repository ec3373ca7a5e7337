// Each reason against a candidate names fields whose change makes the plan succeed.
import { type Obstacle, obstacleCodes, type Remedy } from '@svc/contract/fleet';
import { anEngine, endAll, serve } from '../../engines/servers.ts';
import { type Body, GIB, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();
const { client, admin } = fleet;
afterEach(endAll);
afterAll(() => fleet.world.services.engineRuntime.stop());

type Target = { readonly host_id: string } | { readonly cluster_id: string };

/** A request that its target does not fit, and what an operator does outside the fleet. */
interface Situation {
  readonly target: Target;
  readonly workload?: Body;
  readonly request?: Body;
  /** The result of the next check of a cluster, which has no engine in this test. */
  readonly checked?: () => Promise<unknown>;
}

interface Case {
  readonly code: Obstacle['code'];
  readonly what: string;
  readonly make: () => Promise<Situation>;
  readonly remedies: readonly Remedy[];
}

const on = {
  target: (field: string, ...values: string[]) => ({ object: 'target', field, values }) as Remedy,
  request: (field: string, ...values: string[]) => ({ object: 'request', field, values }) as Remedy,
  workload: (field: string, ...values: string[]) => ({ object: 'workload', field, values }) as Remedy,
  deployments: { object: 'deployments', field: 'desired_state', values: [] } as Remedy,
};

const aHost = async (given: Parameters<typeof fleet.aHost>[0] = {}) => ({ host_id: (await fleet.aHost(given)).id });
const aCluster = async (given: Parameters<typeof fleet.aCluster>[0] = {}) => ({
  cluster_id: (await fleet.aCluster(given)).id,
});

/** A cluster with one node of 4 CPUs, 8 GiB and 1 GPU. */
async function withNode(node: Body = {}) {
  const target = await aCluster({ gpu_count: 4 });
  const all = {
    id: crypto.randomUUID(),
    ...target,
    name: 'node',
    labels: {},
    taints: [],
    schedulable: true,
    ready: true,
    version: 'v1.34.0',
    arch: 'amd64',
    cpu_millis: 4000n,
    memory_bytes: BigInt(8 * GIB),
    gpu_count: 1,
    ...node,
  };
  await client.node.create({ data: all });
  return target;
}

/** A cluster without nodes that can add two with 4 CPUs, 8 GiB and 1 GPU. */
const elastic = () => aCluster({ cpus: 0, gib: 0, elastic: limits('24Gi') });
const limits = (vram: string) => ({
  max_nodes: 2,
  per_replica: { cpu: '4', memory: '8Gi', gpu_count: 1 },
  gpus: [{ model: 'any', vram, count: 2 }],
});

/** An engine that responds to checks. */
const anAnsweringEngine = () =>
  serve(
    anEngine((req, res) => {
      const info = { NCPU: 4, MemTotal: 8 * GIB };
      const version = { Version: '28.0.0', Arch: 'x86_64' };
      const answer = req.url?.endsWith('/info') ? info : req.url?.endsWith('/version') ? version : [];
      res.end(JSON.stringify(answer));
    }),
  );

/** A deployment that holds most of its target. */
const others = (target: Target, workload: Body) => fleet.deployed({ workload, target });

const aData = { volume_mounts: [{ name: 'data', mountPath: '/data' }] };

/** A deployment that needs the address of one that runs on another target. */
const needsAddress = async (provider: Target) => {
  const workload = { ports: [{ containerPort: 5432 }] };
  await fleet.deployed({ name: 'database', workload, target: provider });
  return {
    workload: { env_schema: [{ name: 'ADDRESS' }] },
    request: { env: { ADDRESS: { deployment: 'database', port: 5432 } } },
  };
};

const autoscaled = (min_replicas: number, max_replicas: number) => ({
  autoscaling: { min_replicas, max_replicas, cpu_percent: 80 },
});

const cases: readonly Case[] = [
  {
    code: 'same_engine',
    what: 'a second registration of an engine',
    make: async () => {
      await fleet.aHost({ name: 'first', identity: 'the-same' });
      return { target: await aHost({ identity: 'the-same' }) };
    },
    remedies: [on.request('target', 'first')],
  },
  {
    code: 'not_checked',
    what: 'a new host',
    make: async () => ({ target: await aHost({ reachability: 'unknown', endpoint: await anAnsweringEngine() }) }),
    remedies: [on.target('check')],
  },
  {
    code: 'unreachable',
    what: 'a host with a wrong address',
    make: async () => ({ target: await aHost({ reachability: 'unreachable' }) }),
    remedies: [on.target('endpoint')],
  },
  {
    code: 'unreachable',
    what: 'a cluster with a wrong address',
    make: async () => {
      const target = await aCluster({ reachability: 'unreachable' });
      const checked = () =>
        client.cluster.update({ where: { id: target.cluster_id }, data: { reachability: 'online' } });
      return { target, checked };
    },
    remedies: [on.target('server')],
  },
  {
    code: 'capacity_unknown',
    what: 'a host whose capacity was not read',
    make: async () => ({ target: await aHost({ cpu_millis: null, endpoint: await anAnsweringEngine() }) }),
    remedies: [on.target('check')],
  },
  {
    code: 'network_type_missing',
    what: 'a host',
    make: async () => ({
      target: await aHost({ network_types: ['lab'] }),
      workload: { required_network_types: ['lab', 'mesh', 'public'] },
    }),
    remedies: [on.target('network_types', 'mesh', 'public')],
  },
  {
    code: 'network_type_missing',
    what: 'a cluster',
    make: async () => ({ target: await aCluster(), workload: { required_network_types: ['mesh'] } }),
    remedies: [on.target('network_types', 'mesh')],
  },
  {
    code: 'cpu_insufficient',
    what: 'fewer replicas fit',
    make: async () => ({
      target: await aHost({ cpus: 4 }),
      workload: { cpu_request: '1500m' },
      request: { replicas: 3 },
    }),
    remedies: [on.request('replicas', '2')],
  },
  {
    code: 'cpu_insufficient',
    what: 'other deployments hold it',
    make: async () => {
      const target = await aHost({ cpus: 4 });
      await others(target, { cpu_request: '3' });
      return { target, workload: { cpu_request: '2' } };
    },
    remedies: [on.deployments],
  },
  {
    code: 'cpu_insufficient',
    what: 'other deployments hold it, and there are too many replicas',
    make: async () => {
      const target = await aHost({ cpus: 4 });
      await others(target, { cpu_request: '3' });
      return { target, workload: { cpu_request: '2' }, request: { replicas: 3 } };
    },
    remedies: [on.request('replicas', '2'), on.deployments],
  },
  {
    code: 'cpu_insufficient',
    what: 'one replica is too large',
    make: async () => ({ target: await aHost({ cpus: 4 }), workload: { cpu_request: '5' } }),
    remedies: [on.workload('cpu_request')],
  },
  {
    code: 'memory_insufficient',
    what: 'one replica is too large',
    make: async () => ({ target: await aCluster({ gib: 8 }), workload: { memory_request: '16Gi' } }),
    remedies: [on.workload('memory_request')],
  },
  {
    code: 'gpu_insufficient',
    what: 'a host without GPUs',
    make: async () => ({ target: await aHost(), workload: { gpu_count: 1 }, request: { replicas: 2 } }),
    remedies: [on.target('gpus', '2')],
  },
  {
    code: 'gpu_insufficient',
    what: 'a host whose GPUs are in use',
    make: async () => {
      const target = await aHost({ gpuCount: 1 });
      await others(target, { gpu_count: 1 });
      return { target, workload: { gpu_count: 1, vram_request: '8Gi' } };
    },
    remedies: [on.deployments],
  },
  {
    code: 'gpu_insufficient',
    what: 'a cluster with another name of the resource',
    make: async () => {
      const target = await aCluster();
      const checked = () => client.cluster.update({ where: { id: target.cluster_id }, data: { gpu_count: 1 } });
      return { target, workload: { gpu_count: 1 }, checked };
    },
    remedies: [on.target('gpu_resource_name')],
  },
  {
    code: 'gpu_insufficient',
    what: 'a cluster with fewer GPUs',
    make: async () => ({ target: await aCluster({ gpu_count: 1 }), workload: { gpu_count: 2 } }),
    remedies: [on.workload('gpu_count')],
  },
  {
    code: 'token_not_allowed',
    what: 'a cluster whose admin has not allowed it',
    make: async () => ({ target: await aCluster(), workload: { service_account_token: true } }),
    remedies: [on.target('allow_service_account_tokens')],
  },
  {
    code: 'token_not_allowed',
    what: 'a host',
    make: async () => ({ target: await aHost(), workload: { service_account_token: true } }),
    remedies: [on.workload('service_account_token')],
  },
  {
    code: 'engine_too_old',
    what: 'an engine without support for GPUs',
    make: async () => ({
      target: await aHost({ gpuCount: 1, engine_version: '18.09.1', endpoint: await anAnsweringEngine() }),
      workload: { gpu_count: 1 },
    }),
    remedies: [on.target('check')],
  },
  {
    code: 'scheduling_disabled',
    what: 'a host',
    make: async () => ({ target: await aHost({ schedulable: false }) }),
    remedies: [on.target('schedulable')],
  },
  {
    code: 'label_missing',
    what: 'a host',
    make: async () => ({
      target: await aHost({ labels: { zone: 'us' } }),
      workload: { node_selector: { zone: 'eu' } },
    }),
    remedies: [on.target('labels', 'zone=eu')],
  },
  {
    code: 'taint_not_tolerated',
    what: 'a host',
    make: async () => ({ target: await aHost({ taints: [{ key: 'team', value: 'red', effect: 'NoSchedule' }] }) }),
    remedies: [on.target('taints', 'team=red:NoSchedule')],
  },
  {
    code: 'no_suitable_node',
    what: 'a node that is not schedulable',
    make: async () => {
      const target = await withNode({ schedulable: false });
      return { target, checked: () => client.node.updateMany({ data: { schedulable: true } }) };
    },
    remedies: [on.target('check')],
  },
  {
    code: 'no_suitable_node',
    what: 'a node that is too small and does not match',
    make: async () => ({
      target: await withNode({
        labels: { 'nvidia.com/gpu.memory': '8192' },
        taints: [{ key: 'team', value: 'red', effect: 'NoSchedule' }],
      }),
      workload: {
        cpu_request: '5',
        memory_request: '9Gi',
        gpu_count: 2,
        vram_request: '16Gi',
        node_selector: { zone: 'eu' },
      },
    }),
    remedies: [
      on.workload('cpu_request'),
      on.workload('memory_request'),
      on.workload('gpu_count'),
      on.workload('vram_request'),
      on.workload('node_selector', 'zone=eu'),
      on.workload('tolerations', 'team=red:NoSchedule'),
    ],
  },
  {
    code: 'cpu_insufficient',
    what: 'fewer replicas of an autoscaler fit',
    make: async () => ({
      target: await aCluster({ cpus: 4 }),
      workload: { cpu_request: '1500m' },
      request: autoscaled(1, 3),
    }),
    remedies: [on.request('autoscaling', '2')],
  },
  {
    code: 'scaled_in_cluster',
    what: 'a host without autoscalers',
    make: async () => ({ target: await aHost(), workload: { cpu_request: '1' }, request: autoscaled(1, 3) }),
    remedies: [on.request('autoscaling')],
  },
  {
    code: 'scaled_in_cluster',
    what: 'a host, where only the fleet scales',
    make: async () => ({ target: await aHost(), request: { scaled_by: 'cluster' } }),
    remedies: [on.request('scaled_by')],
  },
  {
    code: 'permission_missing',
    what: 'a cluster whose role does not permit autoscalers',
    make: async () => {
      const target = await aCluster({ missing_permissions: ['create horizontalpodautoscalers'] });
      const checked = () =>
        client.cluster.update({ where: { id: target.cluster_id }, data: { missing_permissions: [] } });
      return { target, workload: { cpu_request: '1' }, request: autoscaled(1, 3), checked };
    },
    remedies: [on.target('check')],
  },
  {
    code: 'nodes_too_small',
    what: 'a node for two of three replicas',
    make: async () => ({ target: await withNode(), workload: { cpu_request: '2' }, request: { replicas: 3 } }),
    remedies: [on.request('replicas', '2')],
  },
  {
    code: 'elastic_limit',
    what: 'a replica that is larger than a new node',
    make: async () => ({
      target: await elastic(),
      workload: { cpu_request: '5', memory_request: '9Gi', gpu_count: 2 },
    }),
    remedies: [on.workload('cpu_request')],
  },
  {
    code: 'elastic_limit',
    what: 'two of three replicas fit',
    make: async () => ({ target: await elastic(), workload: { cpu_request: '4' }, request: { replicas: 3 } }),
    remedies: [on.request('replicas', '2')],
  },
  {
    code: 'elastic_limit',
    what: 'other deployments hold the new nodes',
    make: async () => {
      const target = await elastic();
      await fleet.deployed({ workload: { cpu_request: '4' }, replicas: 2, target });
      return { target, workload: { cpu_request: '4' } };
    },
    remedies: [on.deployments],
  },
  {
    code: 'elastic_limit',
    what: 'no model of GPUs is suitable',
    make: async () => ({ target: await elastic(), workload: { gpu_count: 1, vram_request: '48Gi' } }),
    remedies: [on.target('elastic', 'gpus')],
  },
  {
    code: 'volume_bound_elsewhere',
    what: 'a volume of another host',
    make: async () => {
      const { id } = await fleet.aVolume({ target: await aHost() });
      return { target: await aHost(), workload: aData, request: { volumes: { data: { storage_id: id } } } };
    },
    remedies: [on.request('volumes', 'data')],
  },
  {
    code: 'volume_in_use',
    what: 'a volume of another deployment',
    make: async () => {
      const target = await aHost();
      const { volumes } = await fleet.deployed({ workload: aData, target });
      const { storage_id } = volumes.data;
      return { target, workload: aData, request: { volumes: { data: { storage_id } } } };
    },
    remedies: [on.request('volumes', 'data')],
  },
  {
    code: 'address_not_reached',
    what: 'a host without the network of an address',
    make: async () => {
      const needed = await needsAddress(await aHost({ network_types: ['mesh'], addresses: { mesh: '10.1.2.3' } }));
      return { target: await aHost(), ...needed };
    },
    remedies: [on.target('network_types', 'mesh')],
  },
  {
    code: 'address_not_reached',
    what: 'an address inside a cluster',
    make: async () => {
      const needed = await needsAddress(await aCluster({ name: 'with-database' }));
      return { target: await aHost(), ...needed };
    },
    remedies: [on.request('target', 'with-database')],
  },
];

test('each reason has a case', () => {
  // A request with an unknown target is rejected before it is placed.
  const expected = obstacleCodes.filter((code) => code !== 'unknown_target');
  expect(new Set(cases.map(({ code }) => code))).toEqual(new Set(expected));
});

const workloadValues: Readonly<Record<string, unknown>> = {
  cpu_request: '1',
  memory_request: '1Gi',
  gpu_count: 1,
  vram_request: '1Gi',
  node_selector: {},
  tolerations: [{ operator: 'Exists' }],
  service_account_token: false,
};

async function targetNamed(name: string): Promise<Target> {
  const host = await client.host.findFirst({ where: { name } });
  return host ? { host_id: host.id } : { cluster_id: (await client.cluster.findFirstOrThrow({ where: { name } })).id };
}

/** Changes the field that a remedy names. @returns the members of the request that change */
async function applied({ object, field, values }: Remedy, situation: Situation, workloadId: string): Promise<Body> {
  const { target, checked } = situation;
  const path = 'host_id' in target ? `/api/v1/hosts/${target.host_id}` : `/api/v1/clusters/${target.cluster_id}`;
  const changed = async (to: string, body: Body) => {
    const { status, text } = await admin.put(to, body);
    expect({ status, text }).toMatchObject({ status: 200 });
    await checked?.();
    return {};
  };
  const check = async () => {
    if (checked) await checked();
    else expect((await admin.post(`${path}/check`)).body.host).toMatchObject({ reachability: 'online' });
    return {};
  };
  if (object === 'workload') return changed(`/api/v1/workloads/${workloadId}`, { [field]: workloadValues[field] });
  if (object === 'deployments') {
    const { body } = await admin.get('/api/v1/deployments');
    for (const { id } of body.deployments) await fleet.ask(id, 'stop');
    return {};
  }
  switch (field) {
    case 'replicas':
      return { replicas: Number(values[0]) };
    case 'autoscaling':
      return values[0] === undefined ? { autoscaling: null } : autoscaled(1, Number(values[0]));
    case 'scaled_by':
      return { scaled_by: 'fleet' };
    case 'volumes':
      return { volumes: {} };
    case 'target':
      return { target: await targetNamed(values[0] ?? '') };
    case 'check':
      return check();
    case 'endpoint':
      await changed(path, { endpoint: await anAnsweringEngine() });
      return check();
    case 'network_types':
      return changed(path, { network_types: ['lab', ...values] });
    case 'labels':
      return changed(path, { labels: Object.fromEntries(values.map((label) => label.split('='))) });
    case 'gpus':
      return changed(path, { gpus: Array.from({ length: Number(values[0]) }, (_, id) => ({ id: String(id) })) });
    default: {
      const bodies: Readonly<Record<string, Body>> = {
        taints: { taints: [] },
        schedulable: { schedulable: true },
        gpu_resource_name: { gpu_resource_name: 'amd.com/gpu' },
        allow_service_account_tokens: { allow_service_account_tokens: true },
        elastic: { elastic: limits('80Gi') },
        server: {
          server: 'https://other.example.test',
          auth: { kind: 'token', token: 'of-a-service-account' },
        },
      };
      return changed(path, bodies[field] ?? {});
    }
  }
}

test.each(cases)('$code ($what) has remedies that make the plan succeed', async ({ code, make, remedies }) => {
  const situation = await make();
  const { id: workload_id } = await fleet.aWorkload({ cpu_request: '', ...situation.workload });
  const request = { workload_id, target: situation.target, ...situation.request };
  const { body: before } = await fleet.plan(request);
  expect(before.ok).toBe(false);
  const [candidate] = before.placement.candidates;
  expect(candidate.reasons).toEqual(candidate.obstacles.map(({ message }: Obstacle) => message));
  expect(candidate.obstacles.find((obstacle: Obstacle) => obstacle.code === code)).toMatchObject({ remedies });
  let changed = {};
  for (const obstacle of candidate.obstacles) {
    for (const remedy of obstacle.remedies) {
      changed = { ...changed, ...(await applied(remedy, situation, workload_id)) };
    }
  }
  const { body: after } = await fleet.plan({ ...request, ...changed });
  expect({ ok: after.ok, refusals: after.refusals }).toEqual({ ok: true, refusals: [] });
  expect(after.placement.candidates[0]).toMatchObject({ fits: true, obstacles: [] });
});
