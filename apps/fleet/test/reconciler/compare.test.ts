// How the objects that a check lists are compared with the deployments of a host.
import { v7 as uuidv7 } from 'uuid';
import type { ManagedObject } from '../../src/engines/managed.ts';
import type { Prisma } from '../../src/generated/prisma/client.ts';
import { compareWithRows } from '../../src/reconciler/checks/compare.ts';
import { startDeploymentWorld } from '../deployments/world.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;

const HOUR_MS = 3_600_000;
const object = { name: '', source: undefined, object: '', containerId: '', replicas: 1 };

const container = (id: string, instance: string, generation = 1): ManagedObject => ({
  ...object,
  kind: 'deployment',
  id,
  generation,
  instance,
});
const volume = (id: string): ManagedObject => ({ ...object, kind: 'volume', id, generation: 0 });

/** A host with a deployment of two instances and a volume, which is as desired, and its list. */
async function settled(given: Partial<Prisma.DeploymentUncheckedCreateInput> = {}) {
  const host = await fleet.aHost();
  const { id: workload_id } = await fleet.aWorkload();
  const instances = ['web-0', 'web-1'].map((name) => ({ name, phase: 'running', message: 'is running', restarts: 0 }));
  const { id } = await client.deployment.create({
    data: {
      name: uuidv7(),
      created_by: 'test',
      workload_id,
      revision: 1,
      replicas: 2,
      host_id: host.id,
      instances,
      observed_generation: 1,
      phase: 'running',
      sent_to_engine: true,
      observed_at: new Date(Date.now() - 60_000),
      due_at: new Date(Date.now() + HOUR_MS),
      ...given,
    },
  });
  const data = await fleet.aVolume();
  const where = { id: data.id };
  await client.volume.update({ where, data: { phase: 'bound', host_id: host.id, sent_to_engine: true } });
  await client.attachment.create({ data: { deployment_id: id, mount: 'data', volume_id: data.id } });
  const listed = [container(id, 'web-1 running'), container(id, 'web-0 running'), volume(data.id)];
  const compare = (managed: readonly ManagedObject[]) =>
    compareWithRows(world.database, { kind: 'host', row: host }, { managed, requestedAt: performance.now() });
  return { id, host, listed, compare };
}

const versionOf = async (id: string) =>
  (await client.$queryRaw<unknown[]>`SELECT xmin::text, due_at FROM deployments WHERE id = ${id}::uuid`)[0];

test('nothing is written if the containers are those that the last reconciliation has found', async () => {
  const { id, listed, compare } = await settled();
  const before = await versionOf(id);
  expect(await compare(listed)).toEqual({ due: 0, deleted: [], has_orphans: false, unused_networks: [] });
  expect(await versionOf(id)).toEqual(before);
});

type Change = (listed: readonly ManagedObject[], id: string) => readonly ManagedObject[];

test.each<[string, Change]>([
  ['a container is missing', ([, ...rest]) => rest],
  ['all containers are missing', (listed) => listed.filter(({ kind }) => kind === 'volume')],
  ['there is another container', (listed, id) => [...listed, container(id, 'web-2 running')]],
  ['a container exists twice', (listed, id) => [...listed, container(id, 'web-1 running')]],
  ['a container has another name', ([, ...rest], id) => [...rest, container(id, 'renamed running')]],
  ['a container has ended', ([, ...rest], id) => [...rest, container(id, 'web-1 completed')]],
  ['a container is paused or unhealthy', ([, ...rest], id) => [...rest, container(id, 'web-1 other')]],
  ['a container has a later generation', ([, ...rest], id) => [...rest, container(id, 'web-1 running', 2)]],
  ['its volume is missing', (listed) => listed.filter(({ kind }) => kind !== 'volume')],
])('a deployment becomes due at once if %s', async (_, change) => {
  const { id, listed, compare } = await settled();
  expect((await compare(change(listed, id))).due).toBe(1);
  const { due_at } = await client.deployment.findUniqueOrThrow({ where: { id } });
  expect(due_at.getTime()).toBeLessThan(Date.now() + 1000);
});

test('a stopped deployment becomes due if it has a container', async () => {
  const { id, compare } = await settled({ desired_state: 'stopped', phase: 'stopped', instances: [] });
  expect((await compare([])).due).toBe(0);
  expect((await compare([container(id, 'web-0 completed')])).due).toBe(1);
});

test('an instance that has completed is expected to have ended', async () => {
  const instances = [
    ['web-0', 'completed'],
    ['web-1', 'running'],
  ].map(([name, phase]) => ({ name, phase }));
  const { id, listed, compare } = await settled({ instances });
  const data = listed.filter(({ kind }) => kind === 'volume');
  expect((await compare([container(id, 'web-0 completed'), container(id, 'web-1 running'), ...data])).due).toBe(0);
  expect((await compare(listed)).due).toBe(1);
});

test.each<[string, Partial<Prisma.DeploymentUncheckedCreateInput>]>([
  ['a worker reconciles', { lease_owner: uuidv7(), lease_until: new Date(Date.now() + HOUR_MS) }],
  ['waits after a failure', { failures: 1 }],
  ['is starting', { phase: 'starting' }],
  ['was changed and not reconciled yet', { generation: 2 }],
  ['was reconciled after the list was requested', { observed_at: new Date(Date.now() + HOUR_MS) }],
])('a deployment is not compared if it %s', async (_, given) => {
  const { compare } = await settled(given);
  expect((await compare([])).due).toBe(0);
});

test('the deployments of other hosts are not compared', async () => {
  const one = await settled();
  const other = await settled();
  expect((await one.compare([...one.listed, container(other.id, 'web-0 running')])).due).toBe(0);
});

test('objects of deleted and of unknown deployments and volumes are found', async () => {
  const { host, listed, compare } = await settled();
  const deleted = uuidv7();
  const unknown = uuidv7();
  await client.tombstone.create({ data: { id: deleted, host_id: host.id } });
  expect(await compare([...listed, volume(deleted)])).toMatchObject({ deleted: [deleted], has_orphans: false });
  expect(await compare([...listed, container(unknown, 'web-0 running')])).toMatchObject({ has_orphans: true });
  const document = { name: '', generation: 1 };
  await client.orphan.create({ data: { target_id: host.id, host_id: host.id, id: unknown, kind: 'volume', document } });
  expect(await compare(listed)).toMatchObject({ deleted: [], has_orphans: true });
});
