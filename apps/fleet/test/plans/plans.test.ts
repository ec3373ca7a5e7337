// Plans of documents: what they state, and what they refuse.
import { planLimits } from '@svc/contract/fleet';
import { holding } from '@svc/testing/faults';
import { startDeploymentWorld } from '../deployments/world.ts';
import { actionsOf, aDocument, plansOf } from './world.ts';

const fleet = await startDeploymentWorld();
const { client, operator, viewer, world } = fleet;
const { create, plan, applied, read, forget } = plansOf(fleet);

beforeEach(async () => {
  await forget();
  await fleet.aHost({ name: 'gpu-1' });
});

const errorsOf = ({ status, body }: Awaited<ReturnType<typeof create>>) => ({ status, errors: body.errors });

test('a plan states what each document changes, where it will run, and why, and changes nothing', async () => {
  const text = `${aDocument('web', 'replicas: 2\n')}---\n${aDocument('cache')}`;
  const before = await client.deployment.count();
  const made = await plan(text, { title: 'first' });
  expect(made).toMatchObject({
    state: 'ready',
    set: 'default',
    title: 'first',
    summary: { create: 2, change: 0, delete: 0, unchanged: 0, left_out: 0 },
    refusals: [],
    applied_at: null,
  });
  expect(made.changes[0]).toMatchObject({
    name: 'web',
    action: 'create',
    cause: 'file',
    file: 'a.yaml',
    line: 1,
    id: null,
    target: { kind: 'host', name: 'gpu-1', reasons: expect.arrayContaining(['chosen: nothing else fits']) },
    outage: { expected: false },
  });
  expect(made.changes[0].values).toEqual(
    expect.arrayContaining([
      { path: 'replicas', from: null, to: '2' },
      { path: 'image', from: null, to: 'docker.io/team/app:latest' },
    ]),
  );
  expect(made.changes[1]).toMatchObject({ name: 'cache', line: 7 });
  expect(await client.deployment.count()).toBe(before);
  expect(await read(made.id)).toEqual(made);
  const [listed] = (await viewer.get('/api/v1/plans?state=ready&set=default')).body.plans;
  expect(made).toMatchObject(listed);
});

test('a plan of a change states the values before and after, and the outage', async () => {
  await applied(aDocument('web', 'replicas: 2\nlabels: {team: a}\n'));
  const made = await plan(aDocument('web', 'labels: {team: b}\n', 'team/other'));
  expect(made.summary).toMatchObject({ change: 1, unchanged: 0 });
  expect(made.changes[0].values).toEqual(
    expect.arrayContaining([
      { path: 'labels', from: '{"team":"a"}', to: '{"team":"b"}' },
      { path: 'image', from: 'docker.io/team/app:latest', to: 'docker.io/team/other:latest' },
      { path: 'replicas', from: '2', to: '1' },
    ]),
  );
  expect(made.changes[0]).toMatchObject({ action: 'change', cause: 'file', replaces_instances: true });
});

test('invalid documents are refused with file and line, before anything is stored', async () => {
  const text = `${aDocument('web', 'replica: 2\nenv: {MODE: yes}\n')}---\nkind: deploymnt\nname: a\n---\n${aDocument('web')}`;
  expect(errorsOf(await create(text))).toEqual({
    status: 400,
    errors: [
      { path: 'a.yaml:6', message: expect.stringContaining('yes must be quoted') },
      { path: 'a.yaml:8', message: 'kind must be one of: application, deployment; did you mean deployment?' },
    ],
  });
  expect(
    errorsOf(await create(`${aDocument('web', 'replica: 2\n')}---\n${aDocument('b')}---\n${aDocument('b')}`)),
  ).toEqual({
    status: 400,
    errors: [
      { path: 'a.yaml:5', message: expect.stringContaining('replica unknown member; did you mean replicas?') },
      { path: 'a.yaml:13', message: 'name must not be repeated: deployment b is also in a.yaml:8' },
    ],
  });
  expect(errorsOf(await create('# nothing'))).toMatchObject({ status: 400 });
  expect(await client.plan.count()).toBe(0);
});

test.each([
  ['neither template, workload nor spec', 'kind: deployment\nname: a\n', /template is required/],
  ['two sources', 'kind: deployment\nname: a\ntemplate: b\nworkload: c\n', /workload must not be given with template/],
  ['a revision without a workload', 'kind: deployment\nname: a\ntemplate: b\nrevision: 1\n', /only with workload/],
  ['two targets', aDocument('a', 'target: {host: a, cluster: b}\n'), /must have either host or cluster/],
  ['an anchor', aDocument('a', 'labels: &a {b: c}\n'), /anchors and aliases/],
  ['text instead of an object', 'only text', /must be an object with the member kind/],
])('a document with %s is not valid', async (_what, text, message) => {
  const answer = await create(text);
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].message).toMatch(message);
});

test('a plan lists every reason against it with file, line and the nearest name', async () => {
  await fleet.aVolume({ name: 'models' });
  const text = [
    aDocument('one', 'target: {host: gpu-2}\n'),
    'kind: deployment\nname: two\ntemplate: absent\n',
    aDocument('three', 'env:\n  MODE: {secret: absent, key: a}\n'),
    aDocument('four', 'volumes:\n  data: {volume: model}\n'),
  ].join('---\n');
  const made = await plan(text);
  expect(made.state).toBe('refused');
  expect(
    made.refusals.map(({ name, line, path, message }: Record<string, unknown>) => [name, line, path, message]),
  ).toEqual([
    ['one', 5, 'target.host', 'names the host gpu-2, which does not exist; did you mean gpu-1?'],
    ['two', 9, 'template', 'names the template absent, which does not exist'],
    ['three', 16, 'env.MODE', expect.any(String)],
    ['four', 23, 'volumes.data.volume', 'names the volume model, which does not exist; did you mean models?'],
  ]);
  const answer = await operator.post(`/api/v1/plans/${made.id}/apply`, { digest: made.digest });
  expect(answer).toMatchObject({ status: 409, body: { code: 'plan_closed' } });
});

test('documents are decided in the order of their bindings, and a cycle is refused', async () => {
  const bound = (name: string) => `env: {ADDRESS: {deployment: ${name}, port: 80}}\n`;
  const spec = '  ports: [{containerPort: 80}]\n  env_schema: [{name: ADDRESS}]\n';
  await client.host.updateMany({ data: { network_types: ['mesh'], addresses: { mesh: '10.1.2.3' } } });
  const app = aDocument('app', `${spec}${bound('web')}`);
  const made = await plan(`${app}---\n${aDocument('web', spec)}`);
  expect({ state: made.state, refusals: made.refusals }).toEqual({ state: 'ready', refusals: [] });
  expect(made.changes.map(({ name }: { name: string }) => name)).toEqual(['web', 'app']);
  const cycle = await plan(`${app}---\n${aDocument('web', `${spec}${bound('app')}`)}`);
  expect(cycle.refusals[0]).toMatchObject({
    path: 'env',
    message: expect.stringContaining('bound in a cycle: app, web, app'),
  });
});

test('what cannot be changed is refused: target, source, and an object of another set', async () => {
  await fleet.aHost({ name: 'other' });
  await applied(aDocument('web', 'target: {host: gpu-1}\n'));
  const other = await plan(aDocument('web', 'target: {host: other}\n'));
  expect(other.refusals[0].message).toContain('cannot be changed: the deployment has the target gpu-1');
  const source = await plan('kind: deployment\nname: web\nworkload: tool\n');
  expect(source.refusals[0].message).toContain('cannot be changed: the deployment runs the workload web');
  const set = await plan(aDocument('web'), { set: 'shop' });
  expect(set.refusals).toEqual([
    expect.objectContaining({
      path: 'name',
      message: expect.stringContaining('belongs to the set default (a.yaml:1)'),
    }),
  ]);
  expect(await plan(aDocument('web'), { set: 'shop', adopt: true })).toMatchObject({ state: 'unchanged' });
});

test('a plan has at most 200 changes, and a caller at most 20 plans that are ready', async () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => `kind: deployment\nname: n${index}\ntemplate: absent\n`).join('---\n');
  const answer = await create(many(planLimits.changes + 1));
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.body.errors[0].message).toContain('describe 201 changes, and a plan can have at most 200');
  for (let count = 0; count < planLimits.openOfCaller; count++) await plan(aDocument('web'));
  expect(await create(aDocument('web'))).toMatchObject({ status: 409, body: { code: 'too_many_plans' } });
  await client.$executeRaw`ALTER TABLE plans DISABLE TRIGGER plan_refuse_change`;
  await client.$executeRaw`UPDATE plans SET expires_at = now() WHERE id = (SELECT min(id::text)::uuid FROM plans)`;
  await client.$executeRaw`ALTER TABLE plans ENABLE TRIGGER plan_refuse_change`;
  expect((await create(aDocument('web'))).status).toBe(201);
  expect((await viewer.get('/api/v1/plans?state=expired')).body.plans).toHaveLength(1);
});

test('of plans that cannot be applied, those of a caller before the newest 20 are deleted', async () => {
  for (let count = 0; count < planLimits.openOfCaller + 2; count++)
    await plan('kind: deployment\nname: a\ntemplate: absent\n');
  expect(await client.plan.count()).toBe(planLimits.openOfCaller);
});

test('a plan waits for no lock of changes, and writes nothing but itself', async () => {
  await applied(aDocument('web'));
  const contents = () => client.deployment.findMany({ include: { workload: true } });
  const before = await contents();
  await holding(world.databaseUrl, `SELECT pg_advisory_lock(hashtext('placement'))`, async () => {
    const made = await plan(`${aDocument('web', '', 'team/other')}---\n${aDocument('new')}`);
    expect(actionsOf(made)).toEqual({ web: 'change', new: 'create' });
  });
  expect(await contents()).toEqual(before);
});

test('a stored plan cannot be changed in the database', async () => {
  const made = await plan(aDocument('web'));
  const where = { id: made.id };
  for (const data of [{ digest: 'other' }, { files: [] }, { decision: {} }, { options: {} }])
    await expect(client.plan.update({ where, data })).rejects.toThrow('cannot be changed');
});
