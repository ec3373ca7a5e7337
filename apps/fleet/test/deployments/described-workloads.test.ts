import { aTemplate } from '../a-template.ts';
import { reasonsOf, startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();
const { client } = fleet;

const spec = {
  image_name: 'team/app',
  image_tag: '1.2',
  command: ['--verbose'],
  ports: [{ containerPort: 80 }],
  volume_mounts: [{ name: 'data', mountPath: '/data' }],
  env: [{ name: 'SVC_HEALTH_CHECK', value: 'tcp:80' }],
  env_schema: [
    { name: 'MODE', default_value: 'fast' },
    { name: 'PASSWORD', required: true, description: '[secret]' },
  ],
};
const body = { name: 'app', spec, env: { PASSWORD: { generate: 32 } }, volumes: { data: { size: '1Gi' } } };

/** The names of everything that a creation stores. */
const stored = async () => ({
  workloads: (await client.workload.findMany()).map(({ name }) => name),
  revisions: await client.workloadRevision.count(),
  deployments: (await client.deployment.findMany()).map(({ name }) => name),
  volumes: await client.volume.count(),
});
const nothing = { workloads: [], revisions: 0, deployments: [], volumes: 0 };

test('one request creates the workload that it describes and its deployment, as planned, and deletes both', async () => {
  const host = await fleet.aHost();
  const plan = await fleet.plan(body);
  expect(plan.body).toMatchObject({ ok: true, refusals: [], placement: { target: { host_id: host.id } } });
  expect(await stored()).toEqual(nothing);

  const key = { 'Idempotency-Key': 'once' };
  const created = await fleet.deploy(body, key);
  expect(created).toMatchObject({
    status: 201,
    body: { deployment: { name: 'app', template_slug: null, revision: 1 } },
  });
  expect((await fleet.deploy(body, key)).body.deployment.id).toBe(created.body.deployment.id);
  const { id, workload_id } = created.body.deployment;
  const { workload } = (await fleet.operator.get(`/api/v1/workloads/${workload_id}`)).body;
  expect(workload).toMatchObject({ name: 'app', ...spec, env_schema: [{ name: 'MODE' }, { name: 'PASSWORD' }] });
  expect(await fleet.manifest(id)).toHaveLength(plan.body.manifest.length);
  expect(await stored()).toEqual({ workloads: ['app'], revisions: 1, deployments: ['app'], volumes: 1 });

  expect((await fleet.remove(id)).status).toBe(200);
  expect(await stored()).toEqual(nothing);
  expect((await fleet.plan(body)).body.ok).toBe(true);
});

test('a workload that was changed after its creation remains', async () => {
  await fleet.aHost();
  const { id, workload_id } = (await fleet.deploy(body)).body.deployment;
  expect((await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { image_tag: '1.3' })).status).toBe(200);
  expect((await fleet.remove(id)).status).toBe(200);
  expect(await stored()).toEqual({ ...nothing, workloads: ['app'], revisions: 2 });
});

test('a refused request stores nothing, and a plan states the same reasons', async () => {
  await fleet.aHost();
  await fleet.aWorkload({ name: 'app' });
  const before = await stored();
  const refused = { ...body, spec: { ...spec, image_name: '', gpu_count: 1 }, env: {} };
  const answer = await fleet.deploy(refused);
  expect(answer).toMatchObject({ status: 422, body: { code: 'deployment_refused' } });
  expect(reasonsOf(answer)).toEqual(reasonsOf(await fleet.plan(refused)));
  expect(reasonsOf(answer).map(({ path }) => path)).toEqual(['name', 'image_name', 'env.PASSWORD', 'target']);
  expect(await stored()).toEqual(before);
});

describe('a request is invalid', () => {
  const secret = { name: 'PASSWORD', description: '[secret]' };
  test.each([
    [
      'with text for a secret variable',
      { spec: { ...spec, env: [{ name: 'PASSWORD', value: 'x' }], env_schema: [secret] } },
      'spec.env.0.value',
    ],
    ['with a registry in the name of the image', { spec: { image_name: 'ghcr.io/team/app' } }, 'spec.image_name'],
    ['with a quantity of another unit', { spec: { ...spec, memory_request: '512m' } }, 'spec.memory_request'],
    ['with an unknown member', { spec: { ...spec, image: 'x' } }, 'spec.image'],
    ['with a template as well', { spec, template: 'tool' }, 'workload_id'],
    ['with a revision', { spec, revision: 1 }, 'revision'],
  ])('%s', async (_, given, path) => {
    await fleet.publish(aTemplate({ slug: 'tool' }));
    for (const answer of [await fleet.deploy(given), await fleet.plan(given)]) {
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed', errors: [{ path }] } });
    }
    expect(await stored()).toEqual(nothing);
  });

  test('as a change of a deployment', async () => {
    await fleet.aHost();
    const { id } = await fleet.deployed();
    expect((await fleet.plan({ deployment_id: id, spec })).body.errors).toMatchObject([{ path: 'spec' }]);
    expect((await fleet.change(id, { spec })).body.errors).toMatchObject([{ path: 'spec' }]);
  });
});

test('a field error states its code if its message has the syntax of the API', async () => {
  await fleet.aHost();
  const answer = await fleet.deploy({ ...body, env: { PASSWORD: 'x', MODE: 1 }, target: { host_id: 'x' } });
  expect(answer.body.errors).toMatchObject([
    { path: 'target.host_id', code: 'uuid' },
    { path: 'env.MODE', code: 'env_value' },
  ]);
  const secret = await fleet.deploy({ ...body, env: { PASSWORD: 'x' } });
  expect(secret.body.errors).toMatchObject([{ path: 'env.PASSWORD', code: 'secret_text' }]);
  const other = await fleet.deploy({ ...body, replicas: 0 });
  expect(other.body.errors).toEqual([{ path: 'replicas', message: 'must be at least 1' }]);
});
