import { readFileSync } from 'node:fs';
import type { Observation } from '../../src/engines/observation.ts';
import { readDesired } from '../../src/reconciler/desired.ts';
import { claimDue } from '../../src/reconciler/queue.ts';
import { DEFAULT_TIMINGS as timings } from '../../src/reconciler/timings.ts';
import { writeObserved } from '../../src/reconciler/write.ts';
import { aTemplate } from '../a-template.ts';
import { reasonsOf, startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;

const free = { volume_mounts: [], node_selector: {}, required_network_types: [], registry_credentials: null };
const published = aTemplate({ slug: 'tool', secret_refs: [], env_schema: [], ...free });
const tool = () => published;

/** A host, and a deployment of a template on it. */
async function aTool() {
  const host = await fleet.aHost();
  await fleet.publish(tool());
  return { host, deployment: await fleet.deployed({ name: 'tool', template: 'tool' }) };
}
type Given = Awaited<ReturnType<typeof aTool>>;

const requestDeletion = async ({ deployment }: Given, query = '') => {
  const { status, body } = await fleet.operator.delete(`/api/v1/deployments/${deployment.id}${query}`);
  expect({ status, phase: body.deployment?.phase }).toEqual({ status: 200, phase: 'deleting' });
};

const markSent = ({ deployment }: Given) =>
  client.deployment.update({ where: { id: deployment.id }, data: { sent_to_engine: true } });

const GONE: Observation = {
  phase: 'gone',
  reason: null,
  message: '',
  instances: [],
  endpoints: [],
  volumes: [],
  actions: [],
  next: 'settled',
};

/** A worker finds that the engine has removed all objects of the deployment. */
async function reconcile({ deployment: { id } }: Given) {
  await client.deployment.updateMany({
    where: { id: { not: id } },
    data: { due_at: new Date(Date.now() + 3_600_000) },
  });
  const [claim] = await claimDue(world.database, { lease: timings.lease, limit: 1 }, new AbortController().signal);
  if (!claim || claim.id !== id) throw new Error('the deployment was not claimed');
  claim.release(); // no heartbeat is needed
  const desired = await readDesired(world.database, world.sealer, claim);
  if (!desired) throw new Error('the deployment is gone');
  await writeObserved(world.database, claim, { ...desired, observed: GONE, timings });
}

async function abandon({ host }: Given) {
  await client.host.update({ where: { id: host.id }, data: { reachability: 'unreachable' } });
  expect((await fleet.operator.delete(`/api/v1/hosts/${host.id}?abandon=true`)).status).toBe(204);
}

/** The ways in which the row of a deployment is deleted. */
const removals: Record<string, (given: Given, query?: string) => Promise<void>> = {
  'at once': requestDeletion,
  'by the reconciler': async (given, query) => {
    await markSent(given);
    await requestDeletion(given, query);
    await reconcile(given);
  },
  'with its abandoned target': async (given, query) => {
    await markSent(given);
    if (query) await requestDeletion(given, query);
    await abandon(given);
  },
};

const workloadNames = async () =>
  (await client.workload.findMany({ orderBy: { name: 'asc' } })).map(({ name }) => name);

describe.each(Object.entries(removals))('a deployment that is deleted %s', (_, removal) => {
  /** The deployment states before whether its workload is deleted, unless the caller keeps it. */
  const remove = async (given: Given, query?: string) => {
    const { deletes_workload, workload_id } = await fleet.deployment(given.deployment.id);
    await removal(given, query);
    const isDeleted = (await client.workload.count({ where: { id: workload_id } })) === 0;
    expect(isDeleted).toBe(query === undefined ? deletes_workload : false);
  };

  test('deletes the workload that it created, and its name can be used again', async () => {
    const given = await aTool();
    await remove(given);
    expect({ workloads: await workloadNames(), revisions: await client.workloadRevision.count() }).toEqual({
      workloads: [],
      revisions: 0,
    });
    await fleet.aHost();
    const body = { name: 'tool', template: 'tool' };
    expect((await fleet.plan(body)).body).toMatchObject({ ok: true, refusals: [] });
    expect((await fleet.deploy(body)).status).toBe(201);
  });

  test('deletes the workload that was only updated from a template', async () => {
    const given = await aTool();
    const path = `/api/v1/workloads/${given.deployment.workload_id}`;
    await fleet.publish({ ...tool(), image_tag: '2' });
    for (const body of [{ template: 'tool' }, { template: 'tool' }, {}]) {
      expect((await fleet.operator.put(path, body)).status).toBe(200);
    }
    expect((await fleet.change(given.deployment.id, { revision: 2 })).status).toBe(200);
    await remove(given);
    expect({ workloads: await workloadNames(), revisions: await client.workloadRevision.count() }).toEqual({
      workloads: [],
      revisions: 0,
    });
  });

  test('keeps a workload that was changed before an update from a template', async () => {
    const given = await aTool();
    const path = `/api/v1/workloads/${given.deployment.workload_id}`;
    expect((await fleet.operator.put(path, { command: ['serve'] })).status).toBe(200);
    await fleet.publish({ ...tool(), image_tag: '2' });
    expect((await fleet.operator.put(path, { template: 'tool' })).status).toBe(200);
    await remove(given);
    expect(await workloadNames()).toEqual(['tool']);
  });

  test('keeps the workload if the caller asks for it', async () => {
    const given = await aTool();
    await remove(given, '?keep_workload=true');
    expect(await client.deployment.count()).toBe(0);
    expect(await workloadNames()).toEqual(['tool']);
  });

  test('keeps a workload that was changed', async () => {
    const given = await aTool();
    const { workload_id } = given.deployment;
    expect((await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { labels: { team: 'ml' } })).status).toBe(200);
    await remove(given);
    expect(await workloadNames()).toEqual(['tool']);
  });

  test('keeps a workload that a deployment on another target uses', async () => {
    const given = await aTool();
    const target = { host_id: (await fleet.aHost()).id };
    await fleet.deployed({ name: 'other', workload_id: given.deployment.workload_id, target });
    await remove(given);
    expect((await client.deployment.findMany()).map(({ name }) => name)).toEqual(['other']);
    expect(await workloadNames()).toEqual(['tool']);
  });

  test('keeps a workload that was created separately', async () => {
    const host = await fleet.aHost();
    await fleet.publish(tool());
    const workload = await fleet.aWorkload({ name: 'tool', template: 'tool' });
    await remove({ host, deployment: await fleet.deployed({ name: 'tool', workload_id: workload.id }) });
    expect(await workloadNames()).toEqual(['tool']);
  });
});

test('abandoning a target deletes a workload that only deployments on this target use', async () => {
  const given = await aTool();
  await fleet.deployed({
    name: 'other',
    workload_id: given.deployment.workload_id,
    target: { host_id: given.host.id },
  });
  await abandon(given);
  expect(await workloadNames()).toEqual([]);
});

test('the deletion of a user of a workload keeps it for the deployment that created it', async () => {
  const given = await aTool();
  const other = await fleet.deployed({ name: 'other', workload_id: given.deployment.workload_id });
  await fleet.remove(other.id);
  expect(await workloadNames()).toEqual(['tool']);
});

test('a name that a deployment or a workload has is refused by the plan and by the creation alike', async () => {
  const given = await aTool();
  await markSent(given);
  await requestDeletion(given);
  await fleet.aWorkload({ name: 'written' });
  const { workload_id } = given.deployment;
  const cases = [
    { body: { name: 'tool', workload_id }, messages: [/another deployment, which is being deleted/] },
    {
      body: { name: 'tool', template: 'tool' },
      messages: [/another deployment/, /used by a workload/],
    },
    { body: { name: 'written', template: 'tool' }, messages: [/used by a workload/] },
  ];
  for (const { body, messages } of cases) {
    const before = await fleet.contents();
    const plan = await fleet.plan(body);
    const answer = await fleet.deploy(body);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 409, code: 'name_taken' });
    expect(plan.body).toMatchObject({
      ok: false,
      refusals: messages.map(() => ({ code: 'name_taken', path: 'name' })),
    });
    expect(reasonsOf(plan)).toEqual(
      messages.map((message) => ({ path: 'name', message: expect.stringMatching(message) })),
    );
    expect(reasonsOf(answer)).toEqual(reasonsOf(plan));
    expect(await fleet.contents()).toEqual(before);
  }
});

test('a change of a deployment that is being deleted is refused by its plan as well', async () => {
  const given = await aTool();
  await markSent(given);
  await requestDeletion(given);
  const { id } = given.deployment;
  for (const body of [{}, { replicas: 2 }]) {
    const plan = await fleet.plan({ deployment_id: id, ...body });
    const answer = await fleet.change(id, body);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code: 'deployment_refused' });
    expect(plan.body).toMatchObject({ ok: false, changes: [], refusals: [{ code: 'deployment_refused' }] });
    expect(reasonsOf(answer)).toEqual(reasonsOf(plan));
  }
});

test('an upgrade marks exactly the workloads that were created in one transaction with their deployment', async () => {
  await aTool();
  await fleet.publish(tool());
  await fleet.deployed({ name: 'separate', workload_id: (await fleet.aWorkload({ name: 'separate' })).id });
  await fleet.deployed({ name: 'user', workload_id: (await client.workload.findFirstOrThrow()).id });
  await client.deployment.updateMany({ data: { deletes_workload: false } });
  const file = '../../../../prisma/fleet/migrations/20261122181500_delete_created_workloads/migration.sql';
  const sql = readFileSync(new URL(file, import.meta.url), 'utf8');
  await client.$executeRawUnsafe(sql.slice(sql.indexOf('UPDATE')));
  const marked = await client.deployment.findMany({ where: { deletes_workload: true } });
  expect(marked.map(({ name }) => name)).toEqual(['tool']);
});
