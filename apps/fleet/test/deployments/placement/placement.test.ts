import { type Body, GIB, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();

interface Candidate {
  readonly name: string;
  readonly fits: boolean;
  readonly reasons: string[];
}

const plan = async (body: Body): Promise<{ ok: boolean; candidates: Record<string, Candidate>; target: unknown }> => {
  const { body: planned } = await fleet.plan(body);
  const { candidates, target } = planned.placement;
  return {
    ok: planned.ok,
    target,
    candidates: Object.fromEntries(candidates.map((candidate: Candidate) => [candidate.name, candidate])),
  };
};

test('the candidate with the tightest fit is chosen, and every other candidate has a reason', async () => {
  const tight = await fleet.aHost({ name: 'tight', cpus: 4, gib: 8 });
  await fleet.aHost({ name: 'wide', cpus: 64, gib: 256 });
  await fleet.aHost({ name: 'small', cpus: 1, gib: 8 });
  await fleet.aHost({ name: 'with-gpus', cpus: 4, gib: 8, gpuCount: 2 });
  await fleet.aCluster({ name: 'away', reachability: 'unreachable' });
  await fleet.aHost({ name: 'new', reachability: 'unknown', cpu_millis: null, memory_bytes: null });
  await fleet.aHost({ name: 'closed', schedulable: false });
  await fleet.aHost({ name: 'tainted', taints: [{ key: 'team', value: 'red', effect: 'NoSchedule' }] });
  const workload = await fleet.aWorkload({ cpu_request: '2', memory_request: '4Gi' });
  const planned = await plan({ workload_id: workload.id });
  expect(planned.target).toEqual({ host_id: tight.id, cluster_id: null });
  const expected = {
    tight: [true, /chosen before wide: it leaves less memory unused/],
    wide: [true, /tight is chosen/],
    small: [false, /needs 2 CPUs/],
    'with-gpus': [true, /tight is chosen: it has no GPUs/],
    away: [false, /is unreachable/],
    new: [false, /not been (checked|reached) yet/],
    closed: [false, /does not accept new deployments/],
    tainted: [false, /taint team=red:NoSchedule is not tolerated/],
  } as const;
  expect(Object.keys(planned.candidates).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, [fits, why]] of Object.entries(expected)) {
    expect({ name, fits: planned.candidates[name]?.fits }).toEqual({ name, fits });
    expect(planned.candidates[name]?.reasons.join(' ')).toMatch(why);
  }
  expect((await fleet.deployed({ workload_id: workload.id })).target.host_id).toBe(tight.id);
});

test.each([
  { what: 'x86_64', host: { arch: 'x86_64' }, fits: true },
  { what: 'amd64', host: { arch: 'amd64' }, fits: true },
  { what: 'aarch64', host: { arch: 'aarch64' }, fits: false },
  { what: 'unknown', host: { arch: null }, fits: false },
  {
    what: 'aarch64 and that declares amd64',
    host: { arch: 'aarch64', labels: { 'kubernetes.io/arch': 'amd64' } },
    fits: true,
  },
])('a node selector for amd64 compares the observed architecture: a host with $what', async ({ host, fits }) => {
  await fleet.aHost({ name: 'machine', ...host });
  const { id: workload_id } = await fleet.aWorkload({ node_selector: { 'kubernetes.io/arch': 'amd64' } });
  const { candidates } = await plan({ workload_id });
  expect(candidates.machine).toMatchObject({ fits });
  expect((await fleet.deploy({ workload_id })).status).toBe(fits ? 201 : 422);
});

test.each([
  { what: 'unreachable', host: { reachability: 'unreachable' as const } },
  { what: 'never checked', host: { reachability: 'unknown' as const } },
  { what: 'unschedulable', host: { schedulable: false } },
  { what: 'without capacity', host: { cpu_millis: null } },
])('a host that is $what is not chosen, also if it is requested', async ({ host }) => {
  const { id: host_id } = await fleet.aHost(host);
  const { id: workload_id } = await fleet.aWorkload();
  for (const target of [null, { host_id }]) {
    const { status, body } = await fleet.deploy({ workload_id, target });
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'no_placement' });
  }
  expect((await fleet.host(host_id)).allocated).toEqual({ cpu: '0', memory: '0', gpu_count: 0 });
});

test('a deployment on an unreachable host can be stopped and deleted, and cannot be started', async () => {
  const host = await fleet.aHost({ gpuCount: 1 });
  const { id } = await fleet.deployed({ workload: { gpu_count: 1 } });
  await fleet.client.host.update({ where: { id: host.id }, data: { reachability: 'unreachable' } });
  expect((await fleet.ask(id, 'stop')).status).toBe(200);
  expect((await fleet.ask(id, 'start')).body.code).toBe('no_placement');
  expect((await fleet.remove(id)).status).toBe(200);
});

test.each([
  { what: 'unreachable', host: { reachability: 'unreachable' as const } },
  { what: 'unschedulable', host: { schedulable: false } },
])('a deployment on a host that is $what can be changed if it needs no more resources', async ({ host }) => {
  const { id: host_id } = await fleet.aHost({ gpuCount: 4 });
  const { id } = await fleet.deployed({ workload: { gpu_count: 1, env_schema: [{ name: 'NAME' }] }, replicas: 3 });
  await fleet.client.host.update({ where: { id: host_id }, data: host });
  expect((await fleet.change(id, { env: { NAME: 'new' } })).status).toBe(200);
  expect((await fleet.ask(id, 'restart')).status).toBe(200);
  expect((await fleet.ask(id, 'scale', { replicas: 2 })).status).toBe(200);
  expect((await fleet.host(host_id)).allocated.gpu_count).toBe(2);
  expect((await fleet.ask(id, 'scale', { replicas: 4 })).body.code).toBe('no_placement');
});

test('a replica keeps its GPU if another GPU becomes available', async () => {
  await fleet.aHost({ gpuCount: 4 });
  const workload = await fleet.aWorkload({ gpu_count: 1 });
  const first = await fleet.deployed({ workload_id: workload.id });
  const { id } = await fleet.deployed({ workload_id: workload.id });
  const ofReplica = async (ordinal: number) =>
    (await fleet.client.allocatedGpu.findFirstOrThrow({ where: { deployment_id: id, ordinal } })).gpu_id;
  const before = await ofReplica(0);
  await fleet.remove(first.id);
  await fleet.ask(id, 'scale', { replicas: 2 });
  expect(await ofReplica(0)).toBe(before);
  expect(await ofReplica(1)).not.toBe(before);
});

describe('the allocation of resources', () => {
  const workload = { cpu_request: '1500m', memory_request: '512Mi', gpu_count: 2 };
  const amounts = (replicas: number) => ({
    cpu: replicas % 2 === 0 ? `${replicas * 1.5}` : `${replicas * 1500}m`,
    memory: replicas === 0 ? '0' : replicas % 2 === 0 ? `${replicas / 2}Gi` : `${replicas * 512}Mi`,
    gpu_count: replicas * 2,
  });

  test.each(['host', 'cluster'] as const)('on a %s is exact after each operation', async (kind) => {
    const { id } = kind === 'host' ? await fleet.aHost({ gpuCount: 8 }) : await fleet.aCluster({ gpu_count: 8 });
    const allocated = async () => (await fleet[kind](id)).allocated;
    const before = await fleet.deployed({ workload, replicas: 1 });
    expect(await allocated()).toEqual(amounts(1));
    const { id: deployment } = await fleet.deployed({ workload, replicas: 2 });
    expect(await allocated()).toEqual(amounts(3));
    await fleet.ask(deployment, 'scale', { replicas: 3 });
    expect(await allocated()).toEqual(amounts(4));
    expect((await fleet.ask(deployment, 'scale', { replicas: 4 })).status).toBe(422);
    expect(await allocated()).toEqual(amounts(4));
    await fleet.ask(deployment, 'stop');
    expect(await allocated()).toEqual(amounts(1));
    await fleet.ask(deployment, 'scale', { replicas: 2 });
    expect(await allocated()).toEqual(amounts(1));
    await fleet.ask(deployment, 'start');
    expect(await allocated()).toEqual(amounts(3));
    await fleet.remove(deployment);
    expect(await allocated()).toEqual(amounts(1));
    await fleet.remove(before.id);
    expect(await allocated()).toEqual(amounts(0));
    expect(await fleet.client.allocatedGpu.count()).toBe(0);
  });

  test('of a stopped deployment is released, and the deployment cannot start while others use the resources', async () => {
    await fleet.aHost({ gpuCount: 2 });
    const first = await fleet.deployed({ workload });
    await fleet.ask(first.id, 'stop');
    const second = await fleet.deployed({ workload });
    expect((await fleet.ask(first.id, 'start')).body.code).toBe('no_placement');
    await fleet.remove(second.id);
    expect((await fleet.ask(first.id, 'start')).status).toBe(200);
  });

  test('succeeds on a host with exactly enough resources, and not with one thousandth of a CPU or one byte less', async () => {
    const { id: workload_id } = await fleet.aWorkload({ cpu_request: '2', memory_request: '1Gi' });
    const exact = await fleet.aHost({ cpus: 2, gib: 1 });
    const ok = async () => (await fleet.plan({ workload_id })).body.ok;
    expect(await ok()).toBe(true);
    await fleet.client.host.update({ where: { id: exact.id }, data: { cpu_millis: 1999 } });
    expect(await ok()).toBe(false);
    await fleet.client.host.update({ where: { id: exact.id }, data: { cpu_millis: 2000, memory_bytes: GIB - 1 } });
    expect(await ok()).toBe(false);
  });

  test('assigns each replica its own GPUs with the requested memory', async () => {
    const vram = (id: string, size: string) => ({ id, model: 'any', vram: size });
    const host = await fleet.aHost({
      gpus: [vram('small', '8Gi'), vram('a', '24Gi'), vram('b', '24Gi'), vram('c', '48Gi'), vram('unsaid', '')],
    });
    const requestBody = { workload: { gpu_count: 1, vram_request: '20Gi' }, replicas: 3 };
    const { id } = await fleet.deployed(requestBody);
    const given = await fleet.client.allocatedGpu.findMany({
      where: { deployment_id: id },
      orderBy: { ordinal: 'asc' },
    });
    expect(given.map(({ gpu_id }) => gpu_id).sort()).toEqual(['a', 'b', 'c']);
    expect(given.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
    const containers = (await fleet.manifest(id)).filter(({ kind }: { kind: string }) => kind === 'Container');
    for (const [ordinal, { body }] of containers.entries()) {
      expect(body.HostConfig.DeviceRequests[0].DeviceIDs).toEqual([given[ordinal]?.gpu_id]);
    }
    expect((await fleet.host(host.id)).allocated.gpu_count).toBe(3);
    expect((await fleet.ask(id, 'scale', { replicas: 4 })).body.code).toBe('no_placement');
  });
});
