// Decisions about several deployments, of which each sees what the earlier ones would store.
import { holding } from '@svc/testing/faults';
import { inPlan } from '../../../src/deployments/plans/several.ts';
import { deployments } from '../../../src/deployments/rows.ts';
import { readRow } from '../../../src/resources/kind.ts';
import { receivedBy, secretVariable } from '../values/variables.ts';
import { startDeploymentWorld } from '../world.ts';
import { choiceOf, creation, plansIn, reasonsOf } from './world.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;
const { candidates, plan, apply } = plansIn(fleet);

const messagesOf = (decided: Awaited<ReturnType<typeof plan>>) =>
  decided.map((each) => reasonsOf(each).map(({ message }) => message));

test('the deployments of a plan share the GPUs and ports that are free', async () => {
  const host = await fleet.aHost({ gpuCount: 2 });
  const { id } = await fleet.aWorkload({ gpu_count: 1, ports: [{ containerPort: 80 }] });
  const requests = async () => ['one', 'two', 'three'].map((name) => creation({ name, workload_id: id }));
  const decided = await plan(requests);
  expect(decided.map(choiceOf)).toEqual([
    { target: host.id, gpus: ['gpu-0'] },
    { target: host.id, gpus: ['gpu-1'] },
    { target: undefined, gpus: undefined },
  ]);
  expect(messagesOf(decided)).toEqual([[], [], [expect.stringContaining('cannot be host')]]);
  expect((await apply(requests)).map(choiceOf)).toEqual(decided.map(choiceOf));
  const ports = await client.allocatedPort.findMany({ where: { host_id: host.id } });
  expect(new Set(ports.map(({ host_port }) => host_port)).size).toBe(2);
  expect(await client.deployment.count()).toBe(2);
});

test('a deployment of a plan receives the value that the plan generates for another one', async () => {
  await fleet.aHost();
  const { id } = await fleet.aWorkload({ env_schema: [secretVariable('PASSWORD')] });
  const requests = async () => [
    creation({ name: 'database', workload_id: id, env: { PASSWORD: { generate: 32 } } }),
    creation({ name: 'app', workload_id: id, env: { PASSWORD: { deployment: 'database', variable: 'PASSWORD' } } }),
  ];
  expect(messagesOf(await plan(requests))).toEqual([[], []]);
  expect(messagesOf(await plan(async () => (await requests()).reverse()))).toEqual([
    ['names the deployment database, which does not exist'],
    [],
  ]);
  await apply(requests);
  const [app, database] = await client.deployment.findMany({ orderBy: { name: 'asc' } });
  const received = await receivedBy(fleet, app?.id ?? '');
  expect(received.env.PASSWORD).toHaveLength(32);
  expect((await receivedBy(fleet, database?.id ?? '')).env).toEqual(received.env);
});

test('a deployment of a plan receives the address that the plan allocates to another one', async () => {
  await fleet.aHost({ network_types: ['mesh'], addresses: { mesh: '10.1.2.3' } });
  const { id } = await fleet.aWorkload({ env_schema: [{ name: 'ADDRESS' }], ports: [{ containerPort: 80 }] });
  const address = { deployment: 'web', port: 80, as: 'host:port' as const };
  const requests = async () => [
    creation({ name: 'web', workload_id: id }),
    creation({ name: 'app', workload_id: id, env: { ADDRESS: address } }),
  ];
  expect(messagesOf(await plan(requests))).toEqual([[], []]);
  await apply(requests);
  const [app] = await client.deployment.findMany({ orderBy: { name: 'asc' } });
  expect((await receivedBy(fleet, app?.id ?? '')).env.ADDRESS).toBe('10.213.0.2:80');
});

test('a name and a volume that a plan stores count for its later deployments', async () => {
  const host = await fleet.aHost();
  const volume = await fleet.aVolume();
  const { id } = await fleet.aWorkload({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
  const volumes = { data: { storage_id: volume.id } };
  const decided = await plan(async () => [
    creation({ name: 'one', workload_id: id, volumes, target: { kind: 'host', id: host.id } }),
    creation({ name: 'one', workload_id: id }),
    creation({ name: 'two', workload_id: id, volumes }),
  ]);
  expect(messagesOf(decided)).toEqual([
    [],
    ['is already used by another deployment'],
    [expect.stringContaining('is ReadWriteOnce and attached to deployment one')],
  ]);
});

test('what a change of a plan releases is free for its later deployments', async () => {
  const host = await fleet.aHost({ cpus: 2 });
  const { id: workload_id } = await fleet.aWorkload({ cpu_request: '2' });
  const { id } = await fleet.deployed({ workload_id });
  const decided = await apply(async ({ transaction }) => [
    creation({ name: 'early', workload_id }),
    {
      kind: 'change',
      before: await readRow(transaction, deployments, id),
      change: { operation: 'stop', message: 'stop requested', desiredState: 'stopped' },
    },
    creation({ name: 'late', workload_id }),
  ]);
  expect(decided.map((each) => choiceOf(each)?.target)).toEqual([undefined, host.id, host.id]);
  expect((await fleet.deployment(id)).phase).toBe('stopped');
  expect(await client.deployment.count({ where: { name: { in: ['early', 'late'] } } })).toBe(1);
});

test('a deployment can be deleted by a plan after those that are bound to it', async () => {
  await fleet.aHost();
  const { id: workload_id } = await fleet.aWorkload({ env_schema: [secretVariable('PASSWORD')] });
  const owner = await fleet.deployed({ name: 'database', workload_id, env: { PASSWORD: { generate: 32 } } });
  const env = { PASSWORD: { deployment: 'database', variable: 'PASSWORD' } };
  const app = await fleet.deployed({ name: 'app', workload_id, env });
  await client.deployment.updateMany({ data: { sent_to_engine: true } });
  const deletions = (...ids: string[]) =>
    apply(async ({ transaction }) => [
      ...(await Promise.all(
        ids.map(async (id) => ({
          kind: 'deletion' as const,
          before: await readRow(transaction, deployments, id),
          keepsWorkload: false,
        })),
      )),
    ]);
  expect(messagesOf(await deletions(owner.id))).toEqual([['app']]);
  expect(messagesOf(await deletions(app.id, owner.id))).toEqual([[], []]);
  expect((await client.deployment.findMany()).map(({ phase }) => phase)).toEqual(['deleting', 'deleting']);
  const late = await plan(async () => [creation({ name: 'late', workload_id, env })]);
  expect(messagesOf(late)).toEqual([['names the deployment database, which is being deleted']]);
});

test('a new generated value restarts what is bound to it once, also if the plan changes it itself', async () => {
  await fleet.aHost();
  const { id: workload_id } = await fleet.aWorkload({ env_schema: [secretVariable('PASSWORD'), { name: 'MODE' }] });
  const owner = await fleet.deployed({ name: 'database', workload_id, env: { PASSWORD: { generate: 32 } } });
  const env = { PASSWORD: { deployment: 'database', variable: 'PASSWORD' } };
  const [changed, other] = [
    await fleet.deployed({ name: 'changed', workload_id, env }),
    await fleet.deployed({ name: 'other', workload_id, env }),
  ];
  await apply(async ({ transaction }) => {
    const row = (id: string) => readRow(transaction, deployments, id);
    const update = { operation: 'update' as const, message: 'updated' };
    return [
      { kind: 'change', before: await row(owner.id), change: { ...update, env: { PASSWORD: { generate: 64 } } } },
      { kind: 'change', before: await row(changed.id), change: { ...update, env: { ...env, MODE: 'new' } } },
    ];
  });
  const generations = await client.deployment.findMany({ orderBy: { name: 'asc' } });
  expect(generations.map(({ name, generation }) => [name, generation])).toEqual([
    ['changed', 2],
    ['database', 2],
    ['other', 2],
  ]);
  expect((await receivedBy(fleet, other.id)).env.PASSWORD).toHaveLength(64);
});

test('the database accepts no write of a plan, and a plan waits for no lock', async () => {
  await fleet.aHost();
  const { id } = await fleet.aWorkload();
  const { database, services } = world;
  const write = inPlan({ database, candidates, defaultLimits: services.defaultLimits }, ({ transaction }) =>
    transaction.workload.update({ where: { id }, data: { name: 'changed' } }),
  );
  await expect(write).rejects.toThrow('The database does not accept changes');
  await holding(world.databaseUrl, `SELECT pg_advisory_lock(hashtext('placement'))`, async () => {
    expect(messagesOf(await plan(async () => [creation({ name: 'one', workload_id: id })]))).toEqual([[]]);
  });
});

test('all decisions of a plan see one moment of the database', async () => {
  const host = await fleet.aHost({ cpus: 2 });
  const { id: workload_id } = await fleet.aWorkload({ cpu_request: '1' });
  const decided = await plan(async () => {
    await client.host.update({ where: { id: host.id }, data: { reachability: 'unreachable' } });
    return [creation({ name: 'one', workload_id }), creation({ name: 'two', workload_id })];
  });
  expect(messagesOf(decided)).toEqual([[], []]);
  expect(messagesOf(await plan(async () => [creation({ name: 'one', workload_id })]))[0]).toHaveLength(1);
});
