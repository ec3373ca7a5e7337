import { createApp } from '../../src/app.ts';
import { observeSubscriptions } from '../changes/subscriptions.ts';
import { listen } from '../raw.ts';
import { codeOf, messagesTo } from './client.ts';
import { startMcpWorld } from './world.ts';

const fleet = await startMcpWorld();
const { call, tokens, world } = fleet;
const { client } = world.database;
const viewer = tokens.viewer.secret;
beforeAll(() => fleet.aHost());

const aDeployment = async (): Promise<string> => (await fleet.deployed()).id;
const wait = (deployment: string, given: object = {}, sent: object = {}) =>
  call('wait_for_deployment', { deployment, ...given }, { token: viewer, ...sent });
const subscriptions = observeSubscriptions(world.services.changes);

test('a wait ends when its token is revoked', async () => {
  const token = await world.aToken({ role: 'viewer' });
  const id = await aDeployment();
  const result = wait(id, {}, { token: token.secret }).catch(() => 'closed');
  await subscriptions.reach(id, 1);
  await client.token.update({ where: { id: token.id }, data: { revoked_at: new Date() } });
  expect(await result).toBe('closed');
});

test('a principal has a limited number of waits and of calls per minute', async () => {
  const callLimits = { callsPerMinute: 6, concurrentCalls: 4, concurrentWaits: 2, allCalls: 100, allWaits: 100 };
  const { services } = world;
  const options = {
    log: world.log,
    health: { check: async () => [], stopping: false },
    rateLimit: false,
    trustProxy: [],
  };
  const limited = await listen(createApp({ services, callLimits, ...options }));
  const { call: send } = messagesTo(limited.url);
  const token = (await world.aToken({ role: 'viewer' })).secret;
  const id = await aDeployment();
  const given = { deployment: id };
  const waits = [1, 2].map(() => send('wait_for_deployment', given, { token }));
  await subscriptions.reach(id, 2);
  const third = await send('wait_for_deployment', given, { token });
  expect(codeOf(third)).toBe('rate_limited');
  expect(third.content[0]?.text).toMatch(/A caller has at most 2 waiting calls.*\nRetry in 1 s\.$/);
  expect(codeOf(await send('list_deployments', {}, { token }))).toBeUndefined();
  await client.deployment.update({ where: { id }, data: { phase: 'running', observed_generation: 1 } });
  await Promise.all(waits);
  const codes = [];
  for (let count = 0; count < 20; count += 1) codes.push(codeOf(await send('list_deployments', {}, { token })));
  expect(codes).toContain('rate_limited');
  // Another principal.
  expect(codeOf(await send('list_deployments', {}, { token: viewer }))).toBeUndefined();
  await limited.close();
});
