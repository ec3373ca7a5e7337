import { randomUUID } from 'node:crypto';
import { refusedIn, says } from './refused.ts';
import { startDeploymentWorld } from './world.ts';

const it = await startDeploymentWorld();
const refused = refusedIn(it);

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
