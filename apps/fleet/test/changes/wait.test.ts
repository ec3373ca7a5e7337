import { createPlaces } from '@svc/http';
import { startDeploymentWorld } from '../deployments/world.ts';
import type { TestToken } from '../world.ts';
import { listenFor } from './client.ts';
import { observeSubscriptions } from './subscriptions.ts';

const deploymentWorld = await startDeploymentWorld();
const { client } = deploymentWorld.world.database;
const replica = deploymentWorld.world.aReplica();
const subscriptions = observeSubscriptions(replica.services.changes);
const fleet = await listenFor(replica.app);
let token: TestToken;
beforeAll(async () => {
  token = await deploymentWorld.world.aToken();
});
afterAll(() => fleet.close());

const aDeployment = async (): Promise<string> => {
  await deploymentWorld.aHost();
  return (await deploymentWorld.deployed()).id;
};
const observe = (id: string, phase: string, generation = 1) =>
  client.deployment.update({ where: { id }, data: { phase, observed_generation: generation } });

/** A request that waits on the replica, while the changes are made with another one. */
const waitFor = (id: string, query: string, credential = token.secret) =>
  fleet.read(`/api/v1/deployments/${id}?${query}`, credential);

test('a wait ends when the deployment has one of the phases, with its current state', async () => {
  const id = await aDeployment();
  const answer = waitFor(id, 'wait=running,degraded&timeout=60');
  await subscriptions.reach(id, 1);
  const watch = await fleet.watch(token.secret, 'kinds=deployments');
  await observe(id, 'starting');
  await watch.ofObject(id); // the wait has received it as well
  expect(subscriptions.open(id)).toBe(1);
  await observe(id, 'running');
  watch.end();
  const { status, body } = await answer;
  expect({ status, phase: body.deployment.phase, id: body.deployment.id }).toEqual({
    status: 200,
    phase: 'running',
    id,
  });
});

test.each(['running', 'failed', 'stopped'])(
  'a wait for running is answered at once if the phase of the current generation is %s',
  async (phase) => {
    const id = await aDeployment();
    await observe(id, phase);
    expect((await waitFor(id, 'wait=running&timeout=60')).body.deployment.phase).toBe(phase);
  },
);

test('the phase of an earlier generation does not end a wait', async () => {
  const id = await aDeployment();
  await observe(id, 'running');
  await client.deployment.update({ where: { id }, data: { generation: 2 } });
  const answer = waitFor(id, 'wait=running&timeout=60');
  await subscriptions.reach(id, 1);
  await observe(id, 'running', 2);
  expect((await answer).body.deployment).toMatchObject({ phase: 'running', generation: 2, observed_generation: 2 });
});

test('a wait for running ends when the deployment failed, or is to be deleted', async () => {
  const failed = await aDeployment();
  const deleted = await aDeployment();
  const answers = [failed, deleted].map((id) => waitFor(id, 'wait=running&timeout=60'));
  for (const id of [failed, deleted]) await subscriptions.reach(id, 1);
  await observe(failed, 'failed');
  await client.deployment.update({ where: { id: deleted }, data: { phase: 'deleting', deleting: true } });
  const phases = (await Promise.all(answers)).map(({ body }) => body.deployment.phase);
  expect(phases).toEqual(['failed', 'deleting']);
});

test('a wait for a deployment that is removed meanwhile is a 404', async () => {
  const id = await aDeployment();
  const answer = waitFor(id, 'wait=running&timeout=60');
  await subscriptions.reach(id, 1);
  await client.deployment.delete({ where: { id } });
  expect((await answer).status).toBe(404);
});

test('at the timeout, the current state is returned', async () => {
  const id = await aDeployment();
  const { status, body } = await waitFor(id, 'wait=running&timeout=1');
  expect({ status, phase: body.deployment.phase }).toEqual({ status: 200, phase: 'pending' });
});

test('without wait, the response is sent at once; other values are a 400 that names the parameter', async () => {
  const id = await aDeployment();
  expect((await waitFor(id, 'timeout=60')).status).toBe(200);
  for (const [query, path] of [
    ['wait=ready', 'wait'],
    ['wait=', 'wait'],
    ['wait=running&timeout=61', 'timeout'],
    ['wait=running&timeout=0', 'timeout'],
  ]) {
    const { status, body } = await waitFor(id, query ?? '');
    expect({ query, status, path: body.errors[0].path }).toEqual({ query, status: 400, path });
  }
  expect((await waitFor('00000000-0000-4000-8000-000000000000', 'wait=running')).status).toBe(404);
});

test('waiting requests hold no database connection', async () => {
  const id = await aDeployment();
  const answers = Array.from({ length: 40 }, () => waitFor(id, 'wait=running&timeout=60'));
  await subscriptions.reach(id, answers.length);
  expect((await deploymentWorld.world.asViewer.get(`/api/v1/deployments/${id}`)).status).toBe(200);
  await observe(id, 'running');
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
});

test('a wait has one audit entry', async () => {
  const used = await deploymentWorld.world.aToken();
  await waitFor(await aDeployment(), 'wait=running&timeout=1', used.secret);
  expect(await client.auditEntry.count({ where: { token_id: used.id } })).toBe(1);
});

test('beyond the limit, a wait is a 503 with the bound; a client that disconnects releases its place', async () => {
  const id = await aDeployment();
  const limited = deploymentWorld.world.aReplica();
  Object.assign(limited.services.changes, {
    places: createPlaces({ what: 'streams', total: 1, perCaller: 1, reserve: { places: 0, perCaller: 0 } }),
  });
  const ofLimited = observeSubscriptions(limited.services.changes);
  const other = await listenFor(limited.app);
  const path = `/api/v1/deployments/${id}?wait=running&timeout=60`;
  const leaving = new AbortController();
  const waiting = fetch(`http://127.0.0.1:${other.port}${path}`, {
    headers: { Authorization: `Bearer ${token.secret}` },
    signal: leaving.signal,
  }).catch(() => 'disconnected');
  await ofLimited.reach(id, 1);
  const refused = await other.request(path, token.secret);
  let text = '';
  for await (const chunk of refused) text += chunk;
  expect({ status: refused.statusCode, detail: JSON.parse(text).detail }).toEqual({
    status: 503,
    detail: expect.stringContaining('at most 1 streams'),
  });
  leaving.abort();
  expect(await waiting).toBe('disconnected');
  await ofLimited.reach(id, 0);
  const again = other.request(path, token.secret);
  await ofLimited.reach(id, 1);
  await observe(id, 'running');
  expect((await again).statusCode).toBe(200);
  other.close();
});

test('when the process stops, waiting requests are answered with the current state', async () => {
  const id = await aDeployment();
  const answer = waitFor(id, 'wait=running&timeout=60');
  await subscriptions.reach(id, 1);
  await replica.services.changes.stop();
  expect((await answer).body.deployment.phase).toBe('pending');
});
