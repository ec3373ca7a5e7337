// Changes of applications: one generation for all parts, the return of the whole, and what is kept.

import { createCandidates } from '../../src/deployments/candidates.ts';
import { continueApplication } from '../../src/reconciler/applications.ts';
import { receivedBy, secretVariable } from '../deployments/values/variables.ts';
import type { Body } from '../deployments/world.ts';
import { updatesIn } from './good.ts';
import { GHOST, startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld();
const { client, fails, operator } = fleet;
const [web, database] = GHOST.parts;
const withWeb = (given: object) => ({ ...GHOST, parts: [{ ...web, ...given }, database] });

const { worker, observe, aGoodOne } = updatesIn(fleet);
const put = (id: string, body: Body) => operator.put(`/api/v1/applications/${id}`, body);
const ask = (id: string, verb: string, body?: Body) => operator.post(`/api/v1/applications/${id}/${verb}`, body);
const generationsOf = async (id: string) =>
  (await operator.get(`/api/v1/applications/${id}/generations`)).body.generations.map(
    ({ generation, operation, outcome }: Record<string, unknown>) => `${generation} ${operation} ${outcome}`,
  );
const imageOf = async (id: string, part: string) => (await fleet.part(id, part))?.image;

test('the same content changes nothing, and a changed part is one generation', async () => {
  const id = await aGoodOne();
  expect((await put(id, { spec: GHOST })).body.application.generation).toBe(1);
  const { body: plan } = await operator.post('/api/v1/applications/plan', {
    application_id: id,
    spec: withWeb({ image_tag: '7' }),
  });
  expect(plan.parts.map(({ name, action }: Record<string, string>) => `${name} ${action}`)).toEqual([
    'database keep',
    'web change',
  ]);
  const answer = await put(id, { spec: withWeb({ image_tag: '7' }), expected: plan.digest });
  expect(answer.status).toBe(200);
  expect(answer.body.generated).toEqual([]);
  expect(answer.body.application).toMatchObject({ generation: 2, good_generation: 1, outcome: null });
  expect([await imageOf(id, 'web'), await imageOf(id, 'database')]).toEqual([
    'docker.io/library/ghost:7',
    'docker.io/library/mysql:8.4',
  ]);
  expect((await fleet.part(id, 'database')).generation).toBe(1);
  await fleet.proven(id, 'web');
  await observe(id);
  expect(await generationsOf(id)).toEqual(['2 update good', '1 create good']);
  const again = await put(id, { spec: withWeb({ image_tag: '8' }), expected: plan.digest });
  expect({ status: again.status, code: again.body.code }).toEqual({ status: 409, code: 'plan_outdated' });
});

test('a generation of which a part fails returns as a whole, once, and is not tried again', async () => {
  const id = await aGoodOne();
  const inputs = { title: 'Another' };
  const broken = {
    ...GHOST,
    parts: [
      { ...web, image_tag: 'broken' },
      { ...database, image_tag: '9' },
    ],
  };
  await put(id, { spec: broken, inputs });
  await fleet.proven(id, 'database');
  await fails(id, 'web');
  await Promise.all([observe(id), observe(id)]);
  expect(await fleet.application(id)).toMatchObject({
    generation: 3,
    failed_generation: 2,
    good_generation: 1,
    inputs: {},
  });
  expect([await imageOf(id, 'web'), await imageOf(id, 'database')]).toEqual([
    'docker.io/library/ghost:6',
    'docker.io/library/mysql:8.4',
  ]);
  expect(await generationsOf(id)).toEqual(['3 rollback null', '2 update failed', '1 create good']);
  const { body } = await operator.get(`/api/v1/applications/${id}/events`);
  const messages = body.events.filter(({ part }: Body) => part === null).map(({ message }: Body) => message);
  expect(messages).toContain(
    'Generation 2 has failed: the part web has failed (ImageNotFound). The fleet returns to generation 1.',
  );
  const again = await put(id, { spec: broken, inputs });
  expect({ status: again.status, code: again.body.code }).toEqual({ status: 409, code: 'update_held' });
  for (const part of ['database', 'web']) await fleet.proven(id, part);
  await observe(id);
  expect(await generationsOf(id)).toEqual(['3 rollback good', '2 update failed', '1 create good']);
  expect((await put(id, { spec: broken, inputs, force: true })).body.application.generation).toBe(4);
});

test('a worker that is killed while it returns leaves nothing half done, and the next one returns once', async () => {
  const id = await aGoodOne();
  await put(id, { spec: withWeb({ image_tag: 'broken' }) });
  await fails(id, 'web');
  const before = await fleet.contents();
  const killed = () => Promise.reject(new Error('killed'));
  await expect(
    continueApplication({ ...worker, candidates: { ...createCandidates(), read: killed, readOnce: killed } }, id),
  ).rejects.toThrow('killed');
  expect(await fleet.contents()).toEqual(before);
  await observe(id);
  await observe(id);
  expect(await generationsOf(id)).toEqual(['3 rollback null', '2 update failed', '1 create good']);
});

test('a return that fails as well, and a first generation that fails, wait for a person', async () => {
  const id = await aGoodOne();
  await put(id, { spec: withWeb({ image_tag: 'broken' }) });
  await fails(id, 'web');
  await observe(id);
  await fails(id, 'web');
  await observe(id);
  await observe(id);
  expect(await generationsOf(id)).toEqual(['3 rollback failed', '2 update failed', '1 create good']);
  const { application } = await fleet.created({ name: 'first' });
  await fails(application.id, 'database');
  await observe(application.id);
  expect(await fleet.application(application.id)).toMatchObject({
    generation: 1,
    outcome: 'failed',
    outcome_reason: 'database: ImageNotFound',
  });
});

test('an application whose new instance has written to a volume returns only if its policy says so', async () => {
  const id = await aGoodOne();
  await put(id, { spec: withWeb({ image_tag: 'broken' }) });
  await fails(id, 'web', { hasRun: true });
  await observe(id);
  expect(await generationsOf(id)).toEqual(['2 update failed', '1 create good']);
  expect((await ask(id, 'rollback')).body.application).toMatchObject({ generation: 3, failed_generation: null });
  await put(id, { spec: withWeb({ image_tag: 'other' }), on_failure: 'roll_back' });
  await fails(id, 'web', { hasRun: true });
  await observe(id);
  expect(await fleet.application(id)).toMatchObject({ generation: 5, failed_generation: 4 });
});

test('a part that is removed runs until the generation is good, and a rollback restores it with its volume', async () => {
  const id = await aGoodOne();
  const worker = { name: 'worker', image_name: 'team/worker', volume_mounts: [{ name: 'work', mountPath: '/work' }] };
  await put(id, { spec: { ...GHOST, parts: [...GHOST.parts, worker] } });
  await fleet.proven(id, 'worker');
  await observe(id);
  const { storage_id } = (await fleet.deployment((await fleet.part(id, 'worker')).deployment_id)).volumes.work;
  await put(id, { spec: withWeb({ image_tag: '7' }) });
  expect(await fleet.part(id, 'worker')).toMatchObject({ removed: true, phase: 'running' });
  await fleet.proven(id, 'web');
  await observe(id);
  const removed = await fleet.part(id, 'worker');
  expect(removed).toMatchObject({ removed: true, phase: 'deleting' });
  await fleet.gone(removed.deployment_id);
  expect(await fleet.part(id, 'worker')).toBeUndefined();
  expect(await client.volume.count({ where: { id: storage_id } })).toBe(1);
  expect((await ask(id, 'rollback', { generation: 2 })).body.application.generation).toBe(4);
  const restored = await fleet.part(id, 'worker');
  expect((await fleet.deployment(restored.deployment_id)).volumes.work.storage_id).toBe(storage_id);
  expect(await imageOf(id, 'web')).toBe('docker.io/library/ghost:6');
});

test('an application stops in reverse order, starts in order, and keeps volumes and values', async () => {
  const id = await aGoodOne();
  await client.deployment.updateMany({ data: { sent_to_engine: true } });
  const values = await client.sealedValue.findMany();
  expect((await ask(id, 'stop')).body.application).toMatchObject({ generation: 2, desired_state: 'stopped' });
  expect(await fleet.claimable()).toEqual(['blog-web']);
  const stopped = { phase: 'stopped', observed_generation: 2 };
  await client.deployment.updateMany({ where: { part: 'web' }, data: stopped });
  expect(await fleet.claimable()).toContain('blog-database');
  await client.deployment.updateMany({ where: { part: 'database' }, data: stopped });
  expect((await fleet.application(id)).phase).toBe('stopped');
  await ask(id, 'start');
  expect(await fleet.claimable()).toEqual(['blog-database']);
  await fleet.runs(id, 'database');
  expect(await fleet.claimable()).toContain('blog-web');
  expect(await client.sealedValue.findMany()).toEqual(values);
});

test('an application that is created without being started has its target, and starts as a whole', async () => {
  const host = await fleet.aMeshHost();
  const without = await fleet.createApplication({ desired_state: 'stopped' });
  expect(without.body.errors).toEqual([{ path: 'target', message: expect.stringContaining('is required') }]);
  const { application } = await fleet.created({ desired_state: 'stopped', target: { host_id: host.id } });
  expect(application).toMatchObject({ phase: 'stopped', target: { host_id: host.id } });
  expect(await fleet.claimable()).toEqual([]);
  expect((await ask(application.id, 'start')).status).toBe(200);
  expect(await fleet.claimable()).toEqual(['blog-database']);
});

test('deployments become parts with their names, volumes and values, and their instances are replaced once', async () => {
  const host = await fleet.aMeshHost();
  const { id: workload_id } = await fleet.aWorkload({
    image_name: 'library/mysql',
    ports: [{ containerPort: 3306 }],
    volume_mounts: [{ name: 'data', mountPath: '/var/lib/mysql' }],
    env_schema: [secretVariable('MYSQL_PASSWORD')],
  });
  const old = await fleet.deployed({ name: 'old-db', workload_id, env: { MYSQL_PASSWORD: { generate: 32 } } });
  const password = (await receivedBy(fleet, old.id)).env.MYSQL_PASSWORD;
  const adopt = { database: 'old-db' };
  const values = { db_password: { deployment: 'old-db', variable: 'MYSQL_PASSWORD' } };
  const { body: plan } = await fleet.planApplication({ adopt });
  expect(plan.parts.map(({ name, action }: Record<string, string>) => `${name} ${action}`)).toEqual([
    'database change',
    'web create',
  ]);
  const { application, generated } = await fleet.created({ adopt, values, expected: plan.digest });
  expect(generated).toEqual([]);
  expect(application.target).toEqual({ host_id: host.id, cluster_id: null });
  const part = await fleet.deployment((await fleet.part(application.id, 'database')).deployment_id);
  expect(part).toMatchObject({ id: old.id, name: 'old-db', generation: 2, volumes: old.volumes });
  expect((await receivedBy(fleet, old.id)).env.MYSQL_PASSWORD).toBe(password);
  const again = await fleet.createApplication({ name: 'other', adopt });
  expect({ status: again.status, code: again.body.code }).toEqual({ status: 409, code: 'not_adoptable' });
  const unknown = await fleet.createApplication({ name: 'other', adopt: { database: 'missing' } });
  expect(unknown.body.errors).toEqual([{ path: 'adopt.database', message: expect.stringContaining('does not exist') }]);
});

test('a scalable part is scaled, and others are not', async () => {
  const spec = {
    parts: [
      { name: 'web', image_name: 'team/web', scalable: true },
      { name: 'cache', image_name: 'team/cache' },
    ],
  };
  const id = await aGoodOne({ spec });
  expect((await ask(id, 'scale', { replicas: { web: 3 } })).body.application.generation).toBe(2);
  expect((await fleet.part(id, 'web')).replicas).toBe(3);
  const refused = await ask(id, 'scale', { replicas: { cache: 2 } });
  expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 409, code: 'not_scalable' });
  expect(
    (await put(id, { spec: { parts: [{ name: 'web', image_name: 'team/web', image_tag: '2', scalable: true }] } }))
      .status,
  ).toBe(200);
  expect((await fleet.part(id, 'web')).replicas).toBe(3);
});

test('a restart replaces the instances of all parts in order', async () => {
  const id = await aGoodOne();
  await ask(id, 'restart');
  const generations = (await fleet.application(id)).parts.map(({ generation }: Body) => generation);
  expect(generations).toEqual([2, 2]);
  expect(await fleet.claimable()).toEqual(['blog-database']);
});

test('a new required input, and a change that is refused, change nothing', async () => {
  const id = await aGoodOne();
  const before = await fleet.contents();
  const needed = await put(id, { spec: { ...GHOST, inputs: [...GHOST.inputs, { name: 'host' }] } });
  expect(needed.body.errors).toEqual([{ path: 'inputs.host', message: 'is required' }]);
  const refused = await put(id, { spec: withWeb({ cpu_request: '1000' }) });
  expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 422, code: 'no_placement' });
  expect(refused.body.errors[0].path).toBe('parts.web.target');
  expect(await fleet.contents()).toEqual(before);
});
