import { startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();

const workload = { env_schema: [{ name: 'NAME' }], volume_mounts: [{ name: 'data', mountPath: '/data' }] };

type Response = Awaited<ReturnType<typeof fleet.ask>>;
type Operation = (id: string, headers?: Record<string, string>) => Promise<Response>;

/**
 * Operations that change a deployment with one replica whose second generation has another
 * environment than the first.
 */
const changes: Record<string, Operation> = {
  update: (id, headers) => fleet.change(id, { env: { NAME: 'new' } }, headers),
  stop: (id, headers) => fleet.ask(id, 'stop', undefined, headers),
  restart: (id, headers) => fleet.ask(id, 'restart', undefined, headers),
  scale: (id, headers) => fleet.ask(id, 'scale', { replicas: 3 }, headers),
  rollback: (id, headers) => fleet.ask(id, 'rollback', {}, headers),
};

/** A deployment with two generations, which have different environments. */
async function aChangedDeployment() {
  await fleet.aHost();
  const { id: storage_id } = await fleet.aVolume({ access_mode: 'ReadWriteMany' });
  const { id } = await fleet.deployed({ workload, env: { NAME: 'old' }, volumes: { data: { storage_id } } });
  const { body } = await fleet.change(id, { env: { NAME: 'now' } });
  return body.deployment;
}

const auditOf = (path: string) => fleet.client.auditEntry.count({ where: { path } });

test('creating a deployment creates generation 1 with one revision and one event, which name the actor', async () => {
  await fleet.aHost();
  const deployment = await fleet.deployed({ replicas: 2 });
  expect(deployment).toMatchObject({ generation: 1, observed_generation: null, phase: 'pending', version: 1 });
  expect(deployment.message).toBe('Waiting for a worker of the fleet.');
  const created_by = deployment.created_by;
  expect(created_by).toMatch(/^token:/);
  expect(await fleet.revisions(deployment.id)).toEqual([
    expect.objectContaining({ generation: 1, operation: 'create', replicas: 2, revision: 1, created_by }),
  ]);
  expect(await fleet.events(deployment.id)).toEqual([
    expect.objectContaining({ kind: 'operation', generation: 1, reason: 'create', actor: created_by }),
  ]);
});

test('a deployment shows the name of its host or cluster', async () => {
  const host = await fleet.aHost({ name: 'machine' });
  const cluster = await fleet.aCluster({ name: 'lab' });
  const onHost = await fleet.deployed({ target: { host_id: host.id } });
  const onCluster = await fleet.deployed({ target: { cluster_id: cluster.id } });
  const without = await fleet.deployed({ desired_state: 'stopped' });
  expect(onHost).toMatchObject({ target: { host_id: host.id, cluster_id: null }, target_name: 'machine' });
  const { body } = await fleet.operator.get('/api/v1/deployments');
  expect(
    body.deployments.map((each: { id: string; target_name: string | null }) => [each.id, each.target_name]),
  ).toEqual([
    [without.id, null],
    [onCluster.id, 'lab'],
    [onHost.id, 'machine'],
  ]);
  expect((await fleet.change(onHost.id, onHost)).status).toBe(200);
});

test.each(Object.entries(changes))(
  'the operation %s creates one generation, one revision and one event',
  async (operation, act) => {
    const { id, version } = await aChangedDeployment();
    const { status, body } = await act(id);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { deployment: { generation: 3, version: version + 1 } },
    });
    const isStopped = operation === 'stop';
    expect(body.deployment).toMatchObject({
      phase: isStopped ? 'stopped' : 'pending',
      desired_state: isStopped ? 'stopped' : 'running',
      message: isStopped ? '' : expect.stringMatching(/^Waiting for a worker/),
      reason: null,
    });
    expect((await fleet.revisions(id)).map(({ generation }: { generation: number }) => generation)).toEqual([3, 2, 1]);
    const events = await fleet.events(id);
    expect(events).toHaveLength(3);
    expect(events[0]).toMatchObject({
      generation: 3,
      reason: operation,
      kind: 'operation',
      actor: body.deployment.created_by,
    });
    expect((await fleet.revisions(id))[0]).toMatchObject({ operation, created_by: body.deployment.created_by });
    expect(await fleet.deployment(id)).toEqual(body.deployment);
  },
);

test('starting or restarting a stopped deployment creates one generation', async () => {
  for (const operation of ['start', 'restart']) {
    const { id } = await aChangedDeployment();
    await fleet.ask(id, 'stop');
    const { body } = await fleet.ask(id, operation);
    expect(body.deployment).toMatchObject({ generation: 4, desired_state: 'running', phase: 'pending' });
    expect((await fleet.events(id))[0]).toMatchObject({ reason: operation, generation: 4 });
    await fleet.remove(id);
  }
});

test.each([
  {
    what: 'a local user',
    by: async () => (await fleet.world.aUser('operator', { email: 'someone@example.test' })).api(),
  },
  { what: 'the temporary admin', by: async () => fleet.world.asTemporaryAdmin(), actor: 'temporary-admin' },
])('$what is recorded as the actor of an operation', async ({ by, actor = 'someone@example.test' }) => {
  const { id } = await aChangedDeployment();
  const api = await by();
  await api.post(`/api/v1/deployments/${id}/scale`, { replicas: 2 });
  expect((await fleet.events(id))[0]).toMatchObject({ reason: 'scale', actor });
  expect((await fleet.revisions(id))[0]).toMatchObject({ created_by: actor });
  expect(await fleet.client.auditEntry.count({ where: { actor, path: `/api/v1/deployments/${id}/scale` } })).toBe(1);
});

test('a change without effect creates no generation', async () => {
  const { id } = await aChangedDeployment();
  const before = { revisions: await fleet.revisions(id), events: await fleet.events(id) };
  const now = await fleet.deployment(id);
  const unchanged: (() => Promise<Response>)[] = [
    () => fleet.change(id, {}),
    () => fleet.change(id, now),
    () => fleet.change(id, { env: { NAME: 'now' }, replicas: 1, revision: 1, desired_state: 'running' }),
    () => fleet.change(id, { volumes: { data: { size: now.volumes.data.size } } }),
    () => fleet.ask(id, 'start'),
    () => fleet.ask(id, 'scale', { replicas: 1 }),
    () => fleet.ask(id, 'rollback', { generation: 2 }),
  ];
  for (const ask of unchanged) {
    const { status, body } = await ask();
    expect({ status, generation: body.deployment?.generation }).toEqual({ status: 200, generation: 2 });
  }
  await fleet.ask(id, 'stop');
  expect((await fleet.ask(id, 'stop')).body.deployment.generation).toBe(3);
  expect((await fleet.revisions(id)).slice(1)).toEqual(before.revisions);
  expect((await fleet.events(id)).slice(1)).toEqual(before.events);
});

test('a change of labels takes effect and creates no generation', async () => {
  const { id, version } = await aChangedDeployment();
  const { body } = await fleet.change(id, { labels: { team: 'ml' } });
  expect(body.deployment).toMatchObject({ generation: 2, version: version + 1, labels: { team: 'ml' } });
});

test.each([
  { what: 'another name', body: { name: 'another' }, status: 400 },
  { what: 'an unknown member', body: { nothing: 1 }, status: 400 },
  { what: 'a template', body: { template: 'a' }, status: 400 },
  { what: 'a revision that does not exist', body: { revision: 9 }, status: 422 },
  { what: 'a mount that does not exist', body: { volumes: { nope: { size: '1Gi' } } }, status: 422 },
  { what: 'a variable that does not exist', body: { env: { NOPE: 'x' } }, status: 422 },
])('a change with $what gets $status and changes nothing', async ({ body, status }) => {
  const { id } = await aChangedDeployment();
  const before = await fleet.contents();
  expect((await fleet.change(id, body)).status).toBe(status);
  expect(await fleet.contents()).toEqual(before);
});

test('every request for a deleted deployment gets 404', async () => {
  const { id } = await aChangedDeployment();
  const { status, body } = await fleet.remove(id);
  expect({ status, phase: body.deployment.phase, id: body.deployment.id }).toEqual({
    status: 200,
    phase: 'deleting',
    id,
  });
  expect(await auditOf(`/api/v1/deployments/${id}`)).toBeGreaterThan(0);
  for (const act of [
    ...Object.values(changes),
    (gone: string) => fleet.remove(gone),
    (gone: string) => fleet.ask(gone, 'start'),
  ]) {
    expect((await act(id)).status).toBe(404);
  }
  for (const path of ['', '/events', '/revisions', '/manifest']) {
    expect((await fleet.operator.get(`/api/v1/deployments/${id}${path}`)).status).toBe(404);
  }
  expect((await fleet.plan({ deployment_id: id })).status).toBe(404);
});

test('a viewer can read a deployment and cannot change it', async () => {
  const { id } = await aChangedDeployment();
  for (const path of ['', '/events', '/revisions', '/manifest']) {
    expect((await fleet.viewer.get(`/api/v1/deployments/${id}${path}`)).status).toBe(200);
  }
  const before = await fleet.contents();
  for (const operation of ['start', 'stop', 'restart', 'scale', 'rollback']) {
    expect((await fleet.viewer.post(`/api/v1/deployments/${id}/${operation}`, { replicas: 2 })).status).toBe(403);
  }
  expect((await fleet.viewer.put(`/api/v1/deployments/${id}`, { replicas: 2 })).status).toBe(403);
  expect((await fleet.viewer.delete(`/api/v1/deployments/${id}`)).status).toBe(403);
  expect((await fleet.viewer.post('/api/v1/deployments', {})).status).toBe(403);
  expect(await fleet.contents()).toEqual(before);
});
