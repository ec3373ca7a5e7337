// A migration that creates tables is followed by the grants for them. In between, the previous
// version serves with a role that has no privileges for these tables, but fires the triggers that
// write to them.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { aServingRole } from '@svc/testing';
import { startDeploymentWorld } from '../deployments/world.ts';
import { openPatiently } from '../world.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;
const prismaDir = path.resolve(import.meta.dirname, '../../../../prisma/fleet');
const role = await aServingRole({ databaseUrl: world.databaseUrl, prismaDir });
const database = openPatiently(role.url);
const { client: serving } = database;
afterAll(async () => {
  await database.close();
  await role.drop();
});

const WRITTEN_BY_TRIGGERS = ['changes', 'events', 'placement_targets'];

beforeAll(async () => {
  const { username } = new URL(role.url);
  await client.$executeRawUnsafe(`REVOKE ALL ON ${WRITTEN_BY_TRIGGERS.join(', ')} FROM ${username}`);
  for (const table of WRITTEN_BY_TRIGGERS) {
    await expect(serving.$queryRawUnsafe(`SELECT FROM ${table}`)).rejects.toThrow('permission denied');
  }
});

const allocated = async (id: string) => {
  const [row] = await client.$queryRaw<{ cpus: number; gpus: number }[]>`
    SELECT (cpu_millis / 1000)::int AS cpus, gpu_count AS gpus FROM placement_targets WHERE target_id = ${id}::uuid`;
  return row;
};
const changed = async (id: string) =>
  (await client.$queryRaw<unknown[]>`SELECT FROM changes WHERE object_id = ${id}::uuid`).length;
const aProblem = (kind: string, object_id: string) =>
  client.event.create({
    data: {
      id: randomUUID(),
      kind,
      object_id,
      name: 'any',
      severity: 'warning',
      reason: 'Any',
      message: 'It is as it is.',
    },
  });
const problems = () => client.event.count({ where: { resolved_at: null } });

test('a role without privileges for the tables of triggers changes and deletes a deployment with GPUs and its host', async () => {
  const host = await fleet.aHost({ gpuCount: 2 });
  const { id } = await fleet.deployed({ workload: { gpu_count: 2 } });
  await aProblem('hosts', host.id);
  await aProblem('deployments', id);
  expect(await allocated(host.id)).toEqual({ cpus: 1, gpus: 2 });
  const before = await changed(id);

  await serving.host.update({ where: { id: host.id }, data: { reachability: 'unreachable' } });
  await serving.deployment.update({ where: { id }, data: { cpu_millis: 3000 } });
  expect(await allocated(host.id)).toEqual({ cpus: 3, gpus: 2 });
  expect(await changed(id)).toBeGreaterThan(before);
  await serving.deployment.delete({ where: { id } });
  expect(await allocated(host.id)).toEqual({ cpus: 0, gpus: 0 });
  await serving.host.delete({ where: { id: host.id } });
  expect(await allocated(host.id)).toBeUndefined();
  expect(await problems()).toBe(0);
});

test('a role without privileges for the tables of triggers creates, changes and deletes a cluster with a node', async () => {
  const cluster = await serving.cluster.create({
    data: {
      name: 'cluster',
      server: 'https://cluster.example.test',
      namespace: 'fleet',
      by_admin: true,
      created_by: 'test',
      auth_kind: 'token',
      sealed: 'of no use',
      key_id: 'test',
      gpu_resource_name: 'nvidia.com/gpu',
    },
  });
  await aProblem('clusters', cluster.id);
  const size = { cpu_millis: 1000, memory_bytes: 2 ** 30, gpu_count: 0 };
  const node = { ...size, labels: {}, taints: [], schedulable: true, ready: true, version: 'v1.30.0', arch: 'amd64' };
  await serving.node.create({ data: { ...node, id: randomUUID(), cluster_id: cluster.id, name: 'node' } });
  await serving.cluster.update({ where: { id: cluster.id }, data: { reachability: 'unreachable' } });
  expect(await allocated(cluster.id)).toEqual({ cpus: 0, gpus: 0 });
  await serving.cluster.delete({ where: { id: cluster.id } });
  expect(await allocated(cluster.id)).toBeUndefined();
  expect(await problems()).toBe(0);
});

test('each trigger that writes to a table runs as its owner', async () => {
  expect(
    await client.$queryRaw`
      SELECT DISTINCT proname FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
      WHERE NOT tgisinternal AND NOT prosecdef AND prosrc ~* '(insert into|update|delete from) [a-z]'`,
  ).toEqual([]);
});
