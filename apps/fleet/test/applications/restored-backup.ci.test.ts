// A backup of the database is taken in the middle of updates of applications, the fleet continues, and the backup is restored.
import { type Backup, backUp, eventually } from '@svc/testing';
import { aSimulatedHost } from '../reconciler/simulated-host.ts';
import { startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld({ kept: true });
const { client, operator, world } = fleet;
const { engineRuntime } = world.services;

/** With the second policy, the update of a part waits when its extra instance is ready. */
const AT_ONCE = {
  from: 'manual',
  order: 'start_first',
  window: null,
  ready_seconds: 0,
  deadline_seconds: 7200,
  on_failure: 'stop',
};
const WAITING = { ...AT_ONCE, ready_seconds: 3600 };

const database = {
  name: 'database',
  image_name: 'library/mysql',
  image_tag: '8',
  ports: [{ containerPort: 3306 }],
  volume_mounts: [{ name: 'data', mountPath: '/var/lib/mysql' }],
  env: [{ name: 'PASSWORD', value: `\${generated.password}` }],
};
const specOf = (web: object) => ({
  generated: [{ name: 'password' }],
  parts: [
    database,
    {
      name: 'web',
      image_name: 'library/ghost',
      image_tag: '6',
      needs: [{ part: 'database', until: 'ready' }],
      ports: [{ containerPort: 2368, publish: true }],
      env: [{ name: 'URL', value: `mysql://\${generated.password|url}@\${parts.database.address.3306}` }],
      ...web,
    },
  ],
});

const NAMES = ['later', 'earlier', 'failing'] as const;
const ids = { later: '', earlier: '', failing: '' };
let host: Awaited<ReturnType<typeof aSimulatedHost>>;
let backup: Backup;

const idOf = async (id: string, part: string): Promise<string> => (await fleet.part(id, part)).deployment_id;
const containersOf = async (id: string) => (await host.creationsOf(id)).filter(({ removedAt }) => removedAt === null);

/** Waits until the present generation of an application has an outcome. */
const applicationIs = (id: string, outcome: string, generation: number) =>
  eventually(`generation ${generation} is ${outcome}`, () => fleet.application(id), {
    until: (seen) => seen.outcome === outcome && seen.generation === generation,
  });

/** Waits until the extra instance of the part web is ready. */
const isWaiting = async (id: string) => {
  const web = await idOf(id, 'web');
  return eventually('the extra instance is ready', () => fleet.deployment(web), {
    until: ({ rollout }) => rollout?.state === 'progressing' && rollout.extra && rollout.ready === 1,
  });
};

const setPolicy = async (id: string, updates: object) => {
  await client.deployment.update({ where: { id: await idOf(id, 'web') }, data: { updates, due_at: new Date(0) } });
};

/** Updates the part web, with a policy. */
async function update(id: string, web: object, updates: object) {
  await setPolicy(id, updates);
  const { status, body } = await operator.put(`/api/v1/applications/${id}`, { spec: specOf(web) });
  expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
}

/** Each part has one instance, with its present configuration and its address, and the database has been started only once. */
async function expectConverged(id: string) {
  for (const part of ['database', 'web']) {
    const deployment = await idOf(id, part);
    const manifest = await fleet.manifest(deployment);
    const bodies = manifest.flatMap(({ body }: { body?: { Labels?: Record<string, string> } }) =>
      body?.Labels?.['fleet/ordinal'] === undefined ? [] : [body.Labels['fleet/body']],
    );
    expect(bodies).toHaveLength(1);
    await eventually(`the part ${part} has one instance`, async () => (await containersOf(deployment)).length === 1);
    expect((await containersOf(deployment)).map(({ labels }) => labels['fleet/body'])).toEqual(bodies);
    expect(await client.networkAddress.count({ where: { deployment_id: deployment } })).toBe(1);
  }
  expect(await host.creationsOf(await idOf(id, 'database'))).toHaveLength(1);
}

const untilConnected = () =>
  eventually('the database accepts connections', () =>
    client.$queryRaw`SELECT 1`.then(
      () => true,
      () => false,
    ),
  );

beforeAll(async () => {
  host = await aSimulatedHost();
  engineRuntime.start();
  await fleet.aHost({ endpoint: host.endpoint });
  for (const name of NAMES) {
    const { application } = await fleet.created({ name, spec: specOf({}) });
    ids[name] = application.id;
    const parts = { application_id: application.id };
    await client.deployment.updateMany({ where: parts, data: { updates: AT_ONCE, due_at: new Date(0) } });
  }
  for (const id of Object.values(ids)) await applicationIs(id, 'good', 1);
  await update(ids.later, { image_tag: '7' }, WAITING);
  await isWaiting(ids.later);
  await update(ids.failing, { command: ['false'] }, AT_ONCE);
  const failing = await idOf(ids.failing, 'web');
  await eventually('the extra instance exists', async () => (await containersOf(failing)).length === 2);
  backup = await backUp(world.databaseUrl);
  await untilConnected();

  await setPolicy(ids.later, AT_ONCE);
  await applicationIs(ids.later, 'good', 2);
  await update(ids.later, { image_tag: '8' }, WAITING);
  await isWaiting(ids.later);
  await update(ids.earlier, { image_tag: '7' }, WAITING);
  await isWaiting(ids.earlier);
  await applicationIs(ids.failing, 'good', 3);

  await backup.restore();
  await untilConnected();
  await client.deployment.updateMany({ data: { due_at: new Date(0) } });
});
afterAll(async () => {
  await engineRuntime.stop();
  await backup?.drop();
  await host?.stop();
});

test('an update that was in progress begins again, and ends with what the restored generation describes', async () => {
  const web = await idOf(ids.later, 'web');
  await eventually('the generation of the part is raised', async () => (await fleet.deployment(web)).generation === 4);
  await setPolicy(ids.later, AT_ONCE);
  expect(await applicationIs(ids.later, 'good', 2)).toMatchObject({ good_generation: 2, phase: 'running' });
  expect((await fleet.part(ids.later, 'web')).image).toBe('docker.io/library/ghost:7');
  await expectConverged(ids.later);
});

test('an update that the restored database does not know is undone, and the application stays good', async () => {
  const web = await idOf(ids.earlier, 'web');
  await eventually('the part has returned', () => fleet.deployment(web), {
    until: ({ rollout, generation }) => generation === 3 && rollout?.state === 'succeeded',
  });
  expect(await fleet.application(ids.earlier)).toMatchObject({ generation: 1, good_generation: 1, phase: 'running' });
  expect((await fleet.part(ids.earlier, 'web')).image).toBe('docker.io/library/ghost:6');
  await expectConverged(ids.earlier);
});

test('an update that failed and returned after the backup fails and returns once more', async () => {
  expect(await applicationIs(ids.failing, 'good', 3)).toMatchObject({ failed_generation: 2, phase: 'running' });
  await expectConverged(ids.failing);
  const { body } = await operator.get(`/api/v1/applications/${ids.failing}/events?limit=100`);
  const failures = body.events.filter(
    ({ reason, part }: Record<string, unknown>) => reason === 'Failed' && part === null,
  );
  expect(failures).toHaveLength(1);
});

test('an update after the restore works as before', async () => {
  await update(ids.earlier, { image_tag: '9' }, AT_ONCE);
  await applicationIs(ids.earlier, 'good', 2);
  expect((await fleet.part(ids.earlier, 'web')).image).toBe('docker.io/library/ghost:9');
  await expectConverged(ids.earlier);
});
