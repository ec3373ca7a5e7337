// Updates of applications that a caller ends or continues.
import type { Body } from '../deployments/world.ts';
import { updatesIn } from './good.ts';
import { GHOST, startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld();
const { client, operator } = fleet;
const { fails } = fleet;
const { aGoodOne, observe } = updatesIn(fleet);
const [web, database] = GHOST.parts;

const ask = (id: string, verb: 'abort' | 'resume', headers?: Readonly<Record<string, string>>) =>
  operator.post(`/api/v1/applications/${id}/rollout/${verb}`, undefined, headers);
/** Changes the image of the program. */
const update = (id: string, image_tag: string, given: Body = {}) =>
  operator.put(`/api/v1/applications/${id}`, {
    spec: { ...GHOST, parts: [{ ...web, image_tag }, database] },
    ...given,
  });
const outcomesOf = async (id: string) =>
  (await operator.get(`/api/v1/applications/${id}/generations`)).body.generations.map(
    ({ generation, operation, outcome, outcome_reason }: Body) => [generation, operation, outcome, outcome_reason],
  );

test('an update in progress is aborted: the last good generation is restored as a whole', async () => {
  const id = await aGoodOne();
  const { body } = await update(id, '7');
  const outdated = await ask(id, 'abort', { 'If-Match': `"${body.application.version - 1}"` });
  expect(outdated.status).toBe(412);
  const aborted = await ask(id, 'abort');
  expect(aborted.body.application).toMatchObject({ generation: 3, failed_generation: 2, good_generation: 1 });
  expect((await fleet.part(id, 'web')).image).toBe('docker.io/library/ghost:6');
  expect((await fleet.part(id, 'database')).generation).toBe(1);
  expect(await outcomesOf(id)).toEqual([
    [3, 'rollback', null, null],
    [2, 'update', 'failed', 'Aborted'],
    [1, 'create', 'good', null],
  ]);
  const again = await ask(id, 'abort');
  expect({ status: again.status, code: again.body.code }).toEqual({ status: 409, code: 'nothing_to_restore' });
  expect((await update(id, '7')).body.code).toBe('update_held');
  await fleet.proven(id, 'web');
  await observe(id);
  expect(await fleet.application(id)).toMatchObject({ outcome: 'good', good_generation: 3 });
});

test('an update that is held continues, and is good when its parts are', async () => {
  const id = await aGoodOne();
  await update(id, '7', { on_failure: 'stop' });
  await fails(id, 'web');
  await observe(id);
  expect(await fleet.application(id)).toMatchObject({ outcome: 'failed', outcome_reason: 'web: ImageNotFound' });
  const resumed = await ask(id, 'resume');
  expect(resumed.body.application).toMatchObject({ generation: 2, outcome: null, outcome_reason: null });
  const { deployment_id } = await fleet.part(id, 'web');
  const { rollout } = await client.deployment.findUniqueOrThrow({ where: { id: deployment_id } });
  expect(rollout).toMatchObject({ state: 'progressing', restarts: 0, reason: null });
  await observe(id);
  expect((await fleet.application(id)).outcome).toBeNull();
  await fleet.proven(id, 'web');
  await observe(id);
  expect(await fleet.application(id)).toMatchObject({ outcome: 'good', good_generation: 2 });
  const { body } = await operator.get(`/api/v1/applications/${id}/events`);
  const own = body.events.filter(({ part }: Body) => part === null).map(({ reason, actor }: Body) => [reason, actor]);
  expect(own).toContainEqual(['resume', expect.any(String)]);
});

test('a held update is aborted, and a part that waited too long waits again when it continues', async () => {
  const id = await aGoodOne();
  await update(id, '7', { on_failure: 'stop' });
  await fails(id, 'web');
  await observe(id);
  expect((await ask(id, 'abort')).body.application).toMatchObject({ generation: 3, failed_generation: 2 });
  const { application } = await fleet.created({ name: 'first' });
  await client.$executeRaw`
    UPDATE deployments SET waits_for = jsonb_set(waits_for, '{since}', '"2026-01-01T00:00:00Z"')
    WHERE application_id = ${application.id}::uuid AND waits_for IS NOT NULL`;
  await observe(application.id);
  expect(await fleet.application(application.id)).toMatchObject({ outcome: 'failed', good_generation: null });
  const refused = await ask(application.id, 'abort');
  expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 409, code: 'nothing_to_restore' });
  expect((await ask(application.id, 'resume')).status).toBe(200);
  await observe(application.id);
  expect(await fleet.application(application.id)).toMatchObject({ outcome: null });
  expect(await fleet.part(application.id, 'web')).toMatchObject({ reason: 'WaitingForPart' });
});

test('without an update that is in progress or held, and for a part that has ended, nothing changes', async () => {
  const id = await aGoodOne();
  for (const verb of ['abort', 'resume'] as const) {
    const { status, body } = await ask(id, verb);
    expect({ verb, status, code: body.code }).toEqual({ verb, status: 409, code: 'no_rollout' });
  }
  await update(id, '7', { on_failure: 'stop' });
  expect((await ask(id, 'resume')).body.code).toBe('no_rollout');
  const { deployment_id, generation } = await fleet.part(id, 'web');
  const ended = { phase: 'failed', reason: 'Exited', observed_generation: generation };
  await client.deployment.update({ where: { id: deployment_id }, data: ended });
  await observe(id);
  const before = await fleet.contents();
  const refused = await ask(id, 'resume');
  expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 409, code: 'no_rollout' });
  expect(refused.body.detail).toContain('the part web has ended (Exited)');
  expect(await fleet.contents()).toEqual(before);
});
