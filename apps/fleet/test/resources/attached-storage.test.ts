// Volumes and the deployments to which they are attached: when they are kept, and when they are
// deleted.
import { byDepth } from '@svc/testing';
import { pathOf, type Shown, startResources } from './resources.ts';

const world = await startResources();
const { aDeployment, aName, aRoomyHost, aVolume, aWorkload, asAdmin, read } = world;
const host = await aRoomyHost();
const target = { host_id: host.id };
const keeping = await aWorkload({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
afterAll(() => world.stop());

const put = (id: string, body: object) => asAdmin.put(pathOf('storage', id), body);
const deploy = (given: object = {}) => aDeployment({ workload_id: keeping.id, target, ...given });
const volumeOf = ({ volumes }: Shown) => read('storage', volumes.data.storage_id);

test('a volume is placed on the target of the deployment that first uses it', async () => {
  const volume = await aVolume();
  await deploy({ volumes: { data: { storage_id: volume.id } } });
  expect((await read('storage', volume.id)).target).toEqual({ host_id: host.id, cluster_id: null });
});

describe('an attached volume', () => {
  test('cannot be deleted, also while its deployment is stopped', async () => {
    const volume = await aVolume();
    const { id, name } = await deploy({ volumes: { data: { storage_id: volume.id } } });
    expect((await read('storage', volume.id)).attached_to).toEqual([{ deployment_id: id, name }]);
    const remove = async () => {
      const { status, body } = await asAdmin.delete(pathOf('storage', volume.id));
      return [status, body.code, body.errors];
    };
    const inUse = [409, 'in_use', [{ path: 'deployment', message: name }]];
    expect(await remove()).toEqual(inUse);
    await asAdmin.post(`${pathOf('deployments', id)}/stop`);
    expect(await remove()).toEqual(inUse);
    await asAdmin.delete(pathOf('deployments', id));
    expect((await read('storage', volume.id)).attached_to).toEqual([]);
    expect((await asAdmin.delete(pathOf('storage', volume.id))).status).toBe(204);
  });

  test('is not deleted if it is attached concurrently, or the attachment fails', async () => {
    for (let round = 0; round < byDepth({ short: 2, full: 5, long: 20 }); round++) {
      const { id } = await aVolume();
      const body = { name: aName('race'), workload_id: keeping.id, target, volumes: { data: { storage_id: id } } };
      const [made, deleted] = await Promise.all([
        asAdmin.post(pathOf('deployments'), body),
        asAdmin.delete(pathOf('storage', id)),
      ]);
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual([made.status, deleted.status]);
    }
  });

  test('in two mounts of one deployment lists the deployment once', async () => {
    const mounts = ['a', 'b'].map((name) => ({ name, mountPath: `/${name}` }));
    const workload = await aWorkload({ volume_mounts: mounts });
    const { id: storage_id } = await aVolume({ access_mode: 'ReadWriteMany' });
    const volumes = { a: { storage_id }, b: { storage_id } };
    const { id, name } = await aDeployment({ workload_id: workload.id, target, volumes });
    expect((await read('storage', storage_id)).attached_to).toEqual([{ deployment_id: id, name }]);
  });
});

describe('when a deployment is deleted,', () => {
  const end = ({ id }: Shown) => asAdmin.delete(pathOf('deployments', id));

  test('a volume that was created for it is deleted', async () => {
    const deployment = await deploy({ volumes: { data: { size: '3Gi' } } });
    const volume = await volumeOf(deployment);
    expect(volume).toMatchObject({ size: '3Gi', reclaim: 'delete', deployment_id: deployment.id });
    await end(deployment);
    expect(await read('storage', volume.id)).toBeUndefined();
  });

  test('a volume that was created for it and changed to `retain` stays without a deployment', async () => {
    const deployment = await deploy();
    const volume = await volumeOf(deployment);
    expect((await put(volume.id, { reclaim: 'retain' })).body.storage.reclaim).toBe('retain');
    await end(deployment);
    expect(await read('storage', volume.id)).toMatchObject({ deployment_id: null, attached_to: [], reclaim: 'retain' });
  });

  test('a volume that existed before stays, whatever happens to those that were created for it', async () => {
    const volume = await aVolume({ reclaim: 'delete' });
    const deployment = await deploy({ volumes: { data: { storage_id: volume.id } } });
    await end(deployment);
    expect(await read('storage', volume.id)).toMatchObject({ id: volume.id, deployment_id: null });
  });
});
