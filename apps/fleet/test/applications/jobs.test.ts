// Jobs of applications: those that run once, and those that run again for each version, such as migrations.
import { continueApplication } from '../../src/reconciler/applications.ts';
import { workerContextOf } from '../deployments/updates/passes.ts';
import type { Body } from '../deployments/world.ts';
import { startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld();
const { client, operator } = fleet;
const worker = workerContextOf(fleet);

const database = { name: 'database', image_name: 'team/database', ports: [{ containerPort: 5432 }] };
const migrate = {
  name: 'migrate',
  image_name: 'team/migrate',
  kind: 'job',
  run: 'each_version',
  needs: [{ part: 'database', until: 'ready' }],
};
const seed = { name: 'seed', image_name: 'team/seed', kind: 'job', needs: [{ part: 'database', until: 'ready' }] };
const web = { name: 'web', image_name: 'team/web', needs: [{ part: 'migrate', until: 'finished' }] };
const specWith = (tag: string, ofMigrate: object = {}) => ({
  inputs: [{ name: 'title', default: 'Notes' }],
  parts: [
    { ...web, image_tag: tag, env: [{ name: 'TITLE', value: `\${inputs.title}` }] },
    { ...migrate, ...ofMigrate },
    seed,
    database,
  ],
});

const settle = (id: string) => continueApplication(worker, id);
const put = (id: string, body: Body) => operator.put(`/api/v1/applications/${id}`, body);
/** A pass of a worker in which a job has ended. */
async function ends(id: string, name: string, phase: 'stopped' | 'failed' = 'stopped') {
  const { deployment_id, generation } = await fleet.part(id, name);
  const reason = phase === 'failed' ? 'Failed' : null;
  await client.deployment.update({
    where: { id: deployment_id },
    data: { phase, reason, observed_generation: generation },
  });
}
const generationsOf = async (id: string) =>
  Object.fromEntries((await fleet.application(id)).parts.map(({ name, generation }: Body) => [name, generation]));
const outcomesOf = async (id: string) =>
  (await operator.get(`/api/v1/applications/${id}/generations`)).body.generations.map(
    ({ generation, operation, outcome }: Body) => `${generation} ${operation} ${outcome}`,
  );

/** An application whose jobs have run, and whose generation is good. */
async function aGoodOne(given: Body = {}): Promise<string> {
  await fleet.aMeshHost();
  const { application } = await fleet.created({ name: 'notes', spec: specWith('1'), ...given });
  const { id }: { id: string } = application;
  expect(await fleet.claimable()).toEqual(['notes-database']);
  await fleet.proven(id, 'database');
  expect(await fleet.claimable()).toEqual(['notes-database', 'notes-migrate', 'notes-seed']);
  await ends(id, 'seed');
  await ends(id, 'migrate');
  await fleet.proven(id, 'web');
  await settle(id);
  expect(await fleet.application(id)).toMatchObject({ good_generation: 1, phase: 'running', part: null });
  return id;
}

test('a job runs again at each new version before the parts that need it, and otherwise not', async () => {
  const id = await aGoodOne();
  await put(id, { inputs: { title: 'Other' } });
  expect(await generationsOf(id)).toEqual({ database: 1, migrate: 1, seed: 1, web: 2 });
  await fleet.proven(id, 'web');
  await settle(id);
  const { body: plan } = await operator.post('/api/v1/applications/plan', { application_id: id, spec: specWith('2') });
  expect(plan.parts.map(({ name, action }: Body) => `${name} ${action}`).toSorted()).toEqual([
    'database keep',
    'migrate change',
    'seed keep',
    'web change',
  ]);
  expect((await put(id, { spec: specWith('2'), expected: plan.digest })).status).toBe(200);
  expect(await generationsOf(id)).toEqual({ database: 1, migrate: 2, seed: 1, web: 3 });
  expect(await fleet.claimable()).toContain('notes-migrate');
  expect(await fleet.claimable()).not.toContain('notes-web');
  await ends(id, 'migrate');
  expect(await fleet.claimable()).toContain('notes-web');
  await fleet.proven(id, 'web');
  await settle(id);
  expect(await outcomesOf(id)).toEqual(['3 update good', '2 update good', '1 create good']);
  expect((await put(id, { spec: specWith('2') })).body.application.generation).toBe(3);
});

test.each([
  ['with another image', { image_tag: '2' }],
  ['with the same content', {}],
])('a job %s that fails holds the update and returns the whole, which does not run the job again', async (_, given) => {
  const id = await aGoodOne();
  await put(id, { spec: specWith('2', given) });
  const failed = (await fleet.part(id, 'migrate')).deployment_id;
  await ends(id, 'migrate', 'failed');
  await settle(id);
  expect(await fleet.application(id)).toMatchObject({ generation: 3, failed_generation: 2, good_generation: 1 });
  expect(await fleet.deployment(failed)).toMatchObject({ desired_state: 'stopped' });
  await ends(id, 'migrate');
  await fleet.proven(id, 'web');
  await settle(id);
  expect(await outcomesOf(id)).toEqual(['3 rollback good', '2 update failed', '1 create good']);
  expect(await fleet.application(id)).toMatchObject({ phase: 'running', part: null });
  expect((await put(id, { spec: specWith('2', given) })).body.code).toBe('update_held');
  await put(id, { inputs: { title: 'Other' } });
  expect(await fleet.deployment(failed)).toMatchObject({ desired_state: 'stopped' });
  expect(await fleet.claimable()).toContain('notes-web');
  await put(id, { spec: specWith('3') });
  expect(await fleet.deployment(failed)).toMatchObject({ desired_state: 'running' });
  expect(await fleet.claimable()).not.toContain('notes-web');
});

test('after a migration has run, a failure of another part waits for a person, unless the policy says otherwise', async () => {
  const id = await aGoodOne();
  await put(id, { spec: specWith('2') });
  await ends(id, 'migrate');
  await fleet.fails(id, 'web');
  await settle(id);
  expect(await outcomesOf(id)).toEqual(['2 update failed', '1 create good']);
  const { body } = await operator.get(`/api/v1/applications/${id}/events`);
  expect(body.events.map(({ message }: Body) => message)).toContainEqual(
    expect.stringContaining(
      'The job migrate has already run for this version, so the fleet does not return by itself.',
    ),
  );
  await put(id, { spec: specWith('3'), on_failure: 'roll_back' });
  await ends(id, 'migrate');
  await fleet.fails(id, 'web');
  await settle(id);
  expect(await fleet.application(id)).toMatchObject({ generation: 4, failed_generation: 3 });
  expect(await fleet.claimable()).toContain('notes-web'); // it does not wait for the job
});
