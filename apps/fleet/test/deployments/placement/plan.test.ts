import { eventually } from '@svc/testing';
import { holding } from '@svc/testing/faults';
import { aTemplate } from '../../a-template.ts';
import { startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();

const workload = {
  env_schema: [{ name: 'NAME' }, { name: 'CITY' }],
  ports: [{ containerPort: 80 }],
  volume_mounts: [{ name: 'data', mountPath: '/data' }],
};

/** A workload that can have several replicas. */
const scalable = { ...workload, volume_mounts: [] };

interface Change {
  readonly action: string;
  readonly object: string;
  readonly paths: string[];
}

/** The changes that the plan of a change of a deployment contains. */
async function changesOf(id: string, body: object): Promise<Change[]> {
  const answer = await fleet.plan({ deployment_id: id, ...body });
  expect({ status: answer.status, refusals: answer.body.refusals }).toEqual({ status: 200, refusals: [] });
  return answer.body.changes;
}

const kinds = (changes: readonly Change[], action: string) =>
  changes.filter((change) => change.action === action).map(({ object }) => object.split('/')[0]);

test('a viewer can plan a deployment, and nothing is stored', async () => {
  await fleet.aCluster();
  const { id } = await fleet.deployed({ workload: scalable });
  const before = await fleet.contents();
  for (const body of [{ workload_id: (await fleet.deployment(id)).workload_id }, { deployment_id: id, replicas: 3 }]) {
    const answer = await fleet.viewer.post('/api/v1/deployments/plan', body);
    expect({ status: answer.status, ok: answer.body.ok }).toEqual({ status: 200, ok: true });
  }
  expect(await fleet.contents()).toEqual(before);
  expect((await fleet.world.nobody.post('/api/v1/deployments/plan', {})).status).toBe(401);
});

test('a plan waits neither for the placement lock nor for locked rows', async () => {
  const host = await fleet.aHost();
  const { id, workload_id } = await fleet.deployed({ workload: scalable });
  const locks = [
    `SELECT pg_advisory_lock(hashtext('placement'))`,
    ...['hosts', 'workloads', 'deployments', 'volumes'].map((table) => `SELECT FROM ${table} FOR UPDATE`),
  ];
  for (const lock of locks) {
    await holding(fleet.world.databaseUrl, lock, async () => {
      for (const body of [
        { workload_id, target: { host_id: host.id } },
        { deployment_id: id, replicas: 2 },
      ]) {
        expect({ lock, ok: (await fleet.plan(body)).body.ok }).toEqual({ lock, ok: true });
      }
    });
  }
});

test('the plan of a new deployment creates all its objects', async () => {
  const cluster = await fleet.aCluster();
  const { id } = await fleet.aWorkload(workload);
  const { body } = await fleet.plan({ workload_id: id, name: 'web' });
  expect(kinds(body.changes, 'create').sort()).toEqual(['Deployment', 'PersistentVolumeClaim', 'Service']);
  expect(body.changes.every(({ action, paths }: Change) => action === 'create' && paths.length === 0)).toBe(true);
  expect(body.placement.target).toEqual({ cluster_id: cluster.id, host_id: null });
});

test('the plan of a change names exactly the changed members as JSON pointers', async () => {
  await fleet.aCluster();
  const { id } = await fleet.deployed({ workload: scalable, env: { NAME: 'old' } });
  expect(await changesOf(id, { replicas: 3 })).toEqual([
    { action: 'replace', object: expect.stringMatching(/^Deployment\//), paths: ['/spec/replicas'] },
  ]);
  expect(await changesOf(id, { env: { NAME: 'new' } })).toEqual([
    {
      action: 'replace',
      object: expect.stringMatching(/^Deployment\//),
      paths: ['/spec/template/spec/containers/0/env/0/value'],
    },
  ]);
});

test('the plan for other replicas or for a stop of a deployment on a host only creates or deletes containers', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed({ workload: scalable, replicas: 2 });
  const container = (action: string, ordinal: number) => ({
    action,
    object: expect.stringMatching(new RegExp(`^Container/.*-${ordinal}$`)),
    paths: [],
  });
  expect(await changesOf(id, { replicas: 4 })).toEqual([container('create', 2), container('create', 3)]);
  expect(await changesOf(id, { replicas: 1 })).toEqual([container('delete', 1)]);
  const stop = await changesOf(id, { desired_state: 'stopped' });
  expect(stop).toEqual([container('delete', 0), container('delete', 1)]);
});

test('the plan of another environment of a deployment on a host replaces its containers', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed({ workload: scalable, env: { NAME: 'old' }, replicas: 2 });
  const paths = ['/body/Env/0'];
  expect(await changesOf(id, { env: { NAME: 'new' } })).toEqual(
    [0, 1].map((ordinal) => ({
      action: 'replace',
      object: expect.stringMatching(new RegExp(`^Container/.*-${ordinal}$`)),
      paths,
    })),
  );
});

test('the plan of a revision without a port and with another mount deletes and creates objects', async () => {
  await fleet.aCluster();
  const { id, workload_id } = await fleet.deployed({ workload });
  const more = [...workload.volume_mounts, { name: 'cache', mountPath: '/cache' }];
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { ports: [], volume_mounts: more });
  const changes = await changesOf(id, { revision: 2 });
  expect(kinds(changes, 'delete')).toEqual(['Service']);
  expect(kinds(changes, 'create')).toEqual(['PersistentVolumeClaim']);
  expect(kinds(changes, 'replace')).toContain('Deployment');
});

test('a plan without changes is empty, also if the deployment would no longer fit', async () => {
  const host = await fleet.aHost();
  const { id } = await fleet.deployed({ workload: scalable, env: { NAME: 'old' }, replicas: 2 });
  await fleet.client.host.update({ where: { id: host.id }, data: { reachability: 'unreachable' } });
  for (const body of [{}, { replicas: 2 }, { env: { NAME: 'old' } }, { desired_state: 'running' }]) {
    expect(await changesOf(id, body)).toEqual([]);
  }
  const { body } = await fleet.plan({ deployment_id: id });
  expect(body.manifest).toEqual(await fleet.manifest(id));
});

test('a change has the manifest that was planned', async () => {
  await fleet.aHost({ gpuCount: 8 });
  const { id } = await fleet.deployed({ workload: { ...scalable, gpu_count: 1 }, env: { NAME: 'old' } });
  for (const body of [{ replicas: 3 }, { env: { CITY: 'Rome' } }, { desired_state: 'stopped' }]) {
    const { body: plan } = await fleet.plan({ deployment_id: id, ...body });
    expect((await fleet.change(id, body)).status).toBe(200);
    expect(await fleet.manifest(id)).toEqual(plan.manifest);
  }
});

test('the plan of a template that was never deployed stores no workload', async () => {
  await fleet.aHost();
  const free = { volume_mounts: [], node_selector: {}, required_network_types: [], registry_credentials: null };
  await fleet.publish(aTemplate({ slug: 'tool', secret_refs: [], env_schema: [], ...free }));
  const { body } = await fleet.plan({ template: 'tool' });
  expect(body.ok).toBe(true);
  expect(await fleet.client.workload.count()).toBe(0);
  expect(await fleet.client.downloadReport.count()).toBe(0);
});

test('the plan of a change must not contain template, target or name', async () => {
  await fleet.aCluster();
  const { id } = await fleet.deployed({ workload });
  const { status, body } = await fleet.plan({ deployment_id: id, template: 'other', name: 'other', target: null });
  expect(status).toBe(400);
  expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(['template', 'target', 'name']);
});

describe('a plan on a large fleet', () => {
  const HOSTS = 1000;
  const someHosts = (given: (index: number) => object) =>
    fleet.world.database.client.host.createMany({
      data: Array.from({ length: HOSTS }, (_, index) => ({
        name: `large-${String(index).padStart(4, '0')}`,
        engine: 'docker' as const,
        endpoint: `tcp://10.0.${Math.floor(index / 250)}.${(index % 250) + 1}:2376`,
        by_admin: true,
        created_by: 'test',
        reachability: 'online' as const,
        cpu_millis: 64_000,
        memory_bytes: 2 ** 36,
        ...given(index),
      })),
    });
  const planOf = async (wanted: Readonly<Record<string, unknown>>) => {
    const { id } = await fleet.aWorkload(wanted);
    return fleet.plan({ workload_id: id });
  };

  test('lists the rejected hosts with the fewest reasons, and counts the others', async () => {
    // Ten hosts have enough memory, so that only one reason is against them.
    await someHosts((index) => (index % 100 === 99 ? { cpu_millis: 100 } : { cpu_millis: 100, memory_bytes: 2 ** 20 }));
    const { body, text } = await planOf({ cpu_request: '1', memory_request: '1Gi' });
    const { candidates, omitted } = body.placement;
    expect(candidates).toHaveLength(20);
    expect(omitted).toEqual({ suitable: 0, rejected: HOSTS - 20 });
    const names = candidates.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['large-0099', 'large-0999']));
    expect(names).toEqual(names.toSorted());
    expect(body.refusals).toHaveLength(21);
    expect(body.refusals.at(-1)).toEqual({
      code: 'no_placement',
      path: 'target',
      message: `cannot be any of the ${HOSTS - 20} other hosts and clusters`,
    });
    expect(text.length).toBeLessThan(20_000);
  });

  test('lists the best suitable hosts, the chosen one first, and counts the others', async () => {
    await someHosts((index) => (index < 600 ? {} : { reachability: 'unreachable' }));
    const { body } = await planOf(workload);
    const { target, candidates, omitted } = body.placement;
    expect(candidates).toHaveLength(40);
    expect(omitted).toEqual({ suitable: 580, rejected: 380 });
    expect(candidates[0]).toMatchObject({ id: target.host_id, fits: true });
  });

  test('has the same reasons as the refused request', async () => {
    await someHosts(() => ({ cpu_millis: 100 }));
    const { id } = await fleet.aWorkload({ cpu_request: '1' });
    const { body: plan } = await fleet.plan({ workload_id: id });
    const { status, body } = await fleet.operator.post('/api/v1/deployments', { name: 'refused', workload_id: id });
    expect(status).toBe(422);
    const withoutCode = ({ path, message }: { path: string; message: string }) => ({ path, message });
    expect(body.errors).toEqual(plan.refusals.map(withoutCode));
  });
});

test('a small fleet is listed completely', async () => {
  await fleet.aHost();
  await fleet.aHost({ reachability: 'unreachable' });
  const { id } = await fleet.aWorkload(workload);
  const { candidates, omitted } = (await fleet.plan({ workload_id: id })).body.placement;
  expect(candidates).toHaveLength(2);
  expect(omitted).toEqual({ suitable: 0, rejected: 0 });
});

test('at most ten plans of a caller run or wait; those of others take turns with them', async () => {
  await fleet.aHost();
  const { id } = await fleet.aWorkload(workload);
  let pending: Promise<readonly { status: number }[]> = Promise.resolve([]);
  await holding(fleet.world.databaseUrl, 'LOCK TABLE workloads IN ACCESS EXCLUSIVE MODE', async () => {
    const rejected: Awaited<ReturnType<typeof fleet.plan>>[] = [];
    const own = Array.from({ length: 13 }, async () => {
      const response = await fleet.plan({ workload_id: id });
      if (response.status === 503) rejected.push(response);
      return response;
    });
    await eventually('three plans are rejected', async () => rejected.length === 3);
    for (const { body, headers } of rejected) {
      expect(body.code).toBe('overloaded');
      expect(headers['retry-after']).toBe('10');
    }
    const other = fleet.viewer.post('/api/v1/deployments/plan', { workload_id: id });
    pending = Promise.all([...own, other]);
  });
  const statuses = (await pending).map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array.from({ length: 11 }, () => 200), 503, 503, 503]);
});
