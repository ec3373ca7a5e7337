// Deployments that were created with the defaults of an earlier version.
import { claimDue } from '../../src/reconciler/queue.ts';
import { DEFAULT_TIMINGS as timings } from '../../src/reconciler/timings.ts';
import { CURRENT_DEFAULTS } from '../../src/render/defaults.ts';
import { startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();

/** The columns of a deployment that version 0.1.0 has created. */
const OLD = { defaults_version: 1, default_memory_bytes: null, default_processes: null };

/** A deployment that version 0.1.0 has created and started. */
async function anOldDeployment(workload = {}) {
  const { id } = await fleet.deployed({ workload });
  await fleet.client.deployment.update({ where: { id }, data: OLD });
  return id;
}

const olderDefaultsOf = ({ conditions }: { conditions: { type: string; message: string }[] }) =>
  conditions.filter(({ type }) => type === 'CreatedWithOlderDefaults').map(({ message }) => message);
const shown = async (id: string) => (await fleet.operator.get(`/api/v1/deployments/${id}`)).body.deployment;
const containersOf = async (id: string) => {
  const { body } = await fleet.operator.get(`/api/v1/deployments/${id}/manifest`);
  return body.manifest.filter(({ kind }: { kind: string }) => kind === 'Container');
};
const claim = async () => {
  const [found] = await claimDue(
    fleet.world.database,
    { lease: timings.lease, limit: 1 },
    new AbortController().signal,
  );
  found?.release(); // no heartbeat is needed
  return found?.id;
};

test('a deployment with older defaults keeps its form and shows what a restart would change', async () => {
  await fleet.aHost();
  const id = await anOldDeployment();
  expect(olderDefaultsOf(await shown(id))).toEqual([
    'A restart limits the number of processes of each container to 4096, limits the memory of each container to 2Gi, removes the capabilities MKNOD and NET_RAW from each container, removes access to GPUs that the workload does not request, starts an init process in each container, so that programs stop without delay, moves its containers from the default network of the engine to an isolated network.',
  ]);
  const [old] = await containersOf(id);
  for (const member of ['PidsLimit', 'Memory', 'CapDrop', 'CapAdd'])
    expect(old.body.HostConfig).not.toHaveProperty(member);

  expect((await fleet.ask(id, 'scale', { replicas: 2 })).status).toBe(200);
  const scaled = await containersOf(id);
  expect(scaled.map(({ body }: typeof old) => 'PidsLimit' in body.HostConfig)).toEqual([false, false]);
  expect(olderDefaultsOf(await shown(id))).toHaveLength(1);
  expect((await fleet.change(id, { labels: { team: 'ml' } })).status).toBe(200);
  expect(olderDefaultsOf(await shown(id))).toHaveLength(1);
});

test.each([
  ['a restart', (id: string) => fleet.ask(id, 'restart')],
  ['a change of the environment', (id: string) => fleet.change(id, { env: { NAME: 'new' } })],
])('%s applies the current defaults, and a plan shows it', async (_, operation) => {
  await fleet.aHost();
  const { id } = await fleet.deployed({ workload: { env_schema: [{ name: 'NAME' }] } });
  await fleet.client.deployment.update({ where: { id }, data: OLD });
  const planned = await fleet.plan({ deployment_id: id, env: { NAME: 'new' } });
  const replaced = planned.body.changes.find(({ action }: { action: string }) => action === 'replace');
  expect(replaced.paths).toContain('/body/HostConfig/PidsLimit');
  expect((await operation(id)).status).toBe(200);
  const [container] = await containersOf(id);
  expect(container.body.HostConfig.PidsLimit).toBeGreaterThan(0);
  expect(olderDefaultsOf(await shown(id))).toEqual([]);
});

test('a deployment keeps its default limits if the settings change, and shows what a restart would change', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed();
  const { id: requesting } = await fleet.deployed({ workload: { memory_request: '1Gi' } });
  // The settings at the time.
  const before = { default_memory_bytes: 2n ** 30n, default_processes: 100 };
  await fleet.client.deployment.updateMany({ data: before });
  const [container] = await containersOf(id);
  expect(container.body.HostConfig).toMatchObject({ Memory: 2 ** 30, PidsLimit: 100 });
  const processes = 'limits the number of processes of each container to 4096';
  expect(olderDefaultsOf(await shown(id))).toEqual([
    `A restart ${processes}, limits the memory of each container to 2Gi.`,
  ]);
  expect(olderDefaultsOf(await shown(requesting))).toEqual([`A restart ${processes}.`]);
  await fleet.ask(id, 'scale', { replicas: 2 });
  expect(await fleet.client.deployment.findUniqueOrThrow({ where: { id } })).toMatchObject(before);
  await fleet.ask(id, 'restart');
  expect(olderDefaultsOf(await shown(id))).toEqual([]);
  const [restarted] = await containersOf(id);
  expect(restarted.body.HostConfig).toMatchObject({ Memory: 2 * 2 ** 30, PidsLimit: 4096 });
});

test('a default limit of memory is not allocated', async () => {
  const host = await fleet.aHost({ gib: 1 });
  await fleet.deployed({ replicas: 3 });
  expect((await fleet.host(host.id)).allocated).toMatchObject({ memory: '0' });
});

test.each([
  ['SVC_SHM_SIZE', '8GB', /must be the size of \/dev\/shm, from 1Mi to 256Gi/],
  ['SVC_HEALTH_CHECK', 'http:8080 /', /must be http:<port><path>, tcp:<port> or exec:<command>/],
])('a deployment with an invalid %s is refused', async (name, value, message) => {
  await fleet.aHost();
  const { id: workload_id } = await fleet.aWorkload({ env_schema: [{ name }] });
  const { status, body } = await fleet.deploy({ workload_id, env: { [name]: value } });
  expect({ status, errors: body.errors }).toEqual({
    status: 422,
    errors: [{ path: `env.${name}`, message: expect.stringMatching(message) }],
  });
});

test('a deployment sets the size of shared memory, unless a volume is mounted there', async () => {
  await fleet.aHost();
  const env_schema = [{ name: 'SVC_SHM_SIZE', default_value: '1Gi' }];
  const { id } = await fleet.deployed({ workload: { env_schema }, env: { SVC_SHM_SIZE: '2Gi' } });
  const [container] = await containersOf(id);
  expect(container.body).toMatchObject({ Env: ['NVIDIA_VISIBLE_DEVICES=void'], HostConfig: { ShmSize: 2 * 2 ** 30 } });
  const { id: workload_id } = await fleet.aWorkload({
    env_schema,
    volume_mounts: [{ name: 'shm', mountPath: '/dev/shm/' }],
  });
  const { body } = await fleet.deploy({ workload_id });
  expect(body.errors).toEqual([
    { path: 'env.SVC_SHM_SIZE', message: 'must not be set, because a volume is mounted at /dev/shm' },
  ]);
});

test('a stopped deployment gets the current defaults when it is started', async () => {
  await fleet.aHost();
  const id = await anOldDeployment();
  await fleet.ask(id, 'stop');
  expect(olderDefaultsOf(await shown(id))).toEqual([]);
  await fleet.ask(id, 'start');
  expect((await fleet.client.deployment.findUniqueOrThrow({ where: { id } })).defaults_version).toBe(CURRENT_DEFAULTS);
});

test('a replica leaves a deployment with newer defaults to replicas that know them', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed();
  const of = (defaults_version: number) =>
    fleet.client.deployment.update({ where: { id }, data: { defaults_version } });
  await of(CURRENT_DEFAULTS + 1);
  expect(await claim()).toBeUndefined();
  await of(CURRENT_DEFAULTS);
  expect(await claim()).toBe(id);
});
