import { MAX_OPEN_RUNS, MAX_RUN_ITEMS } from '@svc/contract/fleet';
import { eventually } from '@svc/testing';
import { insertRun } from '../../src/deployments/update-runs/runs.ts';
import { continueRun } from '../../src/reconciler/updates/runs.ts';
import { anAdvisory, aPlainTemplate, withTemplate } from '../deployments/templates/advised.ts';
import { observed, passesOf, workerContextOf } from '../deployments/updates/passes.ts';
import { type Body, reasonsOf, startDeploymentWorld } from '../deployments/world.ts';

const fleet = await startDeploymentWorld();
const { admin, client, operator, viewer, world } = fleet;
const { publish, reset, deployed } = withTemplate(fleet, aPlainTemplate());
const { pass } = passesOf(fleet);

beforeEach(async () => {
  await client.$executeRaw`TRUNCATE update_runs CASCADE`;
  reset();
  await fleet.aHost();
  await publish();
});

const context = workerContextOf(fleet);
/** A pass of a worker. */
const work = (id: string) => continueRun(context, id, new AbortController().signal);

/** Outdated deployments, by name. */
async function outdated(...names: string[]): Promise<Record<string, string>> {
  const made: Record<string, string> = {};
  for (const name of names) {
    const { id } = await deployed({ name, labels: { team: 'a' }, updates: { ready_seconds: 0 } });
    made[name] = id;
  }
  await publish({ version: '1.1.0', image_tag: '19' });
  return made;
}

const started = async (body: Body): Promise<string> => {
  const { status, body: answer } = await operator.post('/api/v1/update-runs', body);
  expect(status).toBe(201);
  return answer.run.id;
};
const runOf = async (id: string) => (await viewer.get(`/api/v1/update-runs/${id}`)).body.run;
const statesOf = async (id: string) =>
  Object.fromEntries((await runOf(id)).items.map(({ name, state }: Body) => [name, state]));
const succeed = (id = '') => pass(id, observed());
const failed = observed({ phase: 'failed', reason: 'ImageNotFound', message: 'No such image.' }, { ready: false });
const fail = (id = '') => pass(id, failed);

test('a run updates the deployments of a template in waves, each when the one before has ended', async () => {
  const ids = await outdated('one', 'two', 'three');
  const id = await started({ template: 'tool', wave: 2 });
  expect(await statesOf(id)).toEqual({ one: 'waiting', three: 'waiting', two: 'waiting' });
  await work(id);
  await work(id);
  expect(await statesOf(id)).toEqual({ one: 'updating', three: 'updating', two: 'waiting' });
  expect(await fleet.deployment(ids.one ?? '')).toMatchObject({
    revision: 2,
    generation: 2,
    template_state: 'current',
  });
  await succeed(ids.one);
  await work(id);
  expect(await statesOf(id)).toMatchObject({ one: 'succeeded', two: 'waiting' });
  await succeed(ids.three);
  await work(id);
  expect(await statesOf(id)).toMatchObject({ three: 'succeeded', two: 'updating' });
  await succeed(ids.two);
  await work(id);
  expect(await runOf(id)).toMatchObject({
    state: 'completed',
    finished_at: expect.any(String),
    counts: { waiting: 0, updating: 0, succeeded: 3, failed: 0, skipped: 0 },
  });
});

test('a run stops after as many failures as it states, and skips the rest', async () => {
  const ids = await outdated('a', 'b', 'c', 'd');
  const id = await started({ label: 'team=a', stop_after: 2 });
  for (const name of ['a', 'b']) {
    await work(id);
    await fail(ids[name]);
  }
  await work(id);
  const run = await runOf(id);
  expect(run).toMatchObject({ state: 'stopped', counts: { failed: 2, skipped: 2 }, selection: { label: 'team=a' } });
  expect(run.items.map(({ message }: Body) => message)).toEqual([
    'Generation 2 failed: ImageNotFound.',
    'Generation 2 failed: ImageNotFound.',
    'It was not updated, because 2 updates of the run have failed.',
    'It was not updated, because 2 updates of the run have failed.',
  ]);
  expect(await fleet.deployment(ids.c ?? '')).toMatchObject({ generation: 1 });
});

test('a deployment that changes after the plan is skipped, and so is one that is deleted or changed during its update', async () => {
  const ids = await outdated('changed', 'deleted', 'during', 'gone', 'last');
  const id = await started({ template: 'tool', wave: 5 });
  await fleet.change(ids.changed ?? '', { labels: { team: 'b' } });
  await client.deployment.delete({ where: { id: ids.deleted ?? '' } });
  await work(id);
  expect(await statesOf(id)).toMatchObject({ changed: 'skipped', deleted: 'skipped', during: 'updating' });
  await fleet.ask(ids.during ?? '', 'restart');
  await client.deployment.delete({ where: { id: ids.gone ?? '' } });
  await succeed(ids.last);
  await work(id);
  const { items, state } = await runOf(id);
  expect(state).toBe('completed');
  expect(items.map(({ name, state: how, message }: Body) => [name, how, message])).toEqual([
    ['changed', 'skipped', expect.stringContaining('has changed since the plan was made')],
    ['deleted', 'skipped', 'It was deleted before its turn.'],
    ['during', 'skipped', 'It was changed before its update ended.'],
    ['gone', 'skipped', 'It was deleted before its update ended.'],
    ['last', 'succeeded', ''],
  ]);
});

test('an update that is refused counts as a failure and changes nothing', async () => {
  const ids = await outdated('one', 'two');
  const id = await started({ template: 'tool' });
  await publish({ advisories: [anAdvisory()] });
  const before = await client.workloadRevision.count();
  await work(id);
  await work(id);
  const run = await runOf(id);
  expect(run).toMatchObject({ state: 'stopped', counts: { failed: 1, skipped: 1 } });
  expect(run.items[0].message).toContain('critical advisory');
  expect(await client.workloadRevision.count()).toBe(before);
  expect(await fleet.deployment(ids.one ?? '')).toMatchObject({ generation: 1 });
});

test('a stopped deployment has its new configuration at once', async () => {
  const { stopped = '' } = await outdated('stopped');
  await fleet.ask(stopped, 'stop');
  const id = await started({ deployment_ids: [stopped] });
  await work(id);
  await work(id);
  expect(await runOf(id)).toMatchObject({ state: 'completed', counts: { succeeded: 1 } });
  expect(await fleet.deployment(stopped)).toMatchObject({ revision: 2, desired_state: 'stopped' });
});

test('two replicas start each update once, and each has an audit entry of the fleet and an event of the run', async () => {
  const ids = await outdated('one', 'two', 'three');
  const id = await started({ template: 'tool', wave: 3 });
  await Promise.all([work(id), work(id), work(id)]);
  await work(id);
  expect(await statesOf(id)).toEqual({ one: 'updating', two: 'updating', three: 'updating' });
  for (const deployment of Object.values(ids)) {
    const { generation, version } = await fleet.deployment(deployment);
    expect({ generation, version }).toEqual({ generation: 2, version: 2 });
    const [event] = await fleet.events(deployment);
    expect(event).toMatchObject({ reason: 'upgrade', actor: 'fleet', message: expect.stringContaining(id) });
  }
  const entries = await client.auditEntry.findMany({
    where: { actor: 'fleet', request_id: id },
    orderBy: { object_name: 'asc' },
  });
  expect(
    entries.map(({ object_name, path, status, request_id }) => ({ object_name, path, status, request_id })),
  ).toEqual(
    ['one', 'three', 'two'].map((name) => ({
      object_name: name,
      path: `/api/v1/deployments/${ids[name]}/upgrade`,
      status: 200,
      request_id: id,
    })),
  );
});

test('a worker that is killed between two steps leaves a run that another one continues', async () => {
  const ids = await outdated('one', 'two');
  const id = await started({ template: 'tool', wave: 2 });
  const killed = new AbortController();
  // It ends after the first update of the wave.
  const first = continueRun(context, id, killed.signal);
  await eventually('an update has begun', () => client.updateRunItem.count({ where: { state: 'updating' } }));
  killed.abort();
  await first;
  await work(id);
  expect(await statesOf(id)).toEqual({ one: 'updating', two: 'updating' });
  for (const deployment of Object.values(ids))
    expect(await fleet.deployment(deployment)).toMatchObject({ generation: 2 });
});

test('a cancelled run skips what has not begun, and follows what has', async () => {
  const ids = await outdated('one', 'two');
  const id = await started({ template: 'tool' });
  await work(id);
  const answer = await operator.post(`/api/v1/update-runs/${id}/cancel`);
  expect(answer.body.run).toMatchObject({ state: 'cancelled', counts: { updating: 1, skipped: 1 } });
  await succeed(ids.one);
  await work(id);
  expect(await runOf(id)).toMatchObject({ state: 'cancelled', counts: { succeeded: 1, skipped: 1 } });
  expect(await fleet.deployment(ids.two ?? '')).toMatchObject({ generation: 1 });
  expect((await operator.post(`/api/v1/update-runs/${id}/cancel`)).body.run.state).toBe('cancelled');
  expect((await viewer.get('/api/v1/update-runs?state=cancelled')).body.runs).toHaveLength(1);
  expect((await viewer.get('/api/v1/update-runs?state=running')).body.runs).toEqual([]);
});

test.each<[string, () => Promise<{ api: typeof operator; end: () => Promise<{ status: number }> }>]>([
  [
    'token, when it is revoked',
    async () => {
      const token = await world.aToken({ role: 'operator' });
      return { api: world.as(token), end: () => admin.delete(`/api/v1/tokens/${token.id}`) };
    },
  ],
  [
    'user, when the user is removed',
    async () => {
      const user = await world.aUser('operator');
      return { api: await user.api(), end: () => admin.delete(`/api/v1/users/${user.id}`) };
    },
  ],
  [
    'user, when the user becomes a viewer',
    async () => {
      const user = await world.aUser('operator');
      return { api: await user.api(), end: () => admin.put(`/api/v1/users/${user.id}`, { role: 'viewer' }) };
    },
  ],
  [
    'token of a user, when the user is blocked',
    async () => {
      await world.aUser('admin'); // because the last admin cannot be blocked
      const user = await world.aUser('admin');
      const { body } = await (await user.api()).post('/api/v1/tokens', { name: 'ci', role: 'operator' });
      const end = () => admin.put(`/api/v1/users/${user.id}`, { blocked: true });
      return { api: world.api(`Bearer ${body.token.secret}`), end };
    },
  ],
])('a run ends with the authority of its creator: a %s', async (_, creator) => {
  const ids = await outdated('one', 'two');
  const { api, end } = await creator();
  const { status, body } = await api.post('/api/v1/update-runs', { template: 'tool' });
  expect(status).toBe(201);
  const { id, created_by } = body.run;
  await work(id);
  expect((await end()).status).toBeLessThan(300);
  await succeed(ids.one);
  await work(id);
  const { state, items } = await runOf(id);
  const message = `It was not updated, because ${created_by} can no longer change deployments.`;
  expect({ state, items }).toMatchObject({
    state: 'stopped',
    items: [
      { name: 'one', state: 'succeeded' },
      { name: 'two', state: 'skipped', message },
    ],
  });
  expect(await fleet.deployment(ids.two ?? '')).toMatchObject({ generation: 1 });
});

test('a plan states what would be updated and skipped, and a run applies exactly this plan', async () => {
  const ids = await outdated('one', 'two');
  const own = await fleet.deployed({ name: 'own' });
  const body = { deployment_ids: [ids.one, own.id, ids.two] };
  const { plan } = (await viewer.post('/api/v1/update-runs/plan', body)).body;
  const expected = expect.stringMatching(/^[0-9a-f]{64}$/);
  const template = { from_version: '1.0.0', to_version: '1.1.0' };
  const outage = expect.objectContaining({ expected: expect.any(Boolean), reason: expect.any(String) });
  const updated = { application_id: null, expected, skipped: null, refusals: [], template, outage };
  const none = {
    application_id: null,
    expected: null,
    skipped: 'No update is available.',
    refusals: [],
    template: null,
    outage: null,
  };
  expect(plan.items).toEqual([
    { deployment_id: ids.one, name: 'one', wave: 1, ...updated },
    { deployment_id: own.id, name: 'own', wave: null, ...none },
    { deployment_id: ids.two, name: 'two', wave: 2, ...updated },
  ]);
  const single = (await viewer.post('/api/v1/deployments/plan', { deployment_id: ids.one, upgrade: true })).body;
  expect(plan.items[0]).toMatchObject({ expected: single.digest, outage: single.outage });
  expect(await client.updateRun.count()).toBe(0);
  await fleet.change(ids.two ?? '', { labels: {} });
  const outdatedPlan = await operator.post('/api/v1/update-runs', { ...body, expected: plan.digest });
  expect(outdatedPlan).toMatchObject({ status: 409, body: { code: 'plan_outdated' } });
  const again = (await viewer.post('/api/v1/update-runs/plan', body)).body.plan;
  expect((await operator.post('/api/v1/update-runs', { ...body, expected: again.digest })).status).toBe(201);
});

test('a plan leaves out an update that is refused, with its reasons, and a run starts the others', async () => {
  const ids = await outdated('one', 'two');
  const env_schema = [{ name: 'TOKEN', required: true, description: '', default_value: '' }];
  await publish({ version: '1.2.0', env_schema });
  await client.deployment.update({ where: { id: ids.two ?? '' }, data: { env: { TOKEN: 'known' } } });
  const body = { template: 'tool' };
  const { plan } = (await viewer.post('/api/v1/update-runs/plan', body)).body;
  expect(plan.items).toMatchObject([
    {
      name: 'one',
      wave: null,
      expected: null,
      skipped: 'The update is refused: env.TOKEN is required and has no value.',
      refusals: [{ path: 'env.TOKEN', message: 'is required and has no value' }],
      template: { to_version: '1.2.0' },
    },
    { name: 'two', wave: 1, skipped: null, refusals: [] },
  ]);
  const { run } = (await operator.post('/api/v1/update-runs', { ...body, expected: plan.digest })).body;
  expect(run.counts).toMatchObject({ waiting: 1, skipped: 1, failed: 0 });
});

test('a run has exactly one selection of existing deployments, and at most as many as allowed', async () => {
  const plan = (body: Body) => viewer.post('/api/v1/update-runs/plan', body);
  const message = 'is required if no application, label and ids are given, and must not be given with one of them';
  for (const body of [{}, { template: 'tool', label: 'team=a' }])
    expect(reasonsOf(await plan(body))).toEqual([{ path: 'template', message }]);
  const unknown = '00000000-0000-7000-8000-000000000001';
  expect(reasonsOf(await plan({ deployment_ids: [unknown] }))).toEqual([
    { path: 'deployment_ids.0', message: 'must be the id of a deployment' },
  ]);
  expect(reasonsOf(await plan({ application_ids: [unknown] }))).toEqual([
    { path: 'application_ids.0', message: 'must be the id of an application' },
  ]);
  expect((await plan({ deployment_ids: [] })).status).toBe(400);
  expect((await plan({ deployment_ids: Array.from({ length: MAX_RUN_ITEMS + 1 }, () => unknown) })).status).toBe(400);
  expect((await plan({ template: 'tool', wave: 51 })).status).toBe(400);
  expect((await plan({ template: 'tool', stop_after: 0 })).status).toBe(400);
});

test('at most 20 runs are open, and one without an update has ended at once', async () => {
  const item = {
    deployment_id: '00000000-0000-7000-8000-000000000001',
    application_id: null,
    name: 'any',
    wave: 1,
    expected: 'x',
    skipped: null,
  };
  const plan = { digest: '', items: [item] };
  const creator = { created_by: 'test', created_by_user: null, created_by_token: null };
  const open = () =>
    client.$transaction((transaction) =>
      insertRun(transaction, { creator, selection: {}, wave: 1, stopAfter: 1, plan }),
    );
  for (let run = 0; run < MAX_OPEN_RUNS; run++) await open();
  const { id } = await deployed();
  const refused = await operator.post('/api/v1/update-runs', { deployment_ids: [id] });
  expect(refused).toMatchObject({ status: 409, body: { code: 'too_many_runs' } });
  await client.updateRun.deleteMany();
  const ended = await operator.post('/api/v1/update-runs', { deployment_ids: [id] });
  expect(ended.body.run).toMatchObject({ state: 'completed', counts: { skipped: 1 } });
});
