import { jest } from '@jest/globals';
import { phases } from '@svc/contract/fleet';
import { documentedMetrics, reportedMetrics } from '@svc/testing';
import pg from 'pg';
import request from 'supertest';
import { openDatabase } from '../src/database/client.ts';
import { newRollout } from '../src/deployments/updates/rollout.ts';
import { startDeploymentWorld } from './deployments/world.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;

const scrape = async (app = world.aReplica().app) => (await request(app).get('/metrics').expect(200)).text;

test('each metric is documented with its type and labels, and each documented metric exists', async () => {
  await fleet.aHost();
  await fleet.deployed();
  await world.signIn();
  const documented = documentedMetrics('fleet');
  const reported = reportedMetrics(await scrape());
  expect(Object.keys(reported).sort()).toEqual(Object.keys(documented).sort());
  for (const [name, { type, labels }] of Object.entries(reported)) {
    expect({ name, type }).toEqual({ name, type: documented[name]?.type });
    if (labels.length > 0) expect({ name, labels }).toEqual({ name, labels: documented[name]?.labels });
  }
});

test('two replicas report the same state, with reasons and phases of fixed sets', async () => {
  const host = await fleet.aHost();
  await fleet.aHost({ reachability: 'unreachable' });
  const states = [
    { phase: 'running', reason: null },
    { phase: 'running', reason: null },
    { phase: 'failed', reason: 'CrashLoop' },
    { phase: 'later', reason: 'OfALaterVersion' },
  ];
  for (const state of states) {
    const { id } = await fleet.deployed({ target: { host_id: host?.id } });
    await client.deployment.update({ where: { id }, data: { ...state, due_at: new Date(Date.now() + 60_000) } });
  }
  const { id } = await fleet.deployed({ target: { host_id: host?.id } });
  const rollout = { ...newRollout(1), state: 'held' };
  await client.deployment.update({ where: { id }, data: { due_at: new Date(Date.now() - 60_000), rollout } });
  const state = (text: string) =>
    text.split('\n').filter((line) => /^(?:fleet|reconciler_(?:due|claimed))_/.test(line));
  const [one, other] = await Promise.all([scrape(), scrape()]);
  expect(state(one)).toEqual(state(other));
  expect(state(one).sort()).toEqual(
    [
      'fleet_deployments{phase="running",reason="none"} 2',
      'fleet_deployments{phase="failed",reason="CrashLoop"} 1',
      'fleet_deployments{phase="other",reason="other"} 1',
      'fleet_deployments{phase="pending",reason="none"} 1',
      ...['unknown 0', 'online 1', 'unreachable 1'].map(
        (line) => `fleet_hosts{reachability="${line.replace(' ', '"} ')}`,
      ),
      ...['unknown 0', 'online 0', 'unreachable 0'].map(
        (line) => `fleet_clusters{reachability="${line.replace(' ', '"} ')}`,
      ),
      ...['progressing 0', 'returning 0', 'held 1', 'failed 0'].map(
        (line) => `fleet_rollouts{state="${line.replace(' ', '"} ')}`,
      ),
      ...['ok 0', 'pending 0', 'failing 0', 'disabled 0'].map(
        (line) => `fleet_sources{state="${line.replace(' ', '"} ')}`,
      ),
      'fleet_update_runs 0',
      'reconciler_due_deployments 1',
      'reconciler_claimed_deployments 0',
    ].sort(),
  );
  expect(Number(/^reconciler_oldest_due_seconds (.*)$/m.exec(one)?.[1])).toBeGreaterThanOrEqual(60);
  expect(phases).not.toContain('later');
});

test('concurrent scrapes read the state once', async () => {
  const { app } = world.aReplica();
  const query = jest.spyOn(pg.Pool.prototype, 'query');
  const connect = jest.spyOn(pg.Pool.prototype, 'connect');
  await Promise.all(Array.from({ length: 10 }, () => scrape(app)));
  expect(query.mock.calls.length + connect.mock.calls.length).toBeLessThanOrEqual(8);
  query.mockRestore();
  connect.mockRestore();
});

test('a scrape without a database has all other metrics', async () => {
  const database = openDatabase('postgresql://nobody@127.0.0.1:1/none', () => undefined);
  const text = await scrape(world.aReplica({ database }).app);
  expect(text).toContain('http_requests_total');
  expect(text).toContain('database_pool_max_connections{pool="requests"} 12');
  expect(text).not.toMatch(/^fleet_deployments\{/m);
  expect(text).not.toMatch(/^database_response_seconds /m);
  expect(await scrape()).toMatch(/^database_response_seconds 0\.\d/m);
  await database.close();
});

test('sign-ins are counted by kind and outcome', async () => {
  const count = async (kind: string, outcome: string) =>
    Number(
      new RegExp(`^sign_ins_total\\{kind="${kind}",outcome="${outcome}"\\} (.*)$`, 'm').exec(await scrape())?.[1] ?? 0,
    );
  const accepted = await count('temporary_admin', 'accepted');
  const rejected = await count('local', 'rejected');
  await world.signIn();
  await world.nobody.post('/api/v1/auth/login', { email: 'nobody@example.test', password: 'any password' });
  expect(await count('temporary_admin', 'accepted')).toBe(accepted + 1);
  expect(await count('local', 'rejected')).toBe(rejected + 1);
});
