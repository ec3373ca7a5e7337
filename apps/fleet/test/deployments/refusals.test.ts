import { randomUUID } from 'node:crypto';
import { aTemplate } from '../a-template.ts';
import { refusedIn, says } from './refused.ts';
import { startDeploymentWorld } from './world.ts';

const it = await startDeploymentWorld();
const refused = refusedIn(it);

/** A template that needs nothing. */
const plain = {
  env_schema: [],
  volume_mounts: [],
  node_selector: {},
  required_network_types: [],
  registry_credentials: null,
  secret_refs: [],
};

describe('variables', () => {
  const workload = {
    env: [{ name: 'MODE', value: 'fast' }],
    env_schema: [
      { name: 'NAME', required: true },
      { name: 'CITY', required: true },
    ],
    secret_refs: [{ name: 'password', env: 'PASSWORD' }],
  };

  test('those that are missing, unknown or filled by a secret are named all at once', async () => {
    await it.aHost();
    await it.aSecret('password', { value: 'hidden' });
    const { id } = await it.aWorkload(workload);
    const env = { PASSWORD: 'mine', NOTHING: 'x', constructor: 'x' };
    expect(await refused({ workload_id: id, env }, 'invalid_env')).toEqual([
      says('env.NOTHING', 'no variable of this workload', 'CITY', 'MODE'),
      says('env.PASSWORD', 'filled by the secret "password"'),
      says('env.constructor', 'no variable of this workload'),
      says('env.NAME', 'required'),
      says('env.CITY', 'required'),
    ]);
  });

  test('a required one that is given as an empty text is missing', async () => {
    await it.aHost();
    const { id } = await it.aWorkload({ env_schema: [{ name: 'NAME', required: true }] });
    expect(await refused({ workload_id: id, env: { NAME: '' } }, 'invalid_env')).toEqual([
      says('env.NAME', 'required'),
    ]);
  });
});

describe('secrets', () => {
  test('those that are absent or lack a key, and a pull secret of the wrong kind', async () => {
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
      says('secret_refs', 'the secret absent'),
      says('secret_refs', 'a key for B', 'two-keys', 'one, two'),
      says('secret_refs', 'the key three', 'two-keys'),
      says('registry_credentials', 'opaque', 'kind registry'),
    ]);
  });

  test('a pull secret that is absent', async () => {
    await it.aHost();
    const { id } = await it.aWorkload({ registry_credentials: 'pull-secret' });
    expect(await refused({ workload_id: id }, 'unknown_secret')).toEqual([says('secret_refs', 'pull-secret')]);
  });
});

describe('tiers', () => {
  test.each([
    { has: 'free', asks: 'pro' },
    { has: 'pro', asks: 'enterprise' },
    { has: undefined, asks: 'pro' },
  ])('a template for $asks is refused to an organization with $has', async ({ has, asks }) => {
    await it.aHost();
    if (has) it.hub.changeOrganization({ tier: has });
    await it.publish(aTemplate({ ...plain, slug: 'costly', min_tier: asks }), aTemplate({ ...plain, slug: 'cheap' }));
    if (!has) await it.client.$executeRaw`UPDATE catalog_sync SET organization = NULL`;
    expect(await refused({ template: 'costly' }, 'tier_too_low')).toEqual([says('template', asks, has ?? 'free')]);
    expect((await it.deploy({ template: 'cheap' })).status).toBe(201);
  });

  test('a workload of such a template is refused as well, and what runs already goes on', async () => {
    await it.aHost();
    it.hub.changeOrganization({ tier: 'pro' });
    await it.publish(aTemplate({ ...plain, slug: 'costly', min_tier: 'pro' }));
    const workload = await it.aWorkload({ template: 'costly' });
    const running = await it.deployed({ workload_id: workload.id });
    it.hub.changeOrganization({ tier: 'free' });
    await it.sync();
    expect(await refused({ workload_id: workload.id }, 'tier_too_low')).toEqual([says('template', 'pro', 'free')]);
    expect((await it.ask(running.id, 'scale', { replicas: 2 })).status).toBe(200);
    expect((await it.ask(running.id, 'stop')).status).toBe(200);
    expect((await it.ask(running.id, 'start')).status).toBe(200);
  });
});

describe('what names nothing', () => {
  const unknown = randomUUID();

  test.each([
    { what: 'workload', body: { workload_id: unknown }, status: 422, code: 'unknown_workload' },
    { what: 'template', body: { template: 'not-there' }, status: 404, code: 'not_found' },
    { what: 'neither', body: {}, status: 400, code: 'validation_failed' },
    { what: 'both', body: { template: 'a', workload_id: unknown }, status: 400, code: 'validation_failed' },
    { what: 'template with revision', body: { template: 'a', revision: 1 }, status: 400, code: 'validation_failed' },
    { what: 'two targets', body: { target: { host_id: unknown, cluster_id: unknown } }, status: 400 },
  ])('$what: $status', async ({ body, status, code = 'validation_failed' }) => {
    const before = await it.contents();
    for (const ask of [it.deploy, it.plan]) {
      const answer = await ask(body);
      expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    }
    expect(await it.contents()).toEqual(before);
  });

  test('a revision and a target that are not there: 422', async () => {
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

test('with no place at all, it says so', async () => {
  const { id } = await it.aWorkload();
  expect(await refused({ workload_id: id }, 'no_placement')).toEqual([says('target', 'no host and no cluster')]);
});

test('all reasons of all kinds come in one answer', async () => {
  await it.aHost({ name: 'small', cpus: 0.1 });
  const template = aTemplate({ slug: 'demanding', min_tier: 'enterprise' });
  await it.publish(template);
  const body = { template: 'demanding', env: { OTHER: 'x' }, volumes: { other: {} } };
  expect(await refused(body, 'deployment_refused')).toEqual([
    says('template', 'enterprise'),
    says('env.OTHER', 'no variable'),
    says('env.NAME', 'required'),
    says('secret_refs', 'password'),
    says('secret_refs', 'pull-secret'),
    says('volumes.other', 'no volume mount'),
    says('target', 'host small', 'network type public', 'CPU', 'disk'),
  ]);
});

describe('volumes', () => {
  const mounts = [
    { name: 'data', mountPath: '/data' },
    { name: 'cache', mountPath: '/cache' },
  ];

  test('a mount that the workload lacks, and a volume that is not there', async () => {
    await it.aHost();
    const { id } = await it.aWorkload({ volume_mounts: mounts });
    const absent = randomUUID();
    const volumes = { data: { storage_id: absent }, other: { size: '1Gi' }, constructor: {} };
    expect(await refused({ workload_id: id, volumes }, 'unknown_volume')).toEqual([
      says('volumes.other', 'no volume mount', 'data, cache'),
      says('volumes.constructor', 'no volume mount'),
      says('volumes.data', absent),
    ]);
  });

  test('a volume that lives on another target', async () => {
    const [here, there] = [await it.aHost({ name: 'here' }), await it.aHost({ name: 'there' })];
    const volume = await it.aVolume({ name: 'kept', target: { host_id: there.id } });
    const { id } = await it.aWorkload({ volume_mounts: mounts });
    const body = { workload_id: id, target: { host_id: here.id }, volumes: { data: { storage_id: volume.id } } };
    expect(await refused(body, 'no_placement')).toEqual([says('target', 'host here', 'kept lives on host there')]);
  });

  test('a ReadWriteOnce volume that another has, running or stopped', async () => {
    await it.aHost();
    const volume = await it.aVolume({ name: 'kept' });
    const workload = await it.aWorkload({ volume_mounts: [mounts[0]] });
    const body = { workload_id: workload.id, volumes: { data: { storage_id: volume.id } } };
    const other = await it.deployed({ name: 'other', ...body });
    expect(await refused(body, 'no_placement')).toEqual([says('target', 'kept is ReadWriteOnce', 'other')]);
    await it.ask(other.id, 'stop');
    expect(await refused(body, 'no_placement')).toEqual([says('target', 'kept is ReadWriteOnce', 'other')]);
  });

  test('what is stopped takes no volume that it could never run with', async () => {
    const [here, there] = [await it.aHost(), await it.aHost()];
    const [taken, elsewhere] = [await it.aVolume(), await it.aVolume({ target: { host_id: there.id } })];
    const { id } = await it.aWorkload({ volume_mounts: mounts });
    const owner = await it.deployed({ name: 'owner', workload_id: id, volumes: { data: { storage_id: taken.id } } });
    const body = {
      workload_id: id,
      desired_state: 'stopped',
      target: { host_id: here.id },
      volumes: { data: { storage_id: taken.id }, cache: { storage_id: elsewhere.id } },
    };
    expect(await refused(body, 'unknown_volume')).toEqual([
      says('volumes.data', taken.name, 'ReadWriteOnce', 'owner'),
      says('volumes.cache', elsewhere.name, 'another host'),
    ]);
    expect((await it.ask(owner.id, 'scale', { replicas: 2 })).status).toBe(200);
  });

  test('a ReadWriteMany volume is shared', async () => {
    await it.aHost();
    const volume = await it.aVolume({ access_mode: 'ReadWriteMany' });
    const workload = await it.aWorkload({ volume_mounts: [mounts[0]] });
    const body = { workload_id: workload.id, volumes: { data: { storage_id: volume.id } } };
    for (const _ of ['one', 'another']) expect((await it.deploy(body)).status).toBe(201);
  });
});
