// Requests that wait until an application has a phase.

import { continueApplication } from '../../src/reconciler/applications.ts';
import { startApplicationWorld } from '../applications/world.ts';
import { workerContextOf } from '../deployments/updates/passes.ts';
import { listenFor } from './client.ts';
import { observeSubscriptions } from './subscriptions.ts';

const world = await startApplicationWorld();
const { client, operator } = world;
const replica = world.world.aReplica({ feedTimings: { interval: 20, heartbeat: 200 } });
const subscriptions = observeSubscriptions(replica.services.changes);
const fleet = await listenFor(replica.app);
const { secret } = await world.world.aToken();
afterAll(() => fleet.close());

async function anApplication(): Promise<string> {
  await world.aMeshHost();
  return (await world.created()).application.id;
}

/** A request that waits on the replica, while the changes are made with another one. */
const waitFor = (id: string, query: string) => fleet.read(`/api/v1/applications/${id}?${query}`, secret);

test('a wait ends when all parts run in their present generation', async () => {
  const id = await anApplication();
  const answer = waitFor(id, 'wait=running&timeout=60');
  await subscriptions.reach(undefined, 1);
  await world.runs(id, 'database');
  expect((await world.application(id)).phase).toBe('pending');
  expect(subscriptions.open(undefined)).toBe(1);
  await world.runs(id, 'web');
  const { status, body } = await answer;
  expect({ status, phase: body.application.phase, id: body.application.id }).toEqual({
    status: 200,
    phase: 'running',
    id,
  });
  expect(
    body.application.parts.map(({ observed_generation }: { observed_generation: number }) => observed_generation),
  ).toEqual([1, 1]);
  expect((await waitFor(id, 'wait=running&timeout=60')).body.application.phase).toBe('running');
});

test('a wait ends when the generation has failed and a person decides, although no part has changed since', async () => {
  const id = await anApplication();
  const { deployment_id } = await world.part(id, 'database');
  const failed = { phase: 'failed', reason: 'ImageNotFound', observed_generation: 1 };
  await client.deployment.update({ where: { id: deployment_id }, data: failed });
  const answer = waitFor(id, 'wait=running&timeout=60');
  await subscriptions.reach(undefined, 1);
  await continueApplication(workerContextOf(world), id);
  expect((await answer).body.application).toMatchObject({
    outcome: 'failed',
    outcome_reason: 'database: ImageNotFound',
  });
});

test('a wait for the deletion is a 404 when the last part is gone', async () => {
  const id = await anApplication();
  const [database, web] = (await world.application(id)).parts.map(
    (part: { deployment_id: string }) => part.deployment_id,
  );
  await client.deployment.updateMany({ data: { sent_to_engine: true } });
  const answer = waitFor(id, 'wait=deleted&timeout=60');
  await subscriptions.reach(undefined, 1);
  expect((await operator.delete(`/api/v1/applications/${id}`)).status).toBe(200);
  await world.gone(web);
  await world.gone(database);
  expect((await answer).status).toBe(404);
});

test('at the timeout, the current state is returned; other values are a 400 that names the parameter', async () => {
  const id = await anApplication();
  const { status, body } = await waitFor(id, 'wait=running&timeout=1');
  expect({ status, phase: body.application.phase }).toEqual({ status: 200, phase: 'pending' });
  const refused = await waitFor(id, 'wait=ready');
  expect({ status: refused.status, path: refused.body.errors[0].path }).toEqual({ status: 400, path: 'wait' });
});
