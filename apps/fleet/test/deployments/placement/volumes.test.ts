import { startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();

const workload = {
  volume_mounts: [
    { name: 'data', mountPath: '/data' },
    { name: 'cache', mountPath: '/cache' },
  ],
};

const names = async () => (await fleet.storage()).map(({ name }: { name: string }) => name).sort();

test('a deployment gets a volume for each mount, on its target and with the requested size', async () => {
  const host = await fleet.aHost();
  const { id, volumes } = await fleet.deployed({ name: 'web', workload, volumes: { cache: { size: '3Gi' } } });
  const made = await fleet.storage();
  const common = { deployment_id: id, reclaim: 'delete', target: { host_id: host.id, cluster_id: null } };
  expect(made).toHaveLength(2);
  expect(made).toContainEqual(
    expect.objectContaining({
      ...common,
      name: 'web-data',
      size: '10Gi',
      attached_to: [{ deployment_id: id, name: 'web' }],
    }),
  );
  expect(made).toContainEqual(expect.objectContaining({ ...common, name: 'web-cache', size: '3Gi' }));
  expect(volumes.data.size).toBe('10Gi');
});

test('a volume gets another name if its name is too long or taken', async () => {
  await fleet.aHost();
  await fleet.aVolume({ name: 'web-data' });
  await fleet.deployed({ name: 'web', workload });
  await fleet.deployed({ name: 'w'.repeat(63), workload });
  const all = await names();
  expect(all).toHaveLength(5);
  expect(all.filter((name: string) => name.startsWith('web-data'))).toHaveLength(2);
  expect(all.filter((name: string) => name.startsWith('www') && name.length === 63)).toHaveLength(2);
});

test('a deployment keeps its volumes through all operations', async () => {
  await fleet.aHost();
  const { id, volumes } = await fleet.deployed({ workload });
  for (const operation of ['stop', 'start', 'restart']) {
    expect((await fleet.ask(id, operation)).body.deployment.volumes).toEqual(volumes);
  }
  const other = await fleet.aVolume();
  const { status, body } = await fleet.change(id, { volumes: { data: { storage_id: other.id } } });
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'unknown_volume' });
  expect((await fleet.deployment(id)).volumes).toEqual(volumes);
});

test('deleting a deployment deletes the volumes that were created for it, except retained ones', async () => {
  await fleet.aHost();
  const own = await fleet.aVolume({ name: 'own', reclaim: 'delete' });
  const { id, volumes } = await fleet.deployed({
    name: 'web',
    workload: { volume_mounts: [...workload.volume_mounts, { name: 'own', mountPath: '/own' }] },
    volumes: { own: { storage_id: own.id } },
  });
  await fleet.deployed({ name: 'other', workload });
  await fleet.operator.put(`/api/v1/storage/${volumes.cache.storage_id}`, { reclaim: 'retain' });
  expect((await fleet.remove(id)).status).toBe(200);
  expect(await names()).toEqual(['other-cache', 'other-data', 'own', 'web-cache']);
  const kept = (await fleet.storage()).find(({ name }: { name: string }) => name === 'web-cache');
  expect(kept).toMatchObject({ deployment_id: null, attached_to: [], reclaim: 'retain' });
  expect((await fleet.operator.delete(`/api/v1/storage/${kept.id}`)).status).toBe(204);
});

test('deleting a deployment keeps a volume that another deployment uses', async () => {
  await fleet.aHost();
  const first = await fleet.deployed({ workload });
  const { storage_id } = first.volumes.data;
  await fleet.client.volume.update({ where: { id: storage_id }, data: { access_mode: 'ReadWriteMany' } });
  const second = await fleet.deployed({ workload, volumes: { data: { storage_id } } });
  await fleet.remove(first.id);
  expect((await fleet.deployment(second.id)).volumes.data.storage_id).toBe(storage_id);
});

test('an unbound volume is assigned to the target of its first deployment', async () => {
  const host = await fleet.aHost({ name: 'a' });
  await fleet.aHost({ name: 'b' });
  const volume = await fleet.aVolume();
  expect(volume.target).toBeNull();
  await fleet.deployed({ workload, target: { host_id: host.id }, volumes: { data: { storage_id: volume.id } } });
  const { body } = await fleet.operator.get(`/api/v1/storage/${volume.id}`);
  expect(body.storage.target).toEqual({ host_id: host.id, cluster_id: null });
});

test('a deployment is placed on the target of its volume', async () => {
  await fleet.aHost({ name: 'a-better-one' });
  const host = await fleet.aHost({ name: 'b', cpus: 2 });
  const volume = await fleet.aVolume({ target: { host_id: host.id } });
  const { target } = await fleet.deployed({ workload, volumes: { data: { storage_id: volume.id } } });
  expect(target.host_id).toBe(host.id);
});

test('a deployment that is created stopped gets a target for itself and its volumes when it starts', async () => {
  const { id, target, phase } = await fleet.deployed({ workload, desired_state: 'stopped' });
  expect({ target, phase }).toEqual({ target: null, phase: 'stopped' });
  expect(await fleet.manifest(id)).toEqual([]);
  expect((await fleet.ask(id, 'start')).body.code).toBe('no_placement');
  const host = await fleet.aHost();
  const { body } = await fleet.ask(id, 'start');
  expect(body.deployment).toMatchObject({ target: { host_id: host.id }, phase: 'pending', generation: 2 });
  for (const volume of await fleet.storage()) expect(volume.target.host_id).toBe(host.id);
});

test('a mount that a revision removed has the same volume after a rollback', async () => {
  await fleet.aHost();
  const { id, workload_id, volumes } = await fleet.deployed({ workload });
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { volume_mounts: [] });
  expect((await fleet.change(id, { revision: 2 })).status).toBe(200);
  expect((await fleet.ask(id, 'rollback', {})).body.deployment.volumes).toEqual(volumes);
  await fleet.remove(id);
  expect(await names()).toEqual([]);
});
