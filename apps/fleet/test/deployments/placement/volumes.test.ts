import { reasonsOf, startDeploymentWorld } from '../world.ts';

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

describe('a size in a change of a deployment', () => {
  test.each([
    ['an attached volume', {}],
    ['an attached volume that is named', { isNamed: true }],
  ])('of %s is refused if it is another one', async (_, { isNamed = false }: { isNamed?: boolean }) => {
    await fleet.aHost();
    const { id, volumes } = await fleet.deployed({ name: 'web', workload, volumes: { data: { size: '5Gi' } } });
    const { storage_id } = volumes.data;
    const body = { volumes: { data: { size: '6Gi', ...(isNamed && { storage_id }) } } };
    const before = await fleet.contents();
    const message = `has the volume web-data of 5Gi, whose size a deployment does not change; change its size with PUT /api/v1/storage/${storage_id}`;
    for (const answer of [await fleet.change(id, body), await fleet.plan({ deployment_id: id, ...pathsOnly(body) })]) {
      expect(reasonsOf(answer)).toEqual([{ path: 'volumes.data', message }]);
    }
    expect((await fleet.change(id, body)).status).toBe(422);
    expect(await fleet.contents()).toEqual(before);
  });

  test('that is the present one changes nothing', async () => {
    await fleet.aHost();
    const { id, volumes, generation } = await fleet.deployed({ workload, volumes: { data: { size: '5Gi' } } });
    for (const given of [volumes, { data: { size: '5120Mi' } }]) {
      expect(await fleet.change(id, { volumes: given })).toMatchObject({
        status: 200,
        body: { deployment: { generation } },
      });
    }
  });

  test('of a volume that the change attaches is refused if it is not that of the volume', async () => {
    await fleet.aHost();
    const { id, workload_id } = await fleet.deployed({ workload: { volume_mounts: [] } });
    await fleet.operator.put(`/api/v1/workloads/${workload_id}`, workload);
    const { id: storage_id } = await fleet.aVolume({ size: '5Gi' });
    const attach = (size: string) => fleet.change(id, { revision: 2, volumes: { data: { storage_id, size } } });
    expect(await attach('6Gi')).toMatchObject({ status: 422, body: { code: 'unknown_volume' } });
    expect((await attach('5Gi')).status).toBe(200);
  });
});

/** A plan accepts either a size or an id. */
const pathsOnly = ({ volumes: { data } }: { volumes: { data: { size: string } } }) => ({
  volumes: { data: { size: data.size } },
});

describe('the loss of a volume', () => {
  /** A deployment whose volume of the mount `data` is lost. */
  async function aLoss() {
    await fleet.aHost();
    const deployment = await fleet.deployed({ name: 'web', workload, volumes: { data: { size: '5Gi' } } });
    const { storage_id } = deployment.volumes.data;
    const { client } = fleet;
    await client.volume.updateMany({ data: { phase: 'bound', sent_to_engine: true } });
    await client.volume.update({ where: { id: storage_id }, data: { phase: 'lost' } });
    const state = { phase: 'failed', reason: 'VolumeLost', message: 'The volume is gone.', observed_generation: 1 };
    await client.deployment.update({ where: { id: deployment.id }, data: { ...state, sent_to_engine: true } });
    return { ...deployment, lost: storage_id };
  }
  const phaseOf = async (id: string) => (await fleet.operator.get(`/api/v1/storage/${id}`)).body.storage.phase;

  test('is accepted with a new, empty volume of the same size, and the plan states it', async () => {
    const { id, lost, volumes } = await aLoss();
    expect((await fleet.deployment(id)).message).toBe(
      `The volume is gone. Restore the volume, or continue without its data: PUT /api/v1/deployments/${id} with {"accept_loss": ["data"]} replaces it.`,
    );
    const plan = await fleet.plan({ deployment_id: id, accept_loss: ['data'] });
    const note = expect.stringMatching(/^is lost; the new, empty volume web-data-\w+ replaces it$/);
    expect(plan.body).toMatchObject({ ok: true, data: [{ volume: 'web-data', note }] });
    const { status, body } = await fleet.change(id, { accept_loss: ['data'] });
    expect({ status, ...body.deployment }).toMatchObject({ status: 200, phase: 'pending', generation: 2 });
    expect(body.deployment.volumes.cache).toEqual(volumes.cache);
    const { storage_id, size } = body.deployment.volumes.data;
    expect({ size, isNew: storage_id !== lost, phase: await phaseOf(storage_id) }).toEqual({
      size: '5Gi',
      isNew: true,
      phase: 'pending',
    });
    expect(await phaseOf(lost)).toBe('deleting');
    const [event] = await fleet.events(id);
    expect(event.message).toBe('updated, accepting the loss of the volumes of data');
  });

  test('is accepted with another size, or with another volume', async () => {
    const first = await aLoss();
    const { body } = await fleet.change(first.id, { accept_loss: ['data'], volumes: { data: { size: '7Gi' } } });
    expect(body.deployment.volumes.data.size).toBe('7Gi');
    await fleet.client.volume.updateMany({
      where: { id: body.deployment.volumes.data.storage_id },
      data: { phase: 'lost' },
    });
    const { id: storage_id } = await fleet.aVolume({ size: '3Gi' });
    const again = await fleet.change(first.id, { accept_loss: ['data'], volumes: { data: { storage_id } } });
    expect(again.body.deployment.volumes.data).toEqual({ storage_id, size: '3Gi' });
  });

  test('keeps the record of a volume that was not created for the deployment', async () => {
    const { id, lost } = await aLoss();
    await fleet.client.volume.update({ where: { id: lost }, data: { reclaim: 'retain' } });
    expect((await fleet.change(id, { accept_loss: ['data'] })).status).toBe(200);
    expect(await phaseOf(lost)).toBe('lost');
    expect((await fleet.operator.delete(`/api/v1/storage/${lost}`)).status).toBe(204);
  });

  test.each([
    [
      'a volume that is not lost',
      ['cache'],
      'accept_loss.0',
      /^names the mount cache, whose volume web-cache is not lost: its phase is bound$/,
    ],
    ['an unknown mount', ['data', 'other'], 'accept_loss.1', /^is not a volume mount of this workload/],
  ])('is refused for %s, and changes nothing', async (_, accept_loss, path, message) => {
    const { id } = await aLoss();
    const before = await fleet.contents();
    const answer = await fleet.change(id, { accept_loss });
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code: 'unknown_volume' });
    expect(reasonsOf(answer)).toEqual([{ path, message: expect.stringMatching(message) }]);
    expect(await fleet.plan({ deployment_id: id, accept_loss })).toMatchObject({ body: { ok: false, data: [] } });
    expect(await fleet.contents()).toEqual(before);
  });

  test('is refused for a new deployment, and with the lost volume as its replacement', async () => {
    const { id, lost, workload_id } = await aLoss();
    const same = { accept_loss: ['data'], volumes: { data: { storage_id: lost } } };
    expect((await fleet.change(id, same)).status).toBe(422);
    const planned = await fleet.plan({ workload_id, accept_loss: ['data'] });
    expect(planned).toMatchObject({ status: 400, body: { errors: [{ path: 'accept_loss' }] } });
  });
});
