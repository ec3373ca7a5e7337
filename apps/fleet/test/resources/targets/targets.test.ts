// Hosts and clusters in use: allocated resources, members that cannot change, and the deployments
// that prevent changes.
import { byDepth, connectionsBlocked } from '@svc/testing';
import { v7 as uuidv7 } from 'uuid';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { acquirePlacementLock } from '../../../src/resources/placement-lock.ts';
import { type Plural, pathOf, type Shown, startResources } from '../resources.ts';

const world = await startResources();
const { aDeployment, aHost, aRoomyCluster, aRoomyHost, aVolume, aWorkload, asAdmin, client, read } = world;
afterAll(() => world.stop());

const NOTHING = { cpu: '0', memory: '0', gpu_count: 0 };
const gpus = ['0', '1', '2'].map((id) => ({ id, model: 'H100', vram: '80Gi' }));
const plain = await aWorkload({ cpu_request: '1500m', memory_request: '512Mi' });
const learning = await aWorkload({ cpu_request: '2', memory_request: '1Gi', gpu_count: 1 });
const keeping = await aWorkload({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });

const put = (plural: Plural, id: string, body: object) => asAdmin.put(pathOf(plural, id), body);
const act = (id: string, verb: string, body?: object) => asAdmin.post(`${pathOf('deployments', id)}/${verb}`, body);
const refusedBy = ({ status, body }: Shown) => [status, body.code, body.errors?.map(({ message }: Shown) => message)];

describe.each([
  ['hosts', 'host_id', () => aRoomyHost({ gpus })],
  ['clusters', 'cluster_id', () => aRoomyCluster()],
] as const)('%s', (plural, member, make) => {
  const on = ({ id }: Shown) => ({ target: { [member]: id } });
  const allocated = async ({ id }: Shown) => (await read(plural, id)).allocated;

  test('show their allocated resources, and what is free again once deployments stop or end', async () => {
    const target = await make();
    expect(target.allocated).toEqual(NOTHING);
    const one = await aDeployment({ workload_id: plain.id, replicas: 2, ...on(target) });
    expect(await allocated(target)).toEqual({ cpu: '3', memory: '1Gi', gpu_count: 0 });
    const other = await aDeployment({ workload_id: learning.id, ...on(target) });
    expect(await allocated(target)).toEqual({ cpu: '5', memory: '2Gi', gpu_count: 1 });
    await act(one.id, 'scale', { replicas: 1 });
    expect(await allocated(target)).toEqual({ cpu: '3500m', memory: '1536Mi', gpu_count: 1 });
    await act(other.id, 'stop');
    expect(await allocated(target)).toEqual({ cpu: '1500m', memory: '512Mi', gpu_count: 0 });
    await act(other.id, 'start');
    expect(await allocated(target)).toEqual({ cpu: '3500m', memory: '1536Mi', gpu_count: 1 });
    for (const { id } of [one, other]) await asAdmin.delete(pathOf('deployments', id));
    expect(await allocated(target)).toEqual(NOTHING);
  });

  test('cannot be deleted while they are in use, and the error names the first deployments and volumes', async () => {
    const target = await make();
    const deployment = await aDeployment({ workload_id: keeping.id, ...on(target) });
    const [volume] = (await asAdmin.get(`${pathOf('storage')}?search=${deployment.name}`)).body.storage;
    const remove = () => asAdmin.delete(pathOf(plural, target.id));
    expect(refusedBy(await remove())).toEqual([409, 'in_use', [deployment.name, volume.name]]);
    await act(deployment.id, 'stop');
    expect(refusedBy(await remove())).toEqual([409, 'in_use', [deployment.name, volume.name]]);
    await put('storage', volume.id, { reclaim: 'retain' });
    await asAdmin.delete(pathOf('deployments', deployment.id));
    const { status, body } = await remove();
    expect({ status, code: body.code, detail: body.detail }).toEqual({
      status: 409,
      code: 'in_use',
      detail: expect.stringContaining(`volume ${volume.name}`),
    });
    expect(await read(plural, target.id)).toBeDefined();
    await asAdmin.delete(pathOf('storage', volume.id));
    expect((await remove()).status).toBe(204);
  });

  test('can be abandoned with everything on them only if they no longer exist', async () => {
    const target = await make();
    const { id, name } = await aDeployment({ workload_id: keeping.id, ...on(target) });
    const volume = await aVolume(on(target));
    const elsewhere = await aDeployment({ workload_id: keeping.id, ...on(await make()) });
    const table = Prisma.raw(plural);
    const stand = (reachability: string) =>
      client.$executeRaw`
        UPDATE ${table} SET reachability = ${reachability}::"Reachability" WHERE id = ${target.id}::uuid`;
    const remove = () => asAdmin.delete(`${pathOf(plural, target.id)}?abandon=true`);
    const { status, body } = await remove();
    expect({ status, code: body.code, detail: body.detail }).toEqual({
      status: 409,
      code: 'in_use',
      detail: expect.stringMatching(/^The target is online/),
    });
    await stand('unreachable');
    await client.$executeRaw`UPDATE deployments SET sent_to_engine = true, deleting = true WHERE id = ${id}::uuid`;
    expect((await asAdmin.delete(pathOf(plural, target.id))).status).toBe(409);
    expect((await remove()).status).toBe(204);
    for (const path of [pathOf(plural, target.id), pathOf('deployments', id), pathOf('storage', volume.id)]) {
      expect((await asAdmin.get(path)).status).toBe(404);
    }
    expect((await asAdmin.get(`${pathOf('storage')}?search=${name}`)).body.storage).toEqual([]);
    expect((await read('deployments', elsewhere.id)).volumes).not.toEqual({});
  });

  test('cannot be deleted while a volume is declared there', async () => {
    const target = await make();
    const volume = await aVolume(on(target));
    expect(refusedBy(await asAdmin.delete(pathOf(plural, target.id)))).toEqual([409, 'in_use', [volume.name]]);
    expect((await read('storage', volume.id)).target).toMatchObject({ [member]: target.id });
  });

  test('that are deleted and deployed to concurrently are either deleted or deployed to', async () => {
    for (let round = 0; round < byDepth({ short: 2, full: 5, long: 20 }); round++) {
      const target = await make();
      const name = world.aName('race');
      const [made, deleted] = await Promise.all([
        asAdmin.post(pathOf('deployments'), { name, workload_id: plain.id, ...on(target) }),
        asAdmin.delete(pathOf(plural, target.id)),
      ]);
      const statuses = [made.status, deleted.status];
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual(statuses);
    }
  });

  test('can be changed in all other members while they are in use', async () => {
    const target = await make();
    const deployment = await aDeployment({ workload_id: plain.id, ...on(target) });
    const change = { labels: { a: 'b' }, network_types: ['mesh'] };
    expect((await put(plural, target.id, change)).status).toBe(200);
    expect(await read('deployments', deployment.id)).toEqual(deployment);
  });
});

test('the engine of a host can change only while nothing is on it', async () => {
  const host = await aRoomyHost();
  expect((await put('hosts', host.id, { engine: 'podman' })).body.host.engine).toBe('podman');
  const { id, name } = await aDeployment({ workload_id: plain.id, target: { host_id: host.id } });
  expect(refusedBy(await put('hosts', host.id, { engine: 'docker' }))).toEqual([409, 'in_use', [name]]);
  expect((await put('hosts', host.id, { engine: 'podman' })).status).toBe(200);
  await asAdmin.delete(pathOf('deployments', id));
  expect((await put('hosts', host.id, { engine: 'docker' })).status).toBe(200);
});

test('the namespace of a cluster can change only while nothing is on it', async () => {
  const cluster = await aRoomyCluster();
  const { name } = await aDeployment({ workload_id: plain.id, target: { cluster_id: cluster.id } });
  expect(refusedBy(await put('clusters', cluster.id, { namespace: 'elsewhere' }))).toEqual([409, 'in_use', [name]]);
  expect((await put('clusters', cluster.id, { namespace: 'fleet' })).status).toBe(200);
  expect((await read('clusters', cluster.id)).namespace).toBe('fleet');
});

test.each([
  ['hosts', 'host_id', { engine: 'podman' }, () => aRoomyHost()],
  ['hosts', 'host_id', { gpus: [] }, () => aRoomyHost({ gpus })],
  ['clusters', 'cluster_id', { namespace: 'elsewhere' }, () => aRoomyCluster()],
] as const)(
  'for %s, a change that would conflict with a concurrent placement (%s) is rejected: %j',
  async (plural, member, change, make) => {
    const target = await make();
    const id = uuidv7();
    const name = world.aName('decided');
    const data = { id, name, workload_id: plain.id, revision: 1, replicas: 1, created_by: 'test' };
    const changed = await client.$transaction(async (transaction) => {
      await acquirePlacementLock(transaction);
      const answer = put(plural, target.id, change);
      await Promise.race([answer, connectionsBlocked(client, 1)]);
      await transaction.deployment.create({ data: { ...data, [member]: target.id } });
      const gpu = { host_id: target.id, gpu_id: '0', deployment_id: id, ordinal: 0 };
      if ('gpus' in change) await transaction.allocatedGpu.create({ data: gpu });
      return { answer };
    });
    expect(refusedBy(await changed.answer)).toEqual([409, 'in_use', [name]]);
  },
);

describe('the GPUs of a host', () => {
  test('have unique names', async () => {
    const twice = [{ id: '0' }, { id: '1' }, { id: '0' }];
    const request = { name: world.aName('twice'), engine: 'docker', endpoint: 'tcp://engine.example.test:2375' };
    for (const answer of [
      await asAdmin.post(pathOf('hosts'), { ...request, gpus: twice }),
      await put('hosts', (await aHost()).id, { gpus: twice }),
    ]) {
      expect({ status: answer.status, errors: answer.body.errors }).toEqual({
        status: 400,
        errors: [{ path: 'gpus', message: 'must not contain an id twice' }],
      });
    }
  });

  test('are allocated once, counted, and cannot be removed while they are allocated', async () => {
    const host = await aRoomyHost({ gpus });
    const { id, name } = await aDeployment({ workload_id: learning.id, replicas: 2, target: { host_id: host.id } });
    const given = (await client.allocatedGpu.findMany({ where: { deployment_id: id } })).map(({ gpu_id }) => gpu_id);
    expect(new Set(given).size).toBe(2);
    const more = { name: world.aName('more'), workload_id: learning.id, replicas: 2, target: { host_id: host.id } };
    expect((await asAdmin.post(pathOf('deployments'), more)).status).toBe(422);
    expect(refusedBy(await put('hosts', host.id, { gpus: [] }))).toEqual([409, 'in_use', [name]]);
    const others = [...gpus.filter((gpu) => given.includes(gpu.id)), { id: '3' }];
    expect((await put('hosts', host.id, { gpus: others })).body.host).toMatchObject({
      gpus: others.map((gpu) => ({ model: '', vram: '', ...gpu })),
      allocated: { gpu_count: 2 },
      capacity: { gpu_count: 3 },
      gpu_allocations: given.toSorted().map((gpu_id) => ({ gpu_id, deployment_id: id, deployment_name: name })),
    });
    await act(id, 'stop');
    expect((await put('hosts', host.id, { gpus: [] })).body.host.gpu_allocations).toEqual([]);
  });
});
