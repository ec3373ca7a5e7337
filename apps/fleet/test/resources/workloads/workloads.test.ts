// Workloads that are specified in full: their members, and their revisions.
import { type WorkloadSpec, workloadDefaults, workloadExamples } from '@svc/contract/fleet';
import { invalidPathsOf, pathOf, type Shown, startResources } from '../resources.ts';

const world = await startResources();
const { aDeployment, aName, aRoomyHost, aWorkload, asAdmin, asOperator, asViewer, client, read } = world;
afterAll(() => world.stop());

const create = (given: object) => asAdmin.post(pathOf('workloads'), { name: aName('workload'), ...given });
const put = (id: string, body: object) => asAdmin.put(pathOf('workloads', id), body);
const revisionsOf = async (id: string, query = ''): Promise<Shown> =>
  (await asViewer.get(`${pathOf('workloads', id)}/revisions${query}`)).body;

const NO_TEMPLATE = {
  template_id: null,
  template_slug: null,
  template_version: null,
  template_state: null,
  min_tier: null,
};

const everything: WorkloadSpec = {
  ...workloadExamples,
  kind: 'job',
  image_name: 'team/app',
  image_tag: '1.2.3',
  registry_url: 'registry.example.test:5000/mirror',
  registry_credentials: 'pull-secret',
  command: ['run', '--now', ''],
  env: [{ name: 'MODE', value: 'line\nline' }],
  env_schema: [{ name: 'WHO', required: true, default_value: '', description: 'Who it is' }],
  secret_refs: [{ name: 'password', key: 'a.key', env: 'PASSWORD' }],
  ports: [{ containerPort: 53, protocol: 'UDP' }],
  volume_mounts: [{ name: 'data', mountPath: '/data' }],
  cpu_request: '500m',
  memory_request: '1.5Gi',
  gpu_count: 2,
  vram_request: '80Gi',
  concurrent_jobs: 3,
  node_selector: { 'example.com/disk': 'fast' },
  tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }],
  required_network_types: ['mesh'],
};

test('a workload without a template returns every member as given', async () => {
  expect(await aWorkload(everything)).toMatchObject({ ...everything, ...NO_TEMPLATE, revision: 1 });
});

test('a member of a workload that is omitted has its default', async () => {
  const expected = { ...workloadDefaults, image_name: 'library/nginx', ...NO_TEMPLATE };
  expect(await aWorkload({ image_name: 'library/nginx' })).toMatchObject(expected);
});

describe('a workload that no engine accepts is rejected by path, at creation and in a change:', () => {
  const mounts = (...paths: readonly string[]) => ({
    volume_mounts: paths.map((mountPath, index) => ({ name: `m${index}`, mountPath })),
  });
  const ref = { name: 'password', env: 'PASSWORD' };

  test.each<[object, readonly string[]]>([
    [{ image_name: '' }, ['image_name']],
    [{ image_name: 'team//app' }, ['image_name']],
    [{ image_name: 'ghcr.io/team/app' }, ['image_name']],
    [{ image_name: 'localhost/app' }, ['image_name']],
    [{ image_name: 'a'.repeat(250), registry_url: 'registry.example.test' }, ['image_name']],
    [{ registry_url: 'registry' }, ['registry_url']],
    [{ registry_url: 'registry.example.test:65536' }, ['registry_url']],
    [{ registry_url: 'registry..example.test' }, ['registry_url']],
    [{ registry_url: 'registry.example.test/a//b' }, ['registry_url']],
    [mounts('/'), ['volume_mounts.0.mountPath']],
    [mounts('/data/..'), ['volume_mounts.0.mountPath']],
    [mounts('/data', '/other', '/data/'), ['volume_mounts.2.mountPath']],
    [mounts('/data', '/other/../data'), ['volume_mounts.1.mountPath']],
    [mounts('/data,type=bind,src=/'), ['volume_mounts.0.mountPath']],
    [mounts('/data:ro', '/a"b'), ['volume_mounts.0.mountPath', 'volume_mounts.1.mountPath']],
    [{ secret_refs: [ref, { ...ref, name: 'other' }] }, ['secret_refs.1.env']],
    [{ tolerations: [{ effect: 'NoSchedule' }] }, ['tolerations.0']],
    [{ tolerations: [{ operator: 'Exists', key: 'gpu', value: 'a' }] }, ['tolerations.0']],
    [{ tolerations: [{ operator: 'Exists', tolerationSeconds: 5 }] }, ['tolerations.0']],
    [
      { image_name: '', registry_url: 'registry', ...mounts('/'), secret_refs: [ref, ref] },
      ['image_name', 'registry_url', 'secret_refs.1.env', 'volume_mounts.0.mountPath'],
    ],
  ])('%j', async (wrong, paths) => {
    const made = await create({ image_name: 'library/nginx', ...wrong });
    expect(made.status).toBe(400);
    expect(made.body.code).toBe('validation_failed');
    expect(invalidPathsOf(made)).toEqual(paths);
    const workload = await aWorkload();
    const changed = await put(workload.id, wrong);
    expect(changed.status).toBe(400);
    expect(invalidPathsOf(changed)).toEqual(paths);
    expect(await read('workloads', workload.id)).toEqual(workload);
    expect((await revisionsOf(workload.id)).pagination.total).toBe(1);
  });

  test('without an image', async () => {
    const answer = await create({});
    expect(answer.status).toBe(400);
    expect(invalidPathsOf(answer)).toEqual(['image_name']);
    expect(answer.body.errors[0].message).toContain('is required');
  });

  test.each([
    { privileged: true },
    { host_network: true },
    { devices: ['/dev/kvm'] },
    { volume_mounts: [{ name: 'a', mountPath: '/a', hostPath: '/' }] },
    { volume_mounts: [{ name: 'a', mountPath: 'a' }] },
    { ports: [{ containerPort: 80, hostPort: 80 }] },
    { env: [{ name: 'A', value: 'b', valueFrom: {} }] },
    { registry_url: 'https://registry.example.test' },
    { registry_url: 'user:password@registry.example.test' },
    { registry_credentials: { username: 'a', password: 'b' } },
  ])('members that would break the isolation of the container are not supported: %j', async (wrong) => {
    expect((await create({ image_name: 'library/nginx', ...wrong })).status).toBe(400);
  });
});

describe('revisions of a workload', () => {
  test('are created by changes of what runs, and are immutable', async () => {
    const { id } = await aWorkload({ image_tag: '1' });
    const second = await asOperator.put(pathOf('workloads', id), { image_tag: '2', env: [{ name: 'A', value: 'a' }] });
    expect(second.body.workload).toMatchObject({ revision: 2, image_tag: '2', version: 2 });
    await put(id, { image_tag: '1', env: [] });
    const { revisions, pagination } = await revisionsOf(id);
    expect(pagination).toEqual({ page: 1, limit: 50, total: 3, totalPages: 1 });
    const seen = revisions.map(({ revision, image_tag, env }: Shown) => [revision, image_tag, env.length]);
    expect(seen).toEqual([
      [3, '1', 0],
      [2, '2', 1],
      [1, '1', 0],
    ]);
    expect(revisions[1].created_by).not.toBe(revisions[0].created_by);
    expect(revisions[0]).toMatchObject({ ...NO_TEMPLATE, image_name: 'library/nginx' });
    expect((await revisionsOf(id, '?limit=1&page=2')).revisions).toEqual([revisions[1]]);
    expect((await revisionsOf(id, '?page=4')).revisions).toEqual([]);
  });

  test.each<[string, (row: Shown) => object]>([
    ['nothing', () => ({})],
    ['labels', () => ({ labels: { a: 'b' } })],
    ['the current values', ({ image_tag, env, node_selector }) => ({ image_tag, env, node_selector })],
    ['all members to what was read', (row) => row],
  ])('are not created by a change of %s', async (_, change) => {
    const before = await aWorkload(everything);
    const { status, body } = await put(before.id, change(before));
    expect({ status, revision: body.workload.revision, version: body.workload.version }).toEqual({
      status: 200,
      revision: 1,
      version: 2,
    });
    expect((await revisionsOf(before.id)).pagination.total).toBe(1);
  });

  test('have the default of each member that was declared after they were stored', async () => {
    const { id } = await aWorkload();
    const image = { image_name: 'team/app' };
    await client.workloadRevision.create({
      data: { workload_id: id, revision: 2, spec: image, overrides: image, created_by: 'an earlier release' },
    });
    await client.workload.update({ where: { id }, data: { revision: 2 } });
    const workload = await read('workloads', id);
    expect(workload).toMatchObject({ ...workloadDefaults, ...image, revision: 2 });
    expect((await put(id, workload)).body.workload.revision).toBe(2);
    await aRoomyHost();
    expect((await asOperator.post('/api/v1/deployments/plan', { workload_id: id })).body).toMatchObject({ ok: true });
  });

  test('are numbered without gaps, also in concurrent changes', async () => {
    const { id } = await aWorkload();
    const tags = Array.from({ length: 8 }, (_, index) => `tag-${index}`);
    const answers = await Promise.all(tags.map((image_tag) => put(id, { image_tag })));
    expect(answers.map(({ body }) => body.workload.revision).sort()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    const { revisions } = await revisionsOf(id);
    expect(revisions.map(({ revision }: Shown) => revision)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
    const made = revisions.map(({ image_tag }: Shown) => image_tag).sort();
    expect(made).toEqual(['latest', ...tags]);
    expect((await read('workloads', id)).image_tag).toBe(revisions[0].image_tag);
  });

  test.each([`SET spec = '{}'`, 'SET revision = 7', `SET created_by = 'x'`, `SET secret_names = '{}'`])(
    'cannot be changed in the database: %s',
    async (change) => {
      const { id } = await aWorkload();
      const before = await revisionsOf(id);
      const update = `UPDATE workload_revisions ${change} WHERE workload_id = '${id}'`;
      await expect(client.$executeRawUnsafe(update)).rejects.toThrow('revisions of workloads cannot be changed');
      expect(await revisionsOf(id)).toEqual(before);
    },
  );

  test('are deleted with their workload, which cannot be deleted while it is deployed', async () => {
    const host = await aRoomyHost();
    const { id } = await aWorkload();
    const deployment = await aDeployment({ workload_id: id, target: { host_id: host.id }, desired_state: 'stopped' });
    const { status, body } = await asAdmin.delete(pathOf('workloads', id));
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'in_use' });
    expect(body.errors).toEqual([{ path: 'deployment', message: deployment.name }]);
    await asAdmin.delete(pathOf('deployments', deployment.id));
    expect((await asAdmin.delete(pathOf('workloads', id))).status).toBe(204);
    expect(await client.workloadRevision.count({ where: { workload_id: id } })).toBe(0);
    expect((await asViewer.get(`${pathOf('workloads', id)}/revisions`)).status).toBe(404);
  });
});
