// Deployments that were created with the defaults of an earlier version.
import { claimNext } from '../../src/reconciler/queue.ts';
import { DEFAULT_TIMINGS as timings } from '../../src/reconciler/timings.ts';
import { CURRENT_DEFAULTS } from '../../src/render/defaults.ts';
import { startDeploymentWorld } from './world.ts';

const it = await startDeploymentWorld();

/** A deployment that version 0.1.0 has created and started. */
async function anOldDeployment() {
  const { id } = await it.deployed();
  await it.client.deployment.update({ where: { id }, data: { defaults_version: 1 } });
  return id;
}

const olderDefaultsOf = ({ conditions }: { conditions: { type: string; message: string }[] }) =>
  conditions.filter(({ type }) => type === 'CreatedWithOlderDefaults').map(({ message }) => message);
const shown = async (id: string) => (await it.operator.get(`/api/v1/deployments/${id}`)).body.deployment;
const containersOf = async (id: string) => {
  const { body } = await it.operator.get(`/api/v1/deployments/${id}/manifest`);
  return body.manifest.filter(({ kind }: { kind: string }) => kind === 'Container');
};
const claim = async () => {
  const found = await claimNext(it.world.database, timings.lease, new AbortController().signal);
  found?.release(); // no heartbeat is needed
  return found?.id;
};

test('a deployment with older defaults keeps its form and shows what a restart would change', async () => {
  await it.aHost();
  const id = await anOldDeployment();
  expect(olderDefaultsOf(await shown(id))).toEqual([
    expect.stringMatching(/^A restart limits the number of processes of each container.*\.$/),
  ]);
  const [old] = await containersOf(id);
  expect(old.body.HostConfig).not.toHaveProperty('PidsLimit');

  expect((await it.ask(id, 'scale', { replicas: 2 })).status).toBe(200);
  const scaled = await containersOf(id);
  expect(scaled.map(({ body }: typeof old) => 'PidsLimit' in body.HostConfig)).toEqual([false, false]);
  expect(olderDefaultsOf(await shown(id))).toHaveLength(1);
  expect((await it.change(id, { labels: { team: 'ml' } })).status).toBe(200);
  expect(olderDefaultsOf(await shown(id))).toHaveLength(1);
});

test.each([
  ['a restart', (id: string) => it.ask(id, 'restart')],
  ['a change of the environment', (id: string) => it.change(id, { env: { NAME: 'new' } })],
])('%s applies the current defaults, and a plan shows it', async (_, operation) => {
  await it.aHost();
  const { id } = await it.deployed({ workload: { env_schema: [{ name: 'NAME' }] } });
  await it.client.deployment.update({ where: { id }, data: { defaults_version: 1 } });
  const planned = await it.plan({ deployment_id: id, env: { NAME: 'new' } });
  expect(planned.body.changes[0].paths).toContain('/body/HostConfig/PidsLimit');
  expect((await operation(id)).status).toBe(200);
  const [container] = await containersOf(id);
  expect(container.body.HostConfig.PidsLimit).toBeGreaterThan(0);
  expect(olderDefaultsOf(await shown(id))).toEqual([]);
});

test('a stopped deployment gets the current defaults when it is started', async () => {
  await it.aHost();
  const id = await anOldDeployment();
  await it.ask(id, 'stop');
  expect(olderDefaultsOf(await shown(id))).toEqual([]);
  await it.ask(id, 'start');
  expect((await it.client.deployment.findUniqueOrThrow({ where: { id } })).defaults_version).toBe(CURRENT_DEFAULTS);
});

test('a replica leaves a deployment with newer defaults to replicas that know them', async () => {
  await it.aHost();
  const { id } = await it.deployed();
  const of = (defaults_version: number) => it.client.deployment.update({ where: { id }, data: { defaults_version } });
  await of(CURRENT_DEFAULTS + 1);
  expect(await claim()).toBeUndefined();
  await of(CURRENT_DEFAULTS);
  expect(await claim()).toBe(id);
});
