import { randomUUID } from 'node:crypto';
import { aTemplate } from '../a-template.ts';
import { expectRefusedIn, fieldError } from './expect-refused.ts';
import { startDeploymentWorld } from './world.ts';

const it = await startDeploymentWorld();
const refused = expectRefusedIn(it);

/** Members of a template without requirements. */
const plain = {
  env_schema: [],
  volume_mounts: [],
  node_selector: {},
  required_network_types: [],
  registry_credentials: null,
  secret_refs: [],
};

describe('a deployment is rejected because of its variables', () => {
  const workload = {
    env: [{ name: 'MODE', value: 'fast' }],
    env_schema: [
      { name: 'NAME', required: true },
      { name: 'CITY', required: true },
    ],
    secret_refs: [{ name: 'password', env: 'PASSWORD' }],
  };

  test('with all missing, unknown and secret variables reported together', async () => {
    await it.aHost();
    await it.aSecret('password', { value: 'hidden' });
    const { id } = await it.aWorkload(workload);
    const env = { PASSWORD: 'mine', NOTHING: 'x', constructor: 'x' };
    expect(await refused({ workload_id: id, env }, 'invalid_env')).toEqual([
      fieldError('env.NOTHING', 'not a variable of this workload', 'CITY', 'MODE'),
      fieldError('env.PASSWORD', 'set by the secret "password"'),
      fieldError('env.constructor', 'not a variable of this workload'),
      fieldError('env.NAME', 'required'),
      fieldError('env.CITY', 'required'),
    ]);
  });

  test('if a required variable is empty', async () => {
    await it.aHost();
    const { id } = await it.aWorkload({ env_schema: [{ name: 'NAME', required: true }] });
    expect(await refused({ workload_id: id, env: { NAME: '' } }, 'invalid_env')).toEqual([
      fieldError('env.NAME', 'required'),
    ]);
  });
});

describe('a deployment of a value that this fleet does not support', () => {
  const unsupported = { path: 'cpu_request', message: expect.stringContaining('the template has "abc"') };

  test('in a template is rejected, and so is its plan', async () => {
    await it.aHost();
    await it.publish(aTemplate({ ...plain, slug: 'newer', cpu_request: 'abc' }));
    for (const answer of [await it.deploy({ template: 'newer' }), await it.plan({ template: 'newer' })]) {
      expect([answer.status, answer.body.code]).toEqual([422, 'unsupported_value']);
      expect(answer.body.errors).toEqual([unsupported]);
    }
    expect(await it.client.workload.count()).toBe(0);
  });

  test('in a workload that release 0.1.0 stored is rejected, and a change to its other revision is too', async () => {
    await it.aHost();
    const { id, workload_id } = await it.deployed({});
    const { client } = it;
    await client.$executeRaw`
      INSERT INTO workload_revisions (workload_id, revision, spec, overrides, secret_names, created_by)
      SELECT workload_id, 2, spec || '{"cpu_request": "abc"}', overrides, secret_names, created_by FROM workload_revisions`;
    await client.$executeRaw`UPDATE workloads SET revision = 2`;
    const answers = [
      await it.deploy({ workload_id }),
      await it.plan({ workload_id, desired_state: 'stopped' }),
      await it.plan({ deployment_id: id, revision: 2 }),
      await it.admin.put(`/api/v1/deployments/${id}`, { revision: 2 }),
    ];
    for (const { status, body } of answers) {
      expect({ status, code: body.code, errors: body.errors }).toEqual({
        status: 422,
        code: 'unsupported_value',
        errors: [unsupported],
      });
    }
  });
});

describe('a deployment is rejected because of its secrets', () => {
  test('if a secret or a key does not exist, or a pull secret is of another kind', async () => {
    await it.aHost();
    await it.aSecret('two-keys', { one: '1', two: '2' });
    await it.aSecret('opaque', { token: 'x' });
    const { id } = await it.aWorkload({
      secret_refs: [
        { name: 'absent', env: 'A' },
        { name: 'two-keys', env: 'B' },
        { name: 'two-keys', key: 'three', env: 'C' },
        { name: 'two-keys', key: 'two', env: 'D' },
      ],
      registry_credentials: 'opaque',
    });
    expect(await refused({ workload_id: id }, 'unknown_secret')).toEqual([
      fieldError('secret_refs', 'the secret absent'),
      fieldError('secret_refs', 'a key for B', 'two-keys', 'one, two'),
      fieldError('secret_refs', 'the key three', 'two-keys'),
      fieldError('registry_credentials', 'opaque', 'kind registry'),
    ]);
  });

  test('if its pull secret does not exist', async () => {
    await it.aHost();
    const { id } = await it.aWorkload({ registry_credentials: 'pull-secret' });
    expect(await refused({ workload_id: id }, 'unknown_secret')).toEqual([fieldError('secret_refs', 'pull-secret')]);
  });
});

describe('a template with a minimum tier', () => {
  test.each([
    { has: 'free', asks: 'pro' },
    { has: 'pro', asks: 'enterprise' },
    { has: undefined, asks: 'pro' },
  ])('of $asks is rejected for an organization with $has', async ({ has, asks }) => {
    await it.aHost();
    if (has) it.hub.changeOrganization({ tier: has });
    await it.publish(aTemplate({ ...plain, slug: 'costly', min_tier: asks }), aTemplate({ ...plain, slug: 'cheap' }));
    if (!has) await it.client.$executeRaw`UPDATE catalog_sync SET organization = NULL`;
    expect(await refused({ template: 'costly' }, 'tier_too_low')).toEqual([
      fieldError('template', asks, has ?? 'free'),
    ]);
    expect((await it.deploy({ template: 'cheap' })).status).toBe(201);
  });

  test('is also rejected as a workload, and its existing deployments can be operated', async () => {
    await it.aHost();
    it.hub.changeOrganization({ tier: 'pro' });
    await it.publish(aTemplate({ ...plain, slug: 'costly', min_tier: 'pro' }));
    const workload = await it.aWorkload({ template: 'costly' });
    const running = await it.deployed({ workload_id: workload.id });
    it.hub.changeOrganization({ tier: 'free' });
    await it.sync();
    expect(await refused({ workload_id: workload.id }, 'tier_too_low')).toEqual([
      fieldError('template', 'pro', 'free'),
    ]);
    expect((await it.ask(running.id, 'scale', { replicas: 2 })).status).toBe(200);
    expect((await it.ask(running.id, 'stop')).status).toBe(200);
    expect((await it.ask(running.id, 'start')).status).toBe(200);
  });
});

describe('a request for a deployment with', () => {
  const unknown = randomUUID();

  test.each([
    { what: 'an unknown workload', body: { workload_id: unknown }, status: 422, code: 'unknown_workload' },
    { what: 'an unknown template', body: { template: 'not-there' }, status: 404, code: 'not_found' },
    { what: 'neither a workload nor a template', body: {}, status: 400, code: 'validation_failed' },
    {
      what: 'both a workload and a template',
      body: { template: 'a', workload_id: unknown },
      status: 400,
      code: 'validation_failed',
    },
    { what: 'a template and a revision', body: { template: 'a', revision: 1 }, status: 400, code: 'validation_failed' },
    { what: 'two targets', body: { target: { host_id: unknown, cluster_id: unknown } }, status: 400 },
  ])('$what gets $status', async ({ body, status, code = 'validation_failed' }) => {
    const before = await it.contents();
    for (const ask of [it.deploy, it.plan]) {
      const answer = await ask(body);
      expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    }
    expect(await it.contents()).toEqual(before);
  });

  test('an unknown revision or target gets 422', async () => {
    const { id } = await it.aWorkload();
    const cases = [
      { body: { revision: 2 }, code: 'unknown_workload', path: 'revision' },
      { body: { target: { host_id: unknown } }, code: 'unknown_target', path: 'target.host_id' },
      { body: { target: { cluster_id: unknown } }, code: 'unknown_target', path: 'target.cluster_id' },
    ];
    const before = await it.contents();
    for (const { body, code, path } of cases) {
      for (const ask of [it.deploy, it.plan]) {
        const answer = await ask({ workload_id: id, ...body });
        expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code });
        expect(answer.body.errors).toEqual([expect.objectContaining({ path })]);
      }
    }
    expect(await it.contents()).toEqual(before);
  });
});

test('a deployment is rejected if there is no host and no cluster', async () => {
  const { id } = await it.aWorkload();
  expect(await refused({ workload_id: id }, 'no_placement')).toEqual([
    fieldError('target', 'no host or cluster is registered'),
  ]);
});

test('a rejected deployment is reported with all reasons of all kinds', async () => {
  await it.aHost({ name: 'small', cpus: 0.1 });
  const template = aTemplate({ slug: 'demanding', min_tier: 'enterprise' });
  await it.publish(template);
  const body = { template: 'demanding', env: { OTHER: 'x' }, volumes: { other: {} } };
  expect(await refused(body, 'deployment_refused')).toEqual([
    fieldError('template', 'enterprise'),
    fieldError('env.OTHER', 'not a variable'),
    fieldError('env.NAME', 'required'),
    fieldError('secret_refs', 'password'),
    fieldError('secret_refs', 'pull-secret'),
    fieldError('volumes.other', 'not a volume mount'),
    fieldError('target', 'host small', 'network type public', 'CPU', 'disk'),
  ]);
});

describe('a deployment with volumes', () => {
  const mounts = [
    { name: 'data', mountPath: '/data' },
    { name: 'cache', mountPath: '/cache' },
  ];

  test('is rejected if a mount or a volume does not exist', async () => {
    await it.aHost();
    const { id } = await it.aWorkload({ volume_mounts: mounts });
    const absent = randomUUID();
    const volumes = { data: { storage_id: absent }, other: { size: '1Gi' }, constructor: {} };
    expect(await refused({ workload_id: id, volumes }, 'unknown_volume')).toEqual([
      fieldError('volumes.other', 'not a volume mount', 'data, cache'),
      fieldError('volumes.constructor', 'not a volume mount'),
      fieldError('volumes.data', absent),
    ]);
  });

  test('is rejected if a volume is bound to another target', async () => {
    const here = await it.aHost({ name: 'here' });
    const there = await it.aHost({ name: 'there' });
    const volume = await it.aVolume({ name: 'kept', target: { host_id: there.id } });
    const { id } = await it.aWorkload({ volume_mounts: mounts });
    const body = { workload_id: id, target: { host_id: here.id }, volumes: { data: { storage_id: volume.id } } };
    expect(await refused(body, 'no_placement')).toEqual([
      fieldError('target', 'host here', 'kept is bound to host there'),
    ]);
  });

  test('is rejected if another deployment uses its ReadWriteOnce volume, running or stopped', async () => {
    await it.aHost();
    const volume = await it.aVolume({ name: 'kept' });
    const workload = await it.aWorkload({ volume_mounts: [mounts[0]] });
    const body = { workload_id: workload.id, volumes: { data: { storage_id: volume.id } } };
    const other = await it.deployed({ name: 'other', ...body });
    expect(await refused(body, 'no_placement')).toEqual([fieldError('target', 'kept is ReadWriteOnce', 'other')]);
    await it.ask(other.id, 'stop');
    expect(await refused(body, 'no_placement')).toEqual([fieldError('target', 'kept is ReadWriteOnce', 'other')]);
  });

  test('that is stopped is rejected if it could never run with the volumes', async () => {
    const here = await it.aHost();
    const there = await it.aHost();
    const taken = await it.aVolume();
    const elsewhere = await it.aVolume({ target: { host_id: there.id } });
    const { id } = await it.aWorkload({ volume_mounts: mounts });
    const owner = await it.deployed({ name: 'owner', workload_id: id, volumes: { data: { storage_id: taken.id } } });
    const body = {
      workload_id: id,
      desired_state: 'stopped',
      target: { host_id: here.id },
      volumes: { data: { storage_id: taken.id }, cache: { storage_id: elsewhere.id } },
    };
    expect(await refused(body, 'unknown_volume')).toEqual([
      fieldError('volumes.data', taken.name, 'ReadWriteOnce', 'owner'),
      fieldError('volumes.cache', elsewhere.name, 'another host'),
    ]);
    expect((await it.ask(owner.id, 'restart')).status).toBe(200);
  });

  test('can share a ReadWriteMany volume', async () => {
    await it.aHost();
    const volume = await it.aVolume({ access_mode: 'ReadWriteMany' });
    const workload = await it.aWorkload({ volume_mounts: [mounts[0]] });
    const body = { workload_id: workload.id, volumes: { data: { storage_id: volume.id } } };
    for (const _ of ['one', 'another']) expect((await it.deploy(body)).status).toBe(201);
  });
});
