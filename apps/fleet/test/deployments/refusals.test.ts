import { randomUUID } from 'node:crypto';
import { aTemplate } from '../a-template.ts';
import { expectRefusedIn, fieldError } from './expect-refused.ts';
import { startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();
const refused = expectRefusedIn(fleet);

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
    await fleet.aHost();
    await fleet.aSecret('password', { value: 'hidden' });
    const { id } = await fleet.aWorkload(workload);
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
    await fleet.aHost();
    const { id } = await fleet.aWorkload({ env_schema: [{ name: 'NAME', required: true }] });
    expect(await refused({ workload_id: id, env: { NAME: '' } }, 'invalid_env')).toEqual([
      fieldError('env.NAME', 'required'),
    ]);
  });
});

describe('a deployment of a value that this fleet does not support', () => {
  const unsupported = { path: 'cpu_request', message: expect.stringContaining('the template has "abc"') };

  test('in a template is rejected, and so is its plan', async () => {
    await fleet.aHost();
    await fleet.publish(aTemplate({ ...plain, slug: 'newer', cpu_request: 'abc' }));
    for (const answer of [await fleet.deploy({ template: 'newer' }), await fleet.plan({ template: 'newer' })]) {
      expect(answer).toMatchObject({ status: 422, body: { code: 'unsupported_value' } });
      expect(answer.body.errors).toEqual([unsupported]);
    }
    expect(await fleet.client.workload.count()).toBe(0);
  });

  test('in a workload that release 0.1.0 stored is rejected, and a change to its other revision is too', async () => {
    await fleet.aHost();
    const { id, workload_id } = await fleet.deployed({});
    const { client } = fleet;
    await client.$executeRaw`
      INSERT INTO workload_revisions (workload_id, revision, spec, overrides, secret_names, created_by)
      SELECT workload_id, 2, spec || '{"cpu_request": "abc"}', overrides, secret_names, created_by FROM workload_revisions`;
    await client.$executeRaw`UPDATE workloads SET revision = 2`;
    const answers = [
      await fleet.deploy({ workload_id }),
      await fleet.plan({ workload_id, desired_state: 'stopped' }),
      await fleet.plan({ deployment_id: id, revision: 2 }),
      await fleet.admin.put(`/api/v1/deployments/${id}`, { revision: 2 }),
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
    await fleet.aHost();
    await fleet.aSecret('two-keys', { one: '1', two: '2' });
    await fleet.aSecret('opaque', { token: 'x' });
    const { id } = await fleet.aWorkload({
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
    await fleet.aHost();
    const { id } = await fleet.aWorkload({ registry_credentials: 'pull-secret' });
    expect(await refused({ workload_id: id }, 'unknown_secret')).toEqual([fieldError('secret_refs', 'pull-secret')]);
  });
});

describe('a template with a minimum tier', () => {
  test.each([
    { has: 'free', asks: 'pro' },
    { has: 'pro', asks: 'enterprise' },
    { has: undefined, asks: 'pro' },
  ])('of $asks is rejected for an organization with $has', async ({ has, asks }) => {
    await fleet.aHost();
    if (has) fleet.hub.changeOrganization({ tier: has });
    await fleet.publish(
      aTemplate({ ...plain, slug: 'costly', min_tier: asks }),
      aTemplate({ ...plain, slug: 'cheap' }),
    );
    if (!has) await fleet.client.$executeRaw`UPDATE catalog_sync SET organization = NULL`;
    expect(await refused({ template: 'costly' }, 'tier_too_low')).toEqual([
      fieldError('template', asks, has ?? 'free'),
    ]);
    expect((await fleet.deploy({ template: 'cheap' })).status).toBe(201);
  });

  test('is also rejected as a workload, and its existing deployments can be operated', async () => {
    await fleet.aHost();
    fleet.hub.changeOrganization({ tier: 'pro' });
    await fleet.publish(aTemplate({ ...plain, slug: 'costly', min_tier: 'pro' }));
    const workload = await fleet.aWorkload({ template: 'costly' });
    const running = await fleet.deployed({ workload_id: workload.id });
    fleet.hub.changeOrganization({ tier: 'free' });
    await fleet.sync();
    expect(await refused({ workload_id: workload.id }, 'tier_too_low')).toEqual([
      fieldError('template', 'pro', 'free'),
    ]);
    expect((await fleet.ask(running.id, 'scale', { replicas: 2 })).status).toBe(200);
    expect((await fleet.ask(running.id, 'stop')).status).toBe(200);
    expect((await fleet.ask(running.id, 'start')).status).toBe(200);
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
    const before = await fleet.contents();
    for (const ask of [fleet.deploy, fleet.plan]) {
      const answer = await ask(body);
      expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    }
    expect(await fleet.contents()).toEqual(before);
  });

  test('an unknown revision or target gets 422', async () => {
    const { id } = await fleet.aWorkload();
    const cases = [
      { body: { revision: 2 }, code: 'unknown_workload', path: 'revision' },
      { body: { target: { host_id: unknown } }, code: 'unknown_target', path: 'target.host_id' },
      { body: { target: { cluster_id: unknown } }, code: 'unknown_target', path: 'target.cluster_id' },
    ];
    const before = await fleet.contents();
    for (const { body, code, path } of cases) {
      for (const ask of [fleet.deploy, fleet.plan]) {
        const answer = await ask({ workload_id: id, ...body });
        expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code });
        expect(answer.body.errors).toEqual([expect.objectContaining({ path })]);
      }
    }
    expect(await fleet.contents()).toEqual(before);
  });
});

test.each(['docker', 'podman'] as const)('files in a read-only file system on a host with %s', async (engine) => {
  await fleet.aHost({ engine });
  const files = [{ path: '/etc/app.conf', content: 'a = 1\n', mode: '0444' }];
  const { id } = await fleet.aWorkload({ files, read_only_root: true });
  const { body } = await fleet.plan({ workload_id: id });
  const message =
    'must not be a host with Docker, which places no files in the read-only file system that the workload requests';
  const reason = { code: 'deployment_refused', path: 'target', message };
  expect(body.refusals).toEqual(engine === 'docker' ? [reason] : []);
  expect(body.manifest.filter(({ kind }: { kind: string }) => kind === 'File')).toEqual(
    engine === 'docker' ? [] : [{ kind: 'File', name: '/etc/app.conf', body: { content: 'a = 1\n', mode: '0444' } }],
  );
});

test('a deployment is rejected if there is no host and no cluster', async () => {
  const { id } = await fleet.aWorkload();
  expect(await refused({ workload_id: id }, 'no_placement')).toEqual([
    fieldError('target', 'no host or cluster is registered'),
  ]);
});

test('a rejected deployment is reported with all reasons of all kinds', async () => {
  await fleet.aHost({ name: 'small', cpus: 0.1 });
  const template = aTemplate({ slug: 'demanding', min_tier: 'enterprise' });
  await fleet.publish(template);
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
    await fleet.aHost();
    const { id } = await fleet.aWorkload({ volume_mounts: mounts });
    const absent = randomUUID();
    const volumes = { data: { storage_id: absent }, other: { size: '1Gi' }, constructor: {} };
    expect(await refused({ workload_id: id, volumes }, 'unknown_volume')).toEqual([
      fieldError('volumes.other', 'not a volume mount', 'data, cache'),
      fieldError('volumes.constructor', 'not a volume mount'),
      fieldError('volumes.data', absent),
    ]);
  });

  test('is rejected if a volume is bound to another target', async () => {
    const here = await fleet.aHost({ name: 'here' });
    const there = await fleet.aHost({ name: 'there' });
    const volume = await fleet.aVolume({ name: 'kept', target: { host_id: there.id } });
    const { id } = await fleet.aWorkload({ volume_mounts: mounts });
    const body = { workload_id: id, target: { host_id: here.id }, volumes: { data: { storage_id: volume.id } } };
    expect(await refused(body, 'no_placement')).toEqual([
      fieldError('target', 'host here', 'kept is bound to host there'),
    ]);
  });

  test('is rejected if another deployment uses its ReadWriteOnce volume, running or stopped', async () => {
    await fleet.aHost();
    const volume = await fleet.aVolume({ name: 'kept' });
    const workload = await fleet.aWorkload({ volume_mounts: [mounts[0]] });
    const body = { workload_id: workload.id, volumes: { data: { storage_id: volume.id } } };
    const other = await fleet.deployed({ name: 'other', ...body });
    expect(await refused(body, 'no_placement')).toEqual([fieldError('target', 'kept is ReadWriteOnce', 'other')]);
    await fleet.ask(other.id, 'stop');
    expect(await refused(body, 'no_placement')).toEqual([fieldError('target', 'kept is ReadWriteOnce', 'other')]);
  });

  test('that is stopped is rejected if it could never run with the volumes', async () => {
    const here = await fleet.aHost();
    const there = await fleet.aHost();
    const taken = await fleet.aVolume();
    const elsewhere = await fleet.aVolume({ target: { host_id: there.id } });
    const { id } = await fleet.aWorkload({ volume_mounts: mounts });
    const owner = await fleet.deployed({ name: 'owner', workload_id: id, volumes: { data: { storage_id: taken.id } } });
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
    expect((await fleet.ask(owner.id, 'restart')).status).toBe(200);
  });

  test('can share a ReadWriteMany volume', async () => {
    await fleet.aHost();
    const volume = await fleet.aVolume({ access_mode: 'ReadWriteMany' });
    const workload = await fleet.aWorkload({ volume_mounts: [mounts[0]] });
    const body = { workload_id: workload.id, volumes: { data: { storage_id: volume.id } } };
    for (const _ of ['one', 'another']) expect((await fleet.deploy(body)).status).toBe(201);
  });
});
