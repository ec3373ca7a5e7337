// A backup of the database is taken in the middle of rollouts, the fleet continues, and the backup is restored.
import { type Backup, backUp, eventually } from '@svc/testing';
import { startDeploymentWorld } from '../../deployments/world.ts';
import { deploymentHelpers } from '../deployment-helpers.ts';
import { aSimulatedHost } from '../simulated-host.ts';

const fleet = await startDeploymentWorld({ kept: true });
const { client, operator, world } = fleet;
const { events } = deploymentHelpers(world);
const { engineRuntime } = world.services;

const workload = { ports: [{ containerPort: 80 }], env_schema: [{ name: 'MODE' }] };
/** With the second policy, a rollout waits when its extra instance is ready. */
const AT_ONCE = { ready_seconds: 0, deadline_seconds: 7200 };
const WAITING = { ready_seconds: 3600, deadline_seconds: 7200 };

const ids = { later: '', earlier: '', failing: '' };
let host: Awaited<ReturnType<typeof aSimulatedHost>>;
let backup: Backup;
let servesBefore: string;

const containersOf = async (id: string) => (await host.creationsOf(id)).filter(({ removedAt }) => removedAt === null);
const rowOf = (id: string) => client.deployment.findUniqueOrThrow({ where: { id } });

const untilConnected = () =>
  eventually('the database accepts connections', () =>
    client.$queryRaw`SELECT 1`.then(
      () => true,
      () => false,
    ),
  );

const rolloutIs = (id: string, state: string) =>
  eventually(`the rollout has ${state}`, () => fleet.deployment(id), {
    until: ({ rollout, generation }) => rollout?.state === state && rollout.generation === generation,
  });

/** Waits until the extra instance of a rollout is ready. */
const isWaiting = (id: string) =>
  eventually('the extra instance is ready', () => fleet.deployment(id), {
    until: ({ rollout }) => rollout?.state === 'progressing' && rollout.extra && rollout.ready === 1,
  });

/** Changes a variable, with a policy. */
async function change(id: string, MODE: string, updates: object) {
  await fleet.change(id, { updates });
  expect((await fleet.change(id, { env: { MODE } })).status).toBe(200);
}

/** Only the instance of a deployment is left, with its present configuration, and what the rollout needed is released. */
async function expectConverged(id: string) {
  const bodies = (await fleet.manifest(id)).flatMap(({ body }: { body?: { Labels?: Record<string, string> } }) =>
    body?.Labels?.['fleet/ordinal'] === undefined ? [] : [body.Labels['fleet/body']],
  );
  expect((await containersOf(id)).map(({ labels }) => labels['fleet/body'])).toEqual(bodies);
  const { extra_instances, good_generation, generation } = await rowOf(id);
  expect({ extra_instances, good_generation }).toEqual({ extra_instances: 0, good_generation: generation });
  expect(await client.allocatedPort.count({ where: { deployment_id: id } })).toBe(1);
}

beforeAll(async () => {
  host = await aSimulatedHost();
  engineRuntime.start();
  await fleet.aHost({ endpoint: host.endpoint });
  for (const name of ['later', 'earlier', 'failing'] as const) {
    ids[name] = (await fleet.deployed({ name, workload, env: { MODE: 'old' }, updates: AT_ONCE })).id;
  }
  for (const id of Object.values(ids)) await rolloutIs(id, 'succeeded');
  await change(ids.later, 'new', WAITING);
  await isWaiting(ids.later);
  const { workload_id } = await fleet.deployment(ids.failing);
  await operator.put(`/api/v1/workloads/${workload_id}`, { command: ['false'] });
  await fleet.change(ids.failing, { revision: 2 });
  await eventually('the extra instance exists', async () => (await containersOf(ids.failing)).length === 2);
  backup = await backUp(world.databaseUrl);
  await untilConnected();

  await fleet.change(ids.later, { updates: AT_ONCE });
  await rolloutIs(ids.later, 'succeeded');
  await change(ids.later, 'newer', WAITING);
  await isWaiting(ids.later);
  await change(ids.earlier, 'new', WAITING);
  await isWaiting(ids.earlier);
  await rolloutIs(ids.failing, 'rolled_back');
  servesBefore = (await containersOf(ids.earlier))[0]?.name ?? '';

  await backup.restore();
  await untilConnected();
  for (const id of Object.values(ids)) await client.deployment.update({ where: { id }, data: { due_at: new Date(0) } });
});
afterAll(async () => {
  await engineRuntime.stop();
  await backup?.drop();
  await host?.stop();
});

test('a rollout that was in progress begins again, and replaces the instances of a later generation', async () => {
  await eventually('the generation is raised', async () => (await rowOf(ids.later)).generation === 4);
  await fleet.change(ids.later, { updates: AT_ONCE });
  expect(await rolloutIs(ids.later, 'succeeded')).toMatchObject({ generation: 4, env: { MODE: 'new' } });
  await expectConverged(ids.later);
  expect((await events(ids.later)).filter((event) => event.startsWith('Superseded: '))).toHaveLength(1);
});

test('the extra instance of a rollout that is not known any more is removed, and the instance that serves stays', async () => {
  expect(
    await eventually('the rollout has succeeded', () => fleet.deployment(ids.earlier), {
      until: ({ rollout }) => rollout.generation === 3 && rollout.state === 'succeeded',
    }),
  ).toMatchObject({ generation: 3, env: { MODE: 'old' } });
  await expectConverged(ids.earlier);
  expect((await host.creationsOf(ids.earlier)).filter(({ name }) => name === servesBefore)).toHaveLength(1);
});

test('a rollout that failed and returned after the backup fails and returns once more', async () => {
  expect(await rolloutIs(ids.failing, 'rolled_back')).toMatchObject({ generation: 3, revision: 1 });
  await expectConverged(ids.failing);
  expect((await events(ids.failing)).filter((event) => event.startsWith('RolledBack: '))).toHaveLength(1);
});
