// Applications over HTTP: plan, creation, the order of starts, values, and deletion.
import { deployments } from '../../src/deployments/rows.ts';
import { readRow } from '../../src/resources/kind.ts';
import { plansIn } from '../deployments/plans/world.ts';
import { receivedBy } from '../deployments/values/variables.ts';
import { GHOST, startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld();
const { client, operator } = fleet;

const partsOf = (application: { parts: { name: string; phase: string }[] }) =>
  application.parts.map(({ name, phase }) => `${name} ${phase}`);
const everything = async () => ({
  applications: await client.application.count(),
  deployments: await client.deployment.count(),
  workloads: await client.workload.count(),
  volumes: await client.volume.count(),
  values: await client.sealedValue.count(),
});
const NOTHING = { applications: 0, deployments: 0, workloads: 0, volumes: 0, values: 0 };

test('a plan states the target and what each part runs, and stores nothing', async () => {
  const host = await fleet.aMeshHost();
  const { status, body } = await fleet.planApplication();
  expect({ status, refusals: body.refusals, ok: body.ok }).toEqual({ status: 200, refusals: [], ok: true });
  expect(body.placement.target).toEqual({ host_id: host.id, cluster_id: null });
  expect(body.generated).toEqual(['db_password']);
  expect(
    body.parts.map(({ name, deployment_name, image }: Record<string, string>) => [name, deployment_name, image]),
  ).toEqual([
    ['database', 'blog-database', 'docker.io/library/mysql:8.4'],
    ['web', 'blog-web', 'docker.io/library/ghost:6'],
  ]);
  expect(body.parts[1].manifest.map(({ kind }: { kind: string }) => kind)).toEqual([
    ...['Image', 'Volume', 'Network', 'Container'],
  ]);
  expect(await everything()).toEqual(NOTHING);
});

test('a creation that applies a plan stores all parts on one target', async () => {
  const host = await fleet.aMeshHost();
  const { body: plan } = await fleet.planApplication();
  const { application, generated } = await fleet.created({ expected: plan.digest });
  expect(application).toMatchObject({ name: 'blog', phase: 'pending', generation: 1, generated: ['db_password'] });
  expect(application.target).toEqual({ host_id: host.id, cluster_id: null });
  expect(generated).toEqual([{ name: 'db_password', value: expect.stringMatching(/^.{32}$/) }]);
  expect(partsOf(application)).toEqual(['database pending', 'web pending']);
  const web = await fleet.deployment(application.parts[1].deployment_id);
  expect(web.application).toEqual({ id: application.id, name: 'blog', part: 'web' });
  const { body } = await operator.get(`/api/v1/applications/${application.id}/spec`);
  expect(body.spec.parts.map(({ name }: { name: string }) => name)).toEqual(['web', 'database']);
  expect(await everything()).toEqual({ applications: 1, deployments: 2, workloads: 2, volumes: 2, values: 1 });
});

test('a plan that is out of date is not applied', async () => {
  await fleet.aMeshHost();
  const { body: plan } = await fleet.planApplication();
  const answer = await fleet.createApplication({ expected: plan.digest, inputs: { title: 'Another' } });
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 409, code: 'plan_outdated' });
  expect(await everything()).toEqual(NOTHING);
});

test('a part starts when those that it needs are ready, and receives their addresses and values', async () => {
  await fleet.aMeshHost();
  const { application, generated } = await fleet.created();
  const { id } = application;
  const password = generated[0].value;
  expect(await fleet.claimable()).toEqual(['blog-database']);
  expect(await fleet.part(id, 'web')).toMatchObject({
    phase: 'pending',
    reason: 'WaitingForPart',
    message: 'Waiting for database to be ready (pending).',
    waits_for: [{ part: 'database', until: 'ready' }],
  });
  await fleet.runs(id, 'database');
  expect(await fleet.part(id, 'web')).toMatchObject({ phase: 'pending', reason: null, waits_for: [] });
  const [database, web] = application.parts.map(({ deployment_id }: { deployment_id: string }) => deployment_id);
  const portOf = async (deployment_id: string) =>
    (await client.allocatedPort.findFirstOrThrow({ where: { deployment_id } })).host_port;
  const { env } = await receivedBy(fleet, web);
  expect(env).toMatchObject({
    url: `http://10.1.2.3:${await portOf(web)}`,
    database__client: 'mysql',
    database__connection__host: '10.213.16.2',
    database__connection__password: password,
    DATABASE_URL: `mysql://ghost:${password}@10.213.16.2:3306/ghost`,
    title: 'My blog of blog',
  });
  await fleet.runs(id, 'web');
  expect(await fleet.application(id)).toMatchObject({ phase: 'running', part: null, reason: null });
  await client.deployment.update({ where: { id: database }, data: { phase: 'degraded', reason: 'CrashLoop' } });
  expect(await fleet.application(id)).toMatchObject({ phase: 'degraded', part: 'database', reason: 'CrashLoop' });
  expect(partsOf(await fleet.application(id))).toEqual(['database degraded', 'web running']);
});

test('a wait that lasts longer than the deadline is stated with what is waited for', async () => {
  await fleet.aMeshHost();
  const { application } = await fleet.created();
  const [database] = application.parts;
  await client.deployment.update({
    where: { id: database.deployment_id },
    data: { phase: 'degraded', reason: 'CrashLoop', observed_generation: 1 },
  });
  await client.$executeRaw`UPDATE deployments SET waits_for = jsonb_set(waits_for, '{since}', '"2026-01-01T00:00:00Z"') WHERE part = 'web'`;
  expect(await fleet.part(application.id, 'web')).toMatchObject({
    reason: 'DeadlineExceeded',
    message: 'Waiting for database to be ready (CrashLoop).',
  });
});

test('an application that does not fit on one target is refused with what fits, and stores nothing', async () => {
  await fleet.aMeshHost({ name: 'small', cpus: 2 });
  const spec = {
    ...GHOST,
    parts: GHOST.parts.map((part) => ({ ...part, cpu_request: part.name === 'web' ? '1' : '4' })),
  };
  const { body } = await fleet.planApplication({ spec });
  const message = expect.stringContaining('cannot be host small: web fits, database needs 4 CPUs');
  expect(body.refusals).toEqual([{ part: null, code: 'no_placement', path: 'target', message }]);
  const both = { ...GHOST, parts: GHOST.parts.map((part) => ({ ...part, cpu_request: '1500m' })) };
  const answer = await fleet.createApplication({ spec: both });
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code: 'no_placement' });
  expect(answer.body.errors[0].message).toContain('each part fits alone, but all together needs 3 CPUs');
  expect(await everything()).toEqual(NOTHING);
});

test('a part that is refused is named, and the parts that need it are not', async () => {
  await fleet.aMeshHost();
  const [web, database] = GHOST.parts;
  const refs = { secret_refs: [{ name: 'missing', env: 'ROOT_PASSWORD' }] };
  const answer = await fleet.createApplication({ spec: { ...GHOST, parts: [web, { ...database, ...refs }] } });
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code: 'unknown_secret' });
  expect(new Set(answer.body.errors.map(({ path }: { path: string }) => path))).toEqual(
    new Set(['parts.database.secret_refs']),
  );
  expect(await everything()).toEqual(NOTHING);
});

test.each([
  ['an unknown input', { inputs: { titel: 'x' } }, 'inputs.titel', 'did you mean title?'],
  ['a number for a text', { inputs: { title: 1 } }, 'inputs.title', 'must be text'],
  ['text for a secret', { inputs: { mail_password: 'x' } }, 'inputs.mail_password', 'must be the name of a secret'],
  ['several instances of a part', { replicas: { web: 2 } }, 'replicas.web', 'must be 1'],
  ['an unknown part', { replicas: { worker: 1 } }, 'replicas.worker', 'is not a part'],
  ['an unknown volume mount', { volumes: { 'web/data': {} } }, 'volumes.web/data', 'is not a volume mount'],
  ['a name that is too long', { name: 'x'.repeat(55) }, 'name', 'must have at most 54 characters'],
])('%s is refused with its path', async (_, given, path, message) => {
  await fleet.aMeshHost();
  const answer = await fleet.createApplication(given);
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code: 'validation_failed' });
  expect(answer.body.errors).toEqual([{ path, message: expect.stringContaining(message) }]);
});

test('applications and deployments share their names', async () => {
  await fleet.aMeshHost();
  await fleet.created();
  const again = await fleet.createApplication();
  expect({ status: again.status, code: again.body.code }).toEqual({ status: 409, code: 'name_taken' });
  const { id: workload_id } = await fleet.aWorkload();
  const deployment = await fleet.deploy({ name: 'blog', workload_id });
  expect({ status: deployment.status, code: deployment.body.code }).toEqual({ status: 409, code: 'name_taken' });
});

test('a repeated request with the same key creates one application, and shows its values once', async () => {
  await fleet.aMeshHost();
  const key = { 'Idempotency-Key': 'one' };
  const first = await fleet.createApplication({}, key);
  const second = await fleet.createApplication({}, key);
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body.application.id).toBe(first.body.application.id);
  expect([first.body.generated.length, second.body.generated.length]).toEqual([1, 0]);
  const other = await fleet.createApplication({ inputs: { title: 'Another' } }, key);
  expect({ status: other.status, code: other.body.code }).toEqual({ status: 422, code: 'idempotency_key_reused' });
});

test('a part cannot be changed alone, except by a restart', async () => {
  await fleet.aMeshHost();
  const { application } = await fleet.created();
  const { deployment_id } = application.parts[0];
  const requests = [
    fleet.change(deployment_id, { replicas: 1 }),
    ...['stop', 'start', 'rollback'].map((verb) =>
      fleet.ask(deployment_id, verb, verb === 'rollback' ? {} : undefined),
    ),
    fleet.remove(deployment_id),
    fleet.plan({ deployment_id, replicas: 1 }),
  ];
  for (const answer of await Promise.all(requests))
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 409, code: 'managed_by_application' });
  expect((await fleet.ask(deployment_id, 'restart')).status).toBe(200);
  const change = { operation: 'update' as const, message: 'updated', labels: { team: 'other' }, replicas: 2 };
  const [decided] = await plansIn(fleet).plan(async ({ transaction }) => [
    { kind: 'change', before: await readRow(transaction, deployments, deployment_id), change },
  ]);
  expect(decided).toMatchObject({ refusals: [{ code: 'managed_by_application' }], decision: undefined });
});

test('a generated value is revealed by the application, and never by a part', async () => {
  await fleet.aMeshHost();
  const { application, generated } = await fleet.created();
  const person = await (await fleet.world.aUser('operator')).api();
  const reveal = (path: string) => person.post(`/api/v1/${path}/reveal`);
  expect((await reveal(`applications/${application.id}/values/db_password`)).body).toEqual(generated[0]);
  const ofPart = await reveal(`deployments/${application.parts[0].deployment_id}/values/MYSQL_PASSWORD`);
  expect({ status: ofPart.status, code: ofPart.body.code }).toEqual({ status: 409, code: 'not_revealable' });
  expect(ofPart.body.detail).toContain('the application blog: reveal it there');
  const { body } = await operator.get(`/api/v1/applications/${application.id}/events`);
  expect(body.events[0]).toMatchObject({ reason: 'reveal', part: null, message: 'the value db_password was revealed' });
  const texts = await Promise.all(
    [
      `applications/${application.id}`,
      `applications/${application.id}/events`,
      `applications/${application.id}/generations`,
      `deployments/${application.parts[1].deployment_id}`,
      `deployments/${application.parts[1].deployment_id}/manifest`,
    ].map(async (path) => (await operator.get(`/api/v1/${path}`)).text),
  );
  for (const text of texts) expect(text).not.toContain(generated[0].value);
});

test('parts end in reverse order, and the application is deleted with the last one', async () => {
  await fleet.aMeshHost();
  const { application } = await fleet.created();
  const [database, web] = application.parts.map(({ deployment_id }: { deployment_id: string }) => deployment_id);
  await client.deployment.updateMany({ data: { sent_to_engine: true } });
  const answer = await operator.delete(`/api/v1/applications/${application.id}?volumes=keep`);
  expect(answer.status).toBe(200);
  expect(answer.body.kept_volumes).toEqual(['blog-database-data', 'blog-web-content']);
  expect(answer.body.application).toMatchObject({ phase: 'deleting' });
  expect(await fleet.claimable()).toEqual(['blog-web']);
  expect(await fleet.part(application.id, 'database')).toMatchObject({
    reason: 'WaitingForPart',
    waits_for: [{ part: 'web', until: 'gone' }],
  });
  await fleet.gone(web);
  expect(await fleet.claimable()).toEqual(['blog-database']);
  await fleet.gone(database);
  expect((await operator.get(`/api/v1/applications/${application.id}`)).status).toBe(404);
  expect(await everything()).toEqual({ ...NOTHING, volumes: 2 });
});

test('an application to whose value another deployment is bound is not deleted', async () => {
  await fleet.aMeshHost();
  const { application } = await fleet.created();
  const { id: workload_id } = await fleet.aWorkload({ env_schema: [{ name: 'ADDRESS' }] });
  const env = { ADDRESS: { deployment: 'blog-database', port: 3306, as: 'host:port' } };
  await fleet.deployed({ name: 'reader', workload_id, env });
  const answer = await operator.delete(`/api/v1/applications/${application.id}`);
  expect(answer.body).toMatchObject({ code: 'in_use', errors: [{ path: 'deployment', message: 'reader' }] });
  expect(await client.deployment.count({ where: { deleting: true } })).toBe(0);
});

test('parts share a volume, which is deleted with the last of them', async () => {
  await fleet.aMeshHost();
  const mounts = { volume_mounts: [{ name: 'files', mountPath: '/files', shared: true }] };
  const parts = ['one', 'two'].map((name) => ({ name, image_name: 'team/app', ...mounts }));
  const { application } = await fleet.created({ spec: { parts } });
  const volumes = await client.volume.findMany({ include: { attachments: true } });
  expect(volumes.map(({ access_mode, attachments }) => [access_mode, attachments.length])).toEqual([
    ['ReadWriteMany', 2],
  ]);
  expect((await operator.delete(`/api/v1/applications/${application.id}`)).body.kept_volumes).toEqual([]);
  expect(await everything()).toEqual(NOTHING);
});

test('the list of applications has the state of the parts of each', async () => {
  await fleet.aMeshHost();
  await fleet.created({ labels: { team: 'web' } });
  await fleet.created({ name: 'second' });
  const { body } = await operator.get('/api/v1/applications?label=team=web');
  expect(body.applications.map(({ name }: { name: string }) => name)).toEqual(['blog']);
  expect(partsOf(body.applications[0])).toEqual(['database pending', 'web pending']);
  expect(body.pagination.total).toBe(1);
});
