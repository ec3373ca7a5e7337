import { byDepth, eventually } from '@svc/testing';
import { createApp } from '../../src/app.ts';
import { observeSubscriptions } from '../changes/subscriptions.ts';
import { listen } from '../raw.ts';
import { codeOf, connect, messagesTo } from './client.ts';
import { startMcpWorld } from './world.ts';

const mcpWorld = await startMcpWorld();
const modes = byDepth<readonly ('auto' | 'legacy')[]>({
  short: ['auto'],
  full: ['auto', 'legacy'],
  long: ['auto', 'legacy'],
});
const { call, tokens, world, url, entriesOf } = mcpWorld;
const { client } = world.database;
const viewer = tokens.viewer.secret;
beforeAll(() => mcpWorld.aHost());

const aDeployment = async (): Promise<string> => (await mcpWorld.deployed()).id;
const observe = (id: string, phase: string, message = '') =>
  client.deployment.update({ where: { id }, data: { phase, message, observed_generation: 1 } });
const wait = (deployment: string, given: object = {}, sent: object = {}) =>
  call('wait_for_deployment', { deployment, ...given }, { token: viewer, ...sent });
const subscriptions = observeSubscriptions(world.services.changes);

test('a wait ends when the deployment is running', async () => {
  const id = await aDeployment();
  const result = wait(id);
  await subscriptions.reach(id, 1);
  await observe(id, 'running');
  expect((await result).structuredContent).toMatchObject({ reached: true, deployment: { id, phase: 'running' } });
});

test('a wait ends early if the deployment cannot become running by itself', async () => {
  const id = await aDeployment();
  await observe(id, 'failed');
  expect((await wait(id)).structuredContent).toMatchObject({ reached: false, deployment: { phase: 'failed' } });
});

test('a wait that reaches its timeout returns the current state, which is no error', async () => {
  const { isError, structuredContent } = await wait(await aDeployment(), { timeout_seconds: 1 });
  expect({ isError, reached: structuredContent.reached, phase: structuredContent.deployment.phase }).toEqual({
    isError: undefined,
    reached: false,
    phase: 'pending',
  });
});

test('a wait for the deletion of a deployment ends when it does not exist', async () => {
  const id = await aDeployment();
  await client.deployment.update({ where: { id }, data: { deleting: true, phase: 'deleting' } });
  const result = wait(id, { until: 'deleted' });
  await subscriptions.reach(id, 1);
  await client.deployment.delete({ where: { id } });
  expect((await result).structuredContent).toMatchObject({ reached: true, deployment: null });
  expect((await wait(id, { until: 'deleted' })).structuredContent.reached).toBe(true);
  expect(codeOf(await wait(id))).toBe('not_found');
});

test.each(modes)('a client of the SDK (%s) receives the progress of a wait', async (mode) => {
  const id = await aDeployment();
  const sdk = await connect(url, viewer, { versionNegotiation: { mode } });
  const seen: (string | undefined)[] = [];
  const onprogress = ({ message }: { message?: string | undefined }) => void seen.push(message);
  const result = sdk.callTool({ name: 'wait_for_deployment', arguments: { deployment: id } }, { onprogress });
  await subscriptions.reach(id, 1);
  await observe(id, 'starting', 'pulling the image');
  await eventually('the client has received the progress', () => seen, {
    until: (messages) => messages.includes('starting: pulling the image'),
  });
  await observe(id, 'running');
  expect((await result).structuredContent).toMatchObject({ reached: true });
  await sdk.close();
});

test('a client that disconnects ends its wait, which is recorded as aborted', async () => {
  const id = await aDeployment();
  const token = await world.aToken({ role: 'viewer' });
  const leaving = new AbortController();
  const result = wait(id, {}, { token: token.secret, signal: leaving.signal }).catch(() => 'aborted');
  await subscriptions.reach(id, 1);
  leaving.abort();
  expect(await result).toBe('aborted');
  const { requests, parts } = await eventually('the call has an entry', () => entriesOf(token), {
    until: (entries) => entries.requests.length > 0,
  });
  expect(requests).toMatchObject([{ aborted: true, tool: 'wait_for_deployment' }]);
  expect(parts).toMatchObject([{ aborted: true, method: 'GET', path: `/api/v1/deployments/${id}` }]);
});

test('when the process is told to stop, waits end with what they have, and no call waits', async () => {
  const replica = world.aReplica();
  const ofReplica = observeSubscriptions(replica.services.changes);
  const stopping = new AbortController();
  const options = {
    log: world.log,
    health: { check: async () => [], stopping: false },
    rateLimit: false,
    trustProxy: [],
  };
  const fleet = await listen(createApp({ services: replica.services, stopping: stopping.signal, ...options }));
  const sent = messagesTo(fleet.url);
  const id = await aDeployment();
  const silent = sent.call('wait_for_deployment', { deployment: id }, { token: viewer });
  const params = { name: 'wait_for_deployment', arguments: { deployment: id }, _meta: { progressToken: 'p' } };
  const reporting = sent.request('tools/call', params, { token: viewer });
  await ofReplica.reach(id, 2);
  stopping.abort();
  await replica.services.changes.stop();
  expect((await silent).structuredContent).toMatchObject({ reached: false, deployment: { id } });
  expect((await reporting).message.result.structuredContent).toMatchObject({ reached: false });
  // Requests are still served for a while, but nothing waits.
  expect((await sent.request('tools/list', {}, { token: viewer })).status).toBe(200);
  expect(codeOf(await sent.call('wait_for_deployment', { deployment: id }, { token: viewer }))).toBe('unavailable');
  await fleet.close();
});
