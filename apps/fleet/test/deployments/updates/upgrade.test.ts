import type { Template } from '@svc/contract';
import { aTemplate } from '../../a-template.ts';
import { type Body, reasonsOf, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();
const { client } = fleet;

const free = {
  volume_mounts: [],
  node_selector: {},
  required_network_types: [],
  registry_credentials: null,
  secret_refs: [],
  env_schema: [],
};
const other = aTemplate({ slug: 'other' });
const first = aTemplate({ slug: 'tool', version: '1.0.0', ...free });
const second: Template = { ...first, version: '1.1.0', image_tag: '19', env: [{ name: 'MODE', value: 'careful' }] };

/** A deployment of the first version of a template, of which the fleet then learns the second one. */
async function anOutdatedTool(next: Template = second, given: Body = {}) {
  await fleet.aHost();
  await fleet.publish(first, other);
  const deployment = await fleet.deployed({ name: 'tool', template: 'tool', ...given });
  await fleet.publish(next, other);
  return deployment;
}

const planned = (id: string, body: Body = {}) => fleet.plan({ deployment_id: id, upgrade: true, ...body });
const digestOf = async (id: string, body: Body = {}): Promise<string> => (await planned(id, body)).body.digest;
const upgrade = (id: string, body: Body) => fleet.ask(id, 'upgrade', body);

test('an upgrade is planned by a viewer with versions and values, and nothing is stored', async () => {
  const { id } = await anOutdatedTool();
  const before = await fleet.contents();
  const answer = await fleet.viewer.post('/api/v1/deployments/plan', { deployment_id: id, upgrade: true });
  expect(answer.body).toMatchObject({
    ok: true,
    template: { from_version: '1.0.0', to_version: '1.1.0' },
    values: [
      { path: 'image', from: 'ghcr.io/library/postgres:18', to: 'ghcr.io/library/postgres:19' },
      { path: 'env.MODE', from: 'fast', to: 'careful' },
    ],
    image: { reference: 'ghcr.io/library/postgres:19', from_digest: null, to_digest: null },
    new_variables: [],
    replaces_instances: true,
  });
  expect(answer.body.digest).toMatch(/^[0-9a-f]{64}$/);
  expect(await fleet.contents()).toEqual(before);
});

test('an upgrade stores the revision and the generation of its plan', async () => {
  const { id, workload_id } = await anOutdatedTool();
  const { manifest, digest } = (await planned(id)).body;
  const answer = await upgrade(id, { expected: digest });
  expect(answer.body.deployment).toMatchObject({ revision: 2, generation: 2, template_state: 'current' });
  expect(await fleet.manifest(id)).toEqual(manifest);
  const { workload } = (await fleet.operator.get(`/api/v1/workloads/${workload_id}`)).body;
  expect(workload).toMatchObject({ revision: 2, template_version: '1.1.0', image_tag: '19' });
  expect((await fleet.events(id))[0]).toMatchObject({ reason: 'upgrade', message: 'updated to the present template' });
});

test('an upgrade keeps what the workload sets itself', async () => {
  const { id, workload_id } = await anOutdatedTool(first);
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { command: ['serve', '--mine'] });
  await fleet.publish(second, other);
  expect((await upgrade(id, { expected: await digestOf(id) })).status).toBe(200);
  const { workload } = (await fleet.operator.get(`/api/v1/workloads/${workload_id}`)).body;
  expect(workload).toMatchObject({ revision: 3, command: ['serve', '--mine'], image_tag: '19' });
});

test('an upgrade uses the latest revision of the workload if it is that of the present template', async () => {
  const { id, workload_id } = await anOutdatedTool();
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { template: 'tool' });
  expect((await upgrade(id, { expected: await digestOf(id) })).body.deployment).toMatchObject({ revision: 2 });
  const unchanged = await upgrade(id, { expected: await digestOf(id) });
  expect(unchanged.body.deployment).toMatchObject({ revision: 2, generation: 2 });
});

test.each<[string, (id: string) => Promise<unknown>, Body]>([
  ['the template has changed again', () => fleet.publish({ ...second, image_tag: '20' }, other), {}],
  ['the deployment has changed', (id) => fleet.change(id, { labels: { team: 'a' } }), {}],
  ['the deployment has another generation', (id) => fleet.ask(id, 'restart'), {}],
  ['the request has other variables than the plan', async () => undefined, { env: { MODE: 'slow' } }],
])('an upgrade changes nothing if %s', async (_title, change, body) => {
  const { id } = await anOutdatedTool();
  const expected = await digestOf(id);
  await change(id);
  const before = await client.workloadRevision.count();
  expect(await upgrade(id, { expected, ...body })).toMatchObject({ status: 409, body: { code: 'plan_outdated' } });
  expect(await client.workloadRevision.count()).toBe(before);
  expect((await fleet.deployment(id)).revision).toBe(1);
});

test('an upgrade with a new required variable is refused without a value, and generates one', async () => {
  const described = { name: 'TOKEN', required: true, default_value: '', description: 'A token' };
  const { id } = await anOutdatedTool({ ...second, env_schema: [described] });
  const refused = await planned(id);
  expect(refused.body).toMatchObject({
    ok: false,
    new_variables: [described],
  });
  expect(reasonsOf(refused)).toEqual([{ path: 'env.TOKEN', message: 'is required and has no value' }]);
  const env = { TOKEN: { generate: 32 } };
  const answer = await upgrade(id, { expected: await digestOf(id, { env }), env });
  expect(answer.body.generated).toEqual([{ name: 'TOKEN', value: expect.stringMatching(/^.{32}$/) }]);
});

test('an upgrade is refused for the same reasons as its plan', async () => {
  const { id } = await anOutdatedTool({ ...second, memory_request: '9000Gi' });
  const plan = await planned(id);
  const answer = await upgrade(id, { expected: plan.body.digest });
  expect(answer).toMatchObject({ status: 422, body: { code: 'no_placement' } });
  expect(reasonsOf(answer)).toEqual(reasonsOf(plan));
});

test('a deployment without a template, or whose template is gone, has no upgrade', async () => {
  await fleet.aHost();
  const own = await fleet.deployed();
  const { id } = await anOutdatedTool();
  fleet.hub.withdraw(second);
  await fleet.sync();
  for (const each of [own.id, id]) {
    expect(await planned(each)).toMatchObject({ status: 422, body: { code: 'no_template' } });
    const answer = await upgrade(each, { expected: 'any' });
    expect(answer).toMatchObject({ status: 422, body: { code: 'no_template' } });
  }
});

test('an upgrade is planned only for a deployment, and without members that it does not change', async () => {
  const { id } = await anOutdatedTool();
  expect(reasonsOf(await fleet.plan({ template: 'tool', upgrade: true }))).toEqual([
    { path: 'upgrade', message: 'must be given only with deployment_id' },
  ]);
  expect(reasonsOf(await planned(id, { replicas: 2, revision: 1 }))).toEqual([
    { path: 'revision', message: 'must not be given with upgrade' },
    { path: 'replicas', message: 'must not be given with upgrade' },
  ]);
});

test('the workload of a deployment that was upgraded is deleted with it', async () => {
  const { id, workload_id } = await anOutdatedTool();
  await upgrade(id, { expected: await digestOf(id) });
  await fleet.remove(id);
  expect((await fleet.operator.get(`/api/v1/workloads/${workload_id}`)).status).toBe(404);
});

describe('the outage that a plan states', () => {
  const endpoint = (port: number, instance: string) => ({
    container_port: 80,
    protocol: 'TCP',
    address: `127.0.0.1:${port}`,
    scope: 'loopback',
    instance,
  });

  /** The outage of a change of a deployment whose instances have addresses. */
  async function outageOf(workload: Body, given: Body, change: Body) {
    const { id, name } = await fleet.deployed({ workload: { ports: [{ containerPort: 80 }], ...workload }, ...given });
    const instances = [0, 1, 2].map((ordinal) => `${name}-${id.slice(-8)}-${ordinal}`);
    const endpoints = instances.map((instance, index) => endpoint(4000 + index, instance));
    const { replicas } = await client.deployment.findUniqueOrThrow({ where: { id } });
    await client.deployment.update({ where: { id }, data: { endpoints: endpoints.slice(0, replicas) } });
    return (await fleet.plan({ deployment_id: id, ...change })).body.outage;
  }

  const schema = { env_schema: [{ name: 'NAME' }] };
  const change = { env: { NAME: 'new' } };

  test('of one replica with a volume on a host is total, and names the volume', async () => {
    await fleet.aHost();
    const mounts = { volume_mounts: [{ name: 'data', mountPath: '/data' }] };
    expect(await outageOf({ ...schema, ...mounts }, { name: 'store' }, change)).toEqual({
      expected: true,
      total: true,
      reason:
        'The only instance ends before its successor starts. Only one instance at a time can use the volume store-data.',
      addresses: ['127.0.0.1:4000'],
      seconds: 10,
    });
  });

  test('of several replicas on a host concerns each address, but never all at once', async () => {
    await fleet.aHost();
    expect(await outageOf(schema, { replicas: 2 }, change)).toMatchObject({
      expected: true,
      total: false,
      addresses: ['127.0.0.1:4000', '127.0.0.1:4001'],
      seconds: 10,
    });
  });

  test('of a change that replaces nothing is none', async () => {
    await fleet.aHost();
    const none = { expected: false, total: false, reason: '', addresses: [], seconds: null };
    expect(await outageOf({}, { replicas: 2 }, { replicas: 3 })).toEqual(none);
    expect(await outageOf({}, {}, { labels: { a: 'b' } })).toEqual(none);
    expect(await outageOf(schema, { desired_state: 'stopped' }, change)).toEqual(none);
  });

  test('of removed and stopped instances lasts', async () => {
    await fleet.aHost();
    expect(await outageOf({}, { replicas: 2 }, { replicas: 1 })).toMatchObject({
      expected: true,
      total: false,
      addresses: ['127.0.0.1:4001'],
      seconds: null,
    });
    expect(await outageOf({}, {}, { desired_state: 'stopped' })).toMatchObject({ total: true, seconds: null });
  });

  test('on a cluster is none, unless the old pod must end first', async () => {
    await fleet.aCluster();
    expect(await outageOf(schema, {}, change)).toMatchObject({ expected: false });
    const mounts = { volume_mounts: [{ name: 'data', mountPath: '/data' }] };
    expect(await outageOf({ ...schema, ...mounts }, {}, change)).toMatchObject({
      expected: true,
      total: true,
      reason: 'The old pod ends before the new one can use its ReadWriteOnce volume.',
    });
  });
});

test('a plan shows no values of secrets', async () => {
  await fleet.aHost();
  await fleet.aSecret('password', { PASSWORD: 'hidden-1' });
  const env_schema = [{ name: 'PASSWORD', description: 'The password [secret]' }, { name: 'NAME' }];
  const { id } = await fleet.deployed({
    workload: { env_schema },
    env: { NAME: 'old', PASSWORD: { secret: 'password', key: 'PASSWORD' } },
  });
  const { body } = await fleet.plan({ deployment_id: id, env: { NAME: 'x'.repeat(300), PASSWORD: { generate: 20 } } });
  expect(body.values).toEqual([{ path: 'env.NAME', from: 'old', to: `${'x'.repeat(199)}…` }]);
});
