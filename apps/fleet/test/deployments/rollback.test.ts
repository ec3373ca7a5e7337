import { aTemplate } from '../a-template.ts';
import { startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();

const env_schema = [{ name: 'NAME' }];

/**
 * A deployment with four generations: the first, another revision, another environment, and more
 * replicas.
 */
async function aChangedDeployment() {
  await fleet.aHost();
  const workload = await fleet.aWorkload({ env_schema });
  const { id } = await fleet.deployed({ workload_id: workload.id, env: { NAME: 'first' } });
  await fleet.operator.put(`/api/v1/workloads/${workload.id}`, { image_tag: '2' });
  await fleet.change(id, { revision: 2 });
  await fleet.change(id, { env: { NAME: 'second' } });
  await fleet.ask(id, 'scale', { replicas: 4 });
  return id;
}

const was = (generation: number, replicas: number, NAME: string, revision: number) => ({
  generation,
  replicas,
  env: { NAME },
  revision,
});

test('a rollback to a given generation restores its revision, environment and replicas', async () => {
  const id = await aChangedDeployment();
  const { status, body } = await fleet.ask(id, 'rollback', { generation: 1 });
  expect(status).toBe(200);
  expect(body.deployment).toMatchObject(was(5, 1, 'first', 1));
  expect((await fleet.events(id))[0]).toMatchObject({ reason: 'rollback', message: 'rolled back to generation 1' });
  expect(JSON.stringify(await fleet.manifest(id))).toContain('team/app:latest');
});

test('a rollback without a generation restores the previous one, and a second rollback reverts the first', async () => {
  const id = await aChangedDeployment();
  expect((await fleet.ask(id, 'rollback', {})).body.deployment).toMatchObject(was(5, 1, 'second', 2));
  expect((await fleet.ask(id, 'rollback', {})).body.deployment).toMatchObject(was(6, 4, 'second', 2));
});

test('a rollback skips restarts and stops, which do not change the configuration', async () => {
  const id = await aChangedDeployment();
  await fleet.ask(id, 'restart');
  await fleet.ask(id, 'stop');
  const { body } = await fleet.ask(id, 'rollback', {});
  expect(body.deployment).toMatchObject({ ...was(7, 1, 'second', 2), desired_state: 'stopped', phase: 'stopped' });
});

test('a rollback without an earlier configuration is rejected, and changes nothing', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed();
  await fleet.ask(id, 'restart');
  const before = await fleet.contents();
  const { status, body } = await fleet.ask(id, 'rollback', {});
  expect({ status, code: body.code, detail: body.detail }).toEqual({
    status: 422,
    code: 'deployment_refused',
    detail: expect.stringContaining('nothing to roll back to'),
  });
  expect(await fleet.contents()).toEqual(before);
});

test.each([0, -1, 5, 1.5, '1', null])(
  'a rollback to generation %p gets 400 and changes nothing',
  async (generation) => {
    const id = await aChangedDeployment();
    const before = await fleet.contents();
    expect((await fleet.ask(id, 'rollback', { generation })).status).toBe(400);
    expect(await fleet.contents()).toEqual(before);
  },
);

test('a rollback to a configuration that no longer fits is rejected, and changes nothing', async () => {
  const host = await fleet.aHost({ cpus: 4 });
  const { id } = await fleet.deployed({ replicas: 3 });
  await fleet.ask(id, 'scale', { replicas: 1 });
  await fleet.deployed({ replicas: 2 });
  const before = await fleet.contents();
  const { status, body } = await fleet.ask(id, 'rollback', {});
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'no_placement' });
  expect(await fleet.contents()).toEqual(before);
  expect((await fleet.host(host.id)).allocated.cpu).toBe('3');
});

test('a rollback succeeds if the template is withdrawn and its tier is no longer allowed', async () => {
  await fleet.aHost({ network_types: ['public'], labels: { disk: 'fast' } });
  await fleet.aSecret('password', { PASSWORD: 'hidden' });
  await fleet.aSecret('pull-secret', { username: 'me', password: 'hidden' }, { kind: 'registry', server: 'ghcr.io' });
  const template = aTemplate({ slug: 'going', min_tier: 'pro' });
  fleet.hub.changeOrganization({ tier: 'pro' });
  await fleet.publish(template);
  const { id, workload_id } = await fleet.deployed({ template: 'going', env: { NAME: 'first' } });
  await fleet.publish({ ...template, image_tag: '19' });
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { template: 'going' });
  expect((await fleet.change(id, { revision: 2 })).status).toBe(200);
  fleet.hub.changeOrganization({ tier: 'free' });
  fleet.hub.withdraw(template);
  await fleet.sync();
  await fleet.sync(); // an empty catalog is applied at the second sync
  const { status, body } = await fleet.ask(id, 'rollback', {});
  expect(status).toBe(200);
  expect(body.deployment).toMatchObject({ revision: 1, template_state: 'withdrawn' });
  expect(JSON.stringify(await fleet.manifest(id))).toContain('library/postgres:18');
});
