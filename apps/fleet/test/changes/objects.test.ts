import { randomUUID } from 'node:crypto';
import { changeKinds } from '@svc/contract/fleet';
import { startDeploymentWorld } from '../deployments/world.ts';
import { listenFor } from './client.ts';

const deploymentWorld = await startDeploymentWorld();
const { world, client } = deploymentWorld;
const fleet = await listenFor(world.aReplica().app);
afterAll(() => fleet.close());

const HIDDEN = 'hidden-value';

/** Creates an object of each list, and changes those that existed before. */
async function changeEachList() {
  await deploymentWorld.aHost({ labels: { a: 'b' }, taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] });
  await deploymentWorld.aHost();
  const ofCluster = { id: randomUUID(), cluster_id: (await deploymentWorld.aCluster()).id };
  const resources = { cpu_millis: 4000, memory_bytes: 2 ** 33, gpu_count: 0 };
  const state = { labels: {}, taints: [], schedulable: true, ready: true, version: '1.30', arch: 'amd64' };
  await client.node.create({ data: { name: 'node-1', ...ofCluster, ...resources, ...state } });
  await deploymentWorld.aSecret('any', { key: HIDDEN });
  await world.aUser('viewer');
  await world.anOidcUser();
  const env_schema = [{ name: 'SHOWN' }, { name: 'HIDDEN', description: 'Any [secret]' }];
  const { id } = await deploymentWorld.deployed({ workload: { env_schema } });
  const env = { SHOWN: 'shown-value', HIDDEN }; // version 0.1.0 stored values of secret variables
  await client.deployment.update({ where: { id }, data: { env, phase: 'running', observed_generation: 1 } });
  const event = {
    kind: 'deployments',
    object_id: id,
    name: 'any',
    severity: 'warning',
    reason: 'CrashLoop',
    message: 'any',
  };
  await client.event.create({ data: { id: randomUUID(), ...event } });
  await client.token.updateMany({ data: { created_by: 'anyone' } });
  await client.user.updateMany({ data: { updated_at: new Date() } });
  return (await deploymentWorld.aVolume()).id;
}

test('the object of each list is the same in an event and in its list, without secret values', async () => {
  const watch = await fleet.watch((await world.aToken()).secret);
  await watch.ofObject(await changeEachList());
  const objectOf = (kind: string, id: string) =>
    watch.changes.findLast(({ data }) => data?.kind === kind && data.id === id)?.data?.object;
  for (const kind of changeKinds) {
    const { body } = await world.asAdmin.get(`/api/v1/${kind}?limit=100`);
    expect(body[kind].length).toBeGreaterThan(0);
    for (const object of body[kind]) expect(withoutTimes(objectOf(kind, object.id))).toEqual(withoutTimes(object));
  }
  const text = JSON.stringify(watch.changes);
  expect(text).toContain('shown-value');
  expect(text).not.toContain(HIDDEN);
  watch.end();
});

/** Without the times of uses, which are not recorded. */
const withoutTimes = (object: unknown) => ({ ...Object(object), last_used_at: null, last_sign_in_at: null });
