// Plans that are applied: exactly as they were decided, as a whole or not at all.
import { planLimits } from '@svc/contract/fleet';
import { startDeploymentWorld } from '../deployments/world.ts';
import { actionsOf, aDocument, plansOf } from './world.ts';

const fleet = await startDeploymentWorld();
const { client, operator, viewer } = fleet;
const { plan, apply, applied, read, exported, named, forget } = plansOf(fleet);

beforeEach(async () => {
  await forget();
  await fleet.aHost({ name: 'gpu-1' });
});

const SECRET = '  env_schema: [{name: PASSWORD, description: "[secret]"}]\n';
const DATA = '  volume_mounts: [{name: data, mountPath: /data}]\n';

test('a plan is applied as a whole, and responds with the values that it generates', async () => {
  const database = aDocument('database', `${SECRET}env: {PASSWORD: {generate: 32}}\n`);
  const app = aDocument('app', `${SECRET}env: {PASSWORD: {deployment: database, variable: PASSWORD}}\n`);
  const { plan: made, generated } = await applied(`${app}---\n${database}`);
  expect(generated).toEqual([{ deployment: 'database', name: 'PASSWORD', value: expect.stringMatching(/^.{32}$/) }]);
  expect(made).toMatchObject({ state: 'applied', applied_by: expect.any(String), expires_at: null });
  expect((await read(made.id)).changes).toEqual(made.changes);
  expect(JSON.stringify(await client.plan.findMany())).not.toContain(generated[0].value);
  expect(await client.deployment.count()).toBe(2);
  const [entry] = await client.auditEntry.findMany({ where: { path: { endsWith: '/apply' } } });
  expect(entry).toMatchObject({ object_name: 'default', status: 200 });
});

test('a repeated application changes nothing, and generates nothing', async () => {
  const text = aDocument('web', `${SECRET}env: {PASSWORD: {generate: 32}}\n`);
  const { plan: made } = await applied(text);
  const again = await apply(made);
  expect(again).toMatchObject({ status: 200, body: { generated: [], plan: { state: 'applied' } } });
  expect((await named('web'))?.generation).toBe(1);
});

test('an application with another digest, or of a plan that is refused, changes nothing', async () => {
  const made = await plan(aDocument('web'));
  expect(await apply({ ...made, digest: 'other' })).toMatchObject({ status: 409, body: { code: 'plan_outdated' } });
  expect((await viewer.post(`/api/v1/plans/${made.id}/apply`, { digest: made.digest })).status).toBe(403);
  expect(await client.deployment.count()).toBe(0);
});

const changes = {
  'the deployment was changed by hand': async () => {
    const { id = '' } = (await named('web')) ?? {};
    await fleet.change(id, { replicas: 3 });
  },
  'the deployment was deleted': async () => {
    const { id = '' } = (await named('web')) ?? {};
    await fleet.remove(id);
  },
  'the host for the new one is full': async () => {
    await fleet.deployed({ workload: { cpu_request: '63500m' } });
  },
  'a better host exists': async () => {
    await client.host.updateMany({ data: { reachability: 'unreachable' } });
    await fleet.aHost({ name: 'other' });
  },
  'the name of the new one was taken': async () => {
    await fleet.deployed({ name: 'cache' });
  },
} as const;

/** The objects about which the decision is then another one. */
const differing: Readonly<Record<keyof typeof changes, readonly string[]>> = {
  'the deployment was changed by hand': ['deployment web'],
  'the deployment was deleted': ['deployment web'],
  'the host for the new one is full': ['deployment cache'],
  'a better host exists': ['deployment cache', 'deployment web'],
  'the name of the new one was taken': ['deployment cache'],
};

test.each(Object.keys(changes) as (keyof typeof changes)[])(
  'a plan is refused with the differences and a new plan if %s',
  async (what) => {
    await applied(aDocument('web'));
    const text = `${aDocument('web', 'replicas: 2\n')}---\n${aDocument('cache', '  cpu_request: 1000m\n')}`;
    const made = await plan(text);
    await changes[what]();
    const before = await client.deployment.findMany({ orderBy: { name: 'asc' } });
    const answer = await apply(made);
    expect(answer).toMatchObject({ status: 409, body: { code: 'plan_outdated' } });
    expect(answer.body.errors.map(({ path }: { path: string }) => path)).toEqual(differing[what]);
    expect(await client.deployment.findMany({ orderBy: { name: 'asc' } })).toEqual(before);
    expect(await read(made.id)).toMatchObject({ state: 'outdated' });
    const [, id = ''] = /The plan (\S+) states/.exec(answer.body.detail) ?? [];
    expect(await read(id)).toMatchObject({ state: expect.stringMatching(/^(?:ready|refused)$/) });
    expect((await apply(made)).body.code).toBe('plan_closed');
  },
);

test('a member that a document leaves out is not managed, and one that it had returns to its default', async () => {
  await applied(aDocument('web', 'labels: {team: a}\n'));
  const { id = '' } = (await named('web')) ?? {};
  await fleet.change(id, { replicas: 3 });
  expect(await plan(aDocument('web', 'labels: {team: a}\n'))).toMatchObject({ state: 'unchanged' });
  await applied(aDocument('web', 'labels: {team: a}\nreplicas: 2\npull: always\n'));
  expect(await fleet.deployment(id)).toMatchObject({ replicas: 2, pull: 'always' });
  await applied(aDocument('web'));
  expect(await fleet.deployment(id)).toMatchObject({ replicas: 1, pull: 'auto', labels: {} });
});

test('a change by hand of a managed member is drift, and the next plan reverts it', async () => {
  const text = aDocument('web', 'replicas: 2\n');
  await applied(text);
  const { id = '' } = (await named('web')) ?? {};
  await fleet.change(id, { replicas: 5, labels: { team: 'a' } });
  const made = await plan(text);
  expect(made.changes).toEqual([
    expect.objectContaining({ name: 'web', cause: 'drift', values: [{ path: 'replicas', from: '5', to: '2' }] }),
  ]);
  await apply(made);
  expect(await fleet.deployment(id)).toMatchObject({ replicas: 2, labels: { team: 'a' } });
});

test('another description is a new revision of the workload, which is deleted with the deployment', async () => {
  await applied(aDocument('web'));
  await applied(aDocument('web', '', 'team/other'));
  const { id = '' } = (await named('web')) ?? {};
  expect(await fleet.deployment(id)).toMatchObject({ revision: 2, deletes_workload: true });
  expect(await plan(aDocument('web', '', 'team/other'))).toMatchObject({ state: 'unchanged' });
  await fleet.ask(id, 'rollback');
  await applied(aDocument('web', '', 'team/other'));
  expect(await fleet.deployment(id)).toMatchObject({ revision: 2 });
  expect(await client.workloadRevision.count()).toBe(2);
  await fleet.remove(id);
  expect(await client.workload.count()).toBe(0);
});

test('objects without a document stay, and are deleted with prune as their last documents say', async () => {
  const all = (kept: string, lost: string) =>
    `${aDocument('web')}---\n${aDocument('data', `${DATA}${kept}`)}---\n${aDocument('scratch', `${DATA}${lost}`)}---\n${aDocument('manual', 'on_removal: keep\n')}`;
  await applied(all('', 'on_removal: delete_all\n'));
  const kept = await plan(aDocument('web'));
  expect(kept).toMatchObject({ state: 'unchanged', summary: { left_out: 3 } });
  expect(kept.left_out.map(({ name }: { name: string }) => name)).toEqual(['data', 'manual', 'scratch']);
  const made = await plan(aDocument('web'), { prune: true });
  expect(actionsOf(made)).toEqual({ data: 'delete', scratch: 'delete', manual: 'release' });
  expect(made.losses).toEqual([{ deployment: 'scratch', volume: 'scratch-data', size: '10Gi' }]);
  expect((await apply(made)).status).toBe(200);
  expect((await client.deployment.findMany()).map(({ name }) => name).sort()).toEqual(['manual', 'web']);
  expect(await client.volume.findMany()).toEqual([expect.objectContaining({ name: 'data-data', reclaim: 'retain' })]);
  expect((await client.setObject.findMany()).map(({ set_name }) => set_name)).toEqual(['default']);
});

test('prune never deletes data that the document before did not release, and never more than it may', async () => {
  await applied(aDocument('data', DATA));
  await applied(aDocument('web'), { prune: false });
  const answer = await operator.post('/api/v1/plans', {
    files: [{ path: 'a.yaml', text: aDocument('web') }],
    prune: true,
    max_deletions: 0,
  });
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0]).toMatchObject({
    path: 'max_deletions',
    message: expect.stringContaining('at least 1'),
  });
  expect((await plan(aDocument('web'), { prune: true })).losses).toEqual([]);
});

test('the plan of an export is unchanged, whatever the deployments have', async () => {
  await fleet.aSecret('login', { token: 'of login' });
  const volume = await fleet.aVolume({ name: 'models' });
  await client.host.updateMany({ data: { network_types: ['mesh'], addresses: { mesh: '10.1.2.3' } } });
  const env_schema = [
    { name: 'PASSWORD', description: '[secret]' },
    { name: 'MODE' },
    { name: 'ADDRESS' },
    { name: 'URL' },
  ];
  const { id: workload_id } = await fleet.aWorkload({
    name: 'tool',
    env_schema,
    volume_mounts: [{ name: 'data', mountPath: '/data' }],
    ports: [{ containerPort: 80 }],
  });
  await fleet.deployed({
    name: 'full',
    workload_id,
    labels: { team: 'a' },
    env: { PASSWORD: { generate: 40 }, MODE: 'it is: "text"\n' },
    volumes: { data: { size: '20Gi' } },
    pull: 'missing',
    updates: { order: 'stop_first', window: { days: ['sat'], start: '01:00', end: '02:00', time_zone: 'UTC' } },
  });
  await fleet.deployed({
    name: 'bound',
    workload_id,
    env: {
      PASSWORD: { deployment: 'full', variable: 'PASSWORD' },
      ADDRESS: { deployment: 'full', port: 80 },
      URL: { compose: `http://\${a}/`, with: { a: { deployment: 'full', port: 80 } } },
    },
    volumes: { data: { storage_id: volume.id } },
  });
  await fleet.deployed({
    name: 'other',
    workload: { env_schema },
    env: { PASSWORD: { value: 'public', plain: true }, MODE: { secret: 'login', key: 'token' } },
    desired_state: 'stopped',
  });
  await fleet.deploy({
    name: 'described',
    spec: {
      image_name: 'team/app',
      image_tag: '1.2',
      command: ['--a', 'b'],
      ports: [{ containerPort: 80 }],
      cpu_request: '500m',
    },
    replicas: 3,
  });
  await operator.put(`/api/v1/workloads/${workload_id}`, { image_tag: '2' });
  const text = await exported();
  const made = await plan(text);
  expect({ text, changes: made.changes, refusals: made.refusals }).toEqual({ text, changes: [], refusals: [] });
  expect(made).toMatchObject({ state: 'unchanged', summary: { unchanged: 4 } });
  expect((await apply(made)).status).toBe(200);
  expect(await exported('?set=default')).toBe(text);
  expect(await exported('?name=described')).toBe(
    `kind: deployment
name: described
spec:
  image_name: team/app
  image_tag: "1.2"
  command:
    - --a
    - b
  ports:
    - containerPort: 80
      protocol: TCP
  cpu_request: 500m
target:
  host: gpu-1
replicas: 3
`,
  );
  await fleet.remove((await named('described'))?.id ?? '');
  expect((await plan(text)).summary).toMatchObject({ create: 1, unchanged: 3 });
});

test('a part of an application is not changed by a file, and an export describes the application instead', async () => {
  const spec = { parts: [{ name: 'main', image_name: 'team/app' }] };
  expect((await operator.post('/api/v1/applications', { name: 'suite', spec })).status).toBe(201);
  const { name } = await client.deployment.findFirstOrThrow();
  const made = await plan(aDocument(name));
  expect(made.refusals).toEqual([
    expect.objectContaining({
      path: 'name',
      message: expect.stringContaining('is the part main of the application suite'),
    }),
  ]);
  expect((await exported()).match(/^name: .*/gm)).toEqual(['name: suite']);
});

test('two applications of one plan at the same time make its changes once', async () => {
  const made = await plan(`${aDocument('a')}---\n${aDocument('b')}`);
  const answers = await Promise.all([apply(made), apply(made)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(await client.deployment.count()).toBe(2);
  const entries = await client.deploymentRevision.count();
  expect(entries).toBe(2);
});

test('a plan of as many changes as allowed is applied, and the changes of others are made meanwhile', async () => {
  const text = Array.from({ length: planLimits.changes }, (_, index) => aDocument(`n-${index}`)).join('---\n');
  const made = await plan(text);
  expect(made.summary.create).toBe(planLimits.changes);
  const [answer, ...others] = await Promise.all([
    apply(made),
    ...[1, 2, 3].map((number) => fleet.deploy({ name: `other-${number}`, spec: { image_name: 'team/app' } })),
  ]);
  expect({ status: answer.status, others: others.map(({ status }) => status) }).toEqual({
    status: 200,
    others: [201, 201, 201],
  });
  expect(await client.deployment.count()).toBe(planLimits.changes + 3);
});
