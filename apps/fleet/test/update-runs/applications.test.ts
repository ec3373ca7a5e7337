// Update runs with applications: each is upgraded as a whole, as it was planned.
import { continueApplication } from '../../src/reconciler/applications.ts';
import { continueRun } from '../../src/reconciler/updates/runs.ts';
import { catalogApplication } from '../applications/catalog.ts';
import { startApplicationWorld } from '../applications/world.ts';
import { workerContextOf } from '../deployments/updates/passes.ts';
import type { Body } from '../deployments/world.ts';

const fleet = await startApplicationWorld();
const { client, operator } = fleet;
const worker = workerContextOf(fleet);
const work = (run: string) => continueRun(worker, run, new AbortController().signal);
const { rows, changed } = catalogApplication('wiki');

beforeEach(async () => {
  await client.catalogApplication.deleteMany();
  await client.$executeRaw`TRUNCATE update_runs CASCADE`;
  await client.catalogApplication.create({ data: rows });
  await fleet.aMeshHost();
});

/** Outdated applications whose generation is good. */
async function outdated(...names: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) {
    const labels = { team: 'a' };
    const { application } = await fleet.created({ name, application: 'wiki', spec: undefined, labels });
    await good(application.id);
    ids.push(application.id);
  }
  await client.catalogApplication.update({ where: { id: rows.id }, data: { document: changed } });
  return ids;
}
async function good(id = '') {
  await fleet.proven(id, 'web');
  await continueApplication(worker, id);
}
const planned = async (body: Body) => (await operator.post('/api/v1/update-runs/plan', body)).body.plan;
const started = async (body: Body): Promise<string> => (await operator.post('/api/v1/update-runs', body)).body.run.id;
const runOf = async (id: string) => (await operator.get(`/api/v1/update-runs/${id}`)).body.run;
const statesOf = async (id: string) =>
  (await runOf(id)).items.map(({ name, state, message }: Body) => [name, state, ...(message === '' ? [] : [message])]);

test('a run upgrades the applications of a label in waves beside deployments, as they were planned', async () => {
  const deployment = await fleet.deployed({ name: 'alone', labels: { team: 'a' } });
  const [first, second] = await outdated('notes', 'wiki');
  const plan = await planned({ label: 'team=a' });
  expect(plan.items).toMatchObject([
    { name: 'notes', deployment_id: null, application_id: first, wave: 1, skipped: null },
    { name: 'wiki', application_id: second, wave: 2, expected: expect.any(String), outage: null },
  ]);
  const run = await started({ application: 'wiki', expected: undefined });
  await work(run);
  expect(await statesOf(run)).toEqual([
    ['notes', 'updating'],
    ['wiki', 'waiting'],
  ]);
  expect(await fleet.application(first ?? '')).toMatchObject({ generation: 2, application_state: 'current' });
  await good(first);
  await work(run);
  expect(await statesOf(run)).toEqual([
    ['notes', 'succeeded'],
    ['wiki', 'updating'],
  ]);
  await good(second);
  await work(run);
  expect(await runOf(run)).toMatchObject({
    state: 'completed',
    counts: { succeeded: 2, failed: 0 },
    selection: { application: 'wiki', template: null },
    items: [{ application_id: first, deployment_id: null, generation: 2 }, { application_id: second }],
  });
  const [entry] = await client.auditEntry.findMany({ where: { request_id: run, object_name: 'notes' } });
  expect(entry).toMatchObject({ actor: 'fleet', path: `/api/v1/applications/${first}/upgrade` });
  expect((await planned({ application_ids: [first], deployment_ids: [deployment.id] })).items).toMatchObject([
    { name: 'alone', skipped: 'No update is available.' },
    { name: 'notes', skipped: 'No update is available.' },
  ]);
});

test('an upgrade that fails stops a run, and an application that was changed meanwhile is skipped', async () => {
  const [first = '', second = '', third = ''] = await outdated('a', 'b', 'c');
  const run = await started({ application_ids: [first, second, third] });
  await operator.put(`/api/v1/applications/${first}`, { labels: { team: 'b' } });
  await work(run);
  await work(run);
  expect(await statesOf(run)).toMatchObject([
    ['a', 'skipped', expect.stringContaining('has changed since the plan')],
    ['b', 'updating'],
    ['c', 'waiting'],
  ]);
  await fleet.fails(second, 'web');
  await continueApplication(worker, second);
  await work(run);
  expect(await statesOf(run)).toMatchObject([
    ['a', 'skipped', expect.any(String)],
    ['b', 'failed', 'Generation 2 failed (web: ImageNotFound).'],
    ['c', 'skipped', expect.stringContaining('have failed')],
  ]);
  expect(await runOf(run)).toMatchObject({ state: 'stopped' });
  expect(await fleet.application(second)).toMatchObject({ generation: 3, failed_generation: 2 });
  expect((await planned({ application: 'wiki' })).items).toMatchObject([
    { name: 'a', skipped: null },
    { name: 'b', skipped: expect.stringContaining('Generation 2 with the same content failed'), expected: null },
    { name: 'c', skipped: null },
  ]);
});
