// Text of secret variables that was stored before the variables were declared secret, such as by
// version 0.1.0.
import { createLog } from '@svc/http';
import { eventually, onServer } from '@svc/testing';
import { startSealing } from '../../../src/deployments/values/seal-text.ts';
import { aTemplate } from '../../a-template.ts';
import { startDeploymentWorld } from '../world.ts';
import { receivedBy, secretVariable } from './variables.ts';

const fleet = await startDeploymentWorld();
const log = createLog('fleet', 'silent');

const FIRST = 'first-password-of-0.1.0';
const SECOND = 'second-password-of-0.1.0';

const undeclared = { ...secretVariable('PASSWORD'), description: 'The password.' };
const published = aTemplate({
  slug: 'database',
  env: [],
  env_schema: [undeclared, { ...undeclared, name: 'USER', required: false }],
  secret_refs: [],
  registry_credentials: null,
  required_network_types: [],
  node_selector: {},
  volume_mounts: [],
  tolerations: [],
});
/** The template declares that its password is secret. */
const declare = () =>
  fleet.publish({
    ...published,
    env_schema: published.env_schema.map((entry) => (entry.name === 'PASSWORD' ? secretVariable('PASSWORD') : entry)),
    updated_at: new Date(Date.now() + 60_000).toISOString(),
  });

/** A deployment with text for a variable that its template then declares as secret. */
async function anOldDeployment() {
  await fleet.publish(published);
  const { id } = await fleet.deployed({ template: 'database', env: { PASSWORD: FIRST, USER: 'ada' } });
  expect((await fleet.change(id, { env: { PASSWORD: SECOND, USER: 'ada' } })).status).toBe(200);
  const before = await receivedBy(fleet, id);
  await declare();
  return { id, before };
}

const start = () => startSealing({ database: fleet.world.database, sealer: fleet.world.sealer, log, interval: 20 });
/** The text of the tables in which the variables of deployments and workloads are stored. */
async function stored(): Promise<string> {
  const { client } = fleet;
  return JSON.stringify([
    await client.deployment.findMany({ select: { env: true } }),
    await client.deploymentRevision.findMany(),
    await client.workloadRevision.findMany(),
    await client.sealedValue.findMany(),
  ]);
}
const isSealed = async () => !/password-of-0\.1\.0/.test(await stored());
/** Seals until no text remains. */
async function seal(replicas = 1) {
  const running = Array.from({ length: replicas }, start);
  await eventually('all text is sealed', isSealed).finally(() => Promise.all(running.map((each) => each.stop())));
}
const readable = async (id: string) => {
  const { workload_id } = await fleet.deployment(id);
  const paths = [
    ...['', '/manifest', '/revisions', '/events'].map((part) => `deployments/${id}${part}`),
    ...['deployments', 'workloads', `workloads/${workload_id}`, `workloads/${workload_id}/revisions`],
  ];
  const answers = await Promise.all(paths.map((path) => fleet.viewer.get(`/api/v1/${path}`)));
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
  return answers.map(({ text }) => text).join('\n');
};

test('text is masked for all readers as soon as its variable is declared secret', async () => {
  await fleet.aHost();
  const { id } = await anOldDeployment();
  expect(await stored()).toContain(FIRST);
  expect(await readable(id)).not.toContain('password-of-0.1.0');
  expect((await fleet.deployment(id)).env).toEqual({ PASSWORD: { sealed: true }, USER: 'ada' });
});

test.each([1, 2])(
  '%i replicas seal text in deployments and their revisions, and no container is replaced',
  async (replicas) => {
    await fleet.aHost();
    const { id, before } = await anOldDeployment();
    await seal(replicas);
    expect(await receivedBy(fleet, id)).toEqual(before);
    expect(await fleet.deployment(id)).toMatchObject({
      env: { PASSWORD: { sealed: true }, USER: 'ada' },
      generation: 2,
    });
    expect(await readable(id)).not.toContain('password-of-0.1.0');
    expect(await fleet.client.sealedValue.count()).toBe(2); // one for each distinct text
  },
);

test('a sealed value is kept when it is sent back, and a rollback restores an earlier one', async () => {
  await fleet.aHost();
  const { id, before } = await anOldDeployment();
  await seal();
  expect((await fleet.change(id, await fleet.deployment(id))).body.deployment.generation).toBe(2);
  expect((await fleet.change(id, { env: { PASSWORD: { sealed: true }, USER: 'bob' } })).status).toBe(200);
  expect((await receivedBy(fleet, id)).env).toEqual({ ...before.env, USER: 'bob' });
  expect((await fleet.ask(id, 'rollback', { generation: 1 })).status).toBe(200);
  expect((await receivedBy(fleet, id)).env.PASSWORD).toBe(FIRST);
  expect((await fleet.change(id, { env: { PASSWORD: SECOND } })).status).toBe(400);
});

test('a value that is sent back before it is sealed is kept', async () => {
  await fleet.aHost();
  const { id, before } = await anOldDeployment();
  expect((await fleet.change(id, await fleet.deployment(id))).body.deployment.generation).toBe(2);
  expect((await fleet.change(id, { env: { PASSWORD: { sealed: true } } })).status).toBe(200);
  await seal();
  expect((await receivedBy(fleet, id)).env.PASSWORD).toBe(before.env.PASSWORD);
});

test('on a cluster, the pods keep the value until a restart moves it into a Secret', async () => {
  await fleet.aCluster();
  const { id, before } = await anOldDeployment();
  await seal();
  expect((await receivedBy(fleet, id)).podTemplate).toBe(before.podTemplate);
  const messages = async () =>
    (await fleet.deployment(id)).conditions.map(({ message }: { message: string }) => message);
  expect((await messages()).join()).toContain('moves sealed values into a Secret');
  expect((await fleet.ask(id, 'scale', { replicas: 2 })).status).toBe(200);
  expect((await receivedBy(fleet, id)).podTemplate).toBe(before.podTemplate);
  expect((await fleet.ask(id, 'restart')).status).toBe(200);
  const after = await receivedBy(fleet, id);
  expect(after.env.PASSWORD).toBe(SECOND);
  expect(after.podTemplate).not.toContain(SECOND);
  expect((await messages()).join()).not.toContain('Secret');
});

test('text in a workload is masked and sealed, and its deployments and later revisions keep it', async () => {
  await fleet.aHost();
  await fleet.publish(published);
  const env = [
    { name: 'PASSWORD', value: FIRST },
    { name: 'USER', value: 'ada' },
  ];
  const { id: workload_id } = await fleet.aWorkload({ template: 'database', image_name: 'team/app', env });
  const { id } = await fleet.deployed({ workload_id });
  const before = await receivedBy(fleet, id);
  await declare();
  expect(await readable(id)).not.toContain(FIRST);
  await seal();
  expect(await receivedBy(fleet, id)).toEqual(before);
  expect(await readable(id)).not.toContain(FIRST);

  const path = `/api/v1/workloads/${workload_id}`;
  const { workload } = (await fleet.operator.get(path)).body;
  expect(workload.env).toEqual([{ name: 'PASSWORD', value: '(secret)' }, env[1]]);
  expect((await fleet.operator.put(path, workload)).body.workload.revision).toBe(1);
  const changed = await fleet.operator.put(path, { env: [workload.env[0], { name: 'USER', value: 'bob' }] });
  expect(changed.body.workload.revision).toBe(2);
  expect((await fleet.operator.put(path, { image_tag: '2' })).body.workload.revision).toBe(3);
  expect((await fleet.operator.put(path, { env })).status).toBe(400);
  expect((await fleet.change(id, { revision: 3 })).status).toBe(200);
  expect((await receivedBy(fleet, id)).env).toMatchObject({ PASSWORD: FIRST, USER: 'bob' });
});

test('nothing is sealed while a replica of version 0.1.0 is connected, because it cannot read sealed values', async () => {
  await fleet.aHost();
  const { id, before } = await anOldDeployment();
  const url = fleet.world.databaseUrl;
  await onServer(`${url}?application_name=fleet`, async () => {
    const info = jest.spyOn(log, 'info');
    const sealing = start();
    await eventually('a round has ended', async () => info.mock.calls.length > 1);
    await sealing.stop();
    expect(await stored()).toContain(FIRST);
  });
  expect(await readable(id)).not.toContain('password-of-0.1.0');
  await seal();
  expect(await receivedBy(fleet, id)).toEqual(before);
});

test('revisions of workloads otherwise remain immutable', async () => {
  const { id } = await fleet.aWorkload();
  const change = (statement: string) =>
    fleet.client.$transaction(async (transaction) => {
      await transaction.$executeRaw`SELECT set_config('fleet.seals_values', 'on', true)`;
      await transaction.$executeRawUnsafe(`UPDATE workload_revisions SET ${statement} WHERE workload_id = '${id}'`);
    });
  await expect(change(`spec = spec || '{"image_name": "evil"}'`)).rejects.toThrow();
  await expect(change(`created_by = 'nobody'`)).rejects.toThrow();
  await expect(
    fleet.client
      .$executeRaw`UPDATE workload_revisions SET spec = spec || '{"env": []}' WHERE workload_id = ${id}::uuid`,
  ).rejects.toThrow();
});
