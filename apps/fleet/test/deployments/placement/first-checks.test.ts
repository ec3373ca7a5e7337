import { jest } from '@jest/globals';
import { eventually } from '@svc/testing';
import type { Database } from '../../../src/database/client.ts';
import { createFirstChecks, UncheckedTargets } from '../../../src/reconciler/checks/first-checks.ts';
import { SHORT_TIMINGS } from '../../timings.ts';
import { type Body, GIB, reasonsOf, startDeploymentWorld } from '../world.ts';

/** Requests wait for longer than the other replica needs for a check on any machine. */
const fleet = await startDeploymentWorld({
  reconcilerTimings: { ...SHORT_TIMINGS.reconciler, firstCheck: 600_000, firstCheckPoll: 5 },
});

const UNCHECKED = { reachability: 'unknown' as const, cpu_millis: null, memory_bytes: null };
const CHECKED = { reachability: 'online' as const, cpu_millis: 64_000, memory_bytes: 64 * GIB };
/** Stores the result of a check, like a replica that has checked the host. */
const check = (id: string) => fleet.client.host.update({ where: { id }, data: CHECKED });

const statements = jest.spyOn(fleet.client, '$queryRaw');
beforeEach(() => void statements.mockClear());
/** The number of times that waiting requests have read whether targets are unchecked. */
const polls = () => statements.mock.calls.filter(([sql]) => String(sql).includes('AS unchecked')).length;
const isWaiting = () => eventually('a request waits for a first check', () => polls() > 0);

test.each([
  ['creation', 'deploy', 201],
  ['plan', 'plan', 200],
] as const)(
  'a %s waits for the first check of the only suitable host, which another replica does',
  async (_, ask, status) => {
    const { id } = await fleet.aHost(UNCHECKED);
    await fleet.aHost({ cpus: 1 });
    const { id: workload_id } = await fleet.aWorkload({ cpu_request: '2' });
    const request = fleet[ask]({ workload_id });
    await isWaiting();
    await check(id);
    const answer = await request;
    expect({ status: answer.status, target: (answer.body.deployment ?? answer.body.placement).target }).toEqual({
      status,
      target: { host_id: id, cluster_id: null },
    });
  },
);

test('a creation on an unchecked cluster waits for its first check', async () => {
  const { id } = await fleet.aCluster(UNCHECKED);
  const { id: workload_id } = await fleet.aWorkload();
  const request = fleet.deploy({ workload_id, target: { cluster_id: id } });
  await isWaiting();
  await fleet.client.cluster.update({ where: { id }, data: CHECKED });
  expect((await request).status).toBe(201);
});

test('a creation whose target is not checked in time is answered 422 with this reason, and stores nothing', async () => {
  const { id, name } = await fleet.aHost(UNCHECKED);
  const { id: workload_id } = await fleet.aWorkload();
  const { secret } = await fleet.world.aToken({ role: 'operator' });
  const impatient = fleet.world.aReplica({ reconcilerTimings: { ...SHORT_TIMINGS.reconciler, firstCheck: 100 } });
  const { status, body } = await impatient
    .api(`Bearer ${secret}`)
    .post('/api/v1/deployments', { name: 'web', workload_id, target: { host_id: id } });
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'no_placement' });
  expect(body.errors).toEqual([
    {
      path: 'target',
      message: `cannot be host ${name}: has not been checked yet; its CPU and memory are not known yet`,
    },
  ]);
  expect(await fleet.client.deployment.count()).toBe(0);
});

test('a creation whose target turns out to be unreachable is answered 422 with this reason', async () => {
  const { id } = await fleet.aHost(UNCHECKED);
  const { id: workload_id } = await fleet.aWorkload();
  const request = fleet.deploy({ workload_id, target: { host_id: id } });
  await isWaiting();
  await fleet.client.host.update({ where: { id }, data: { reachability: 'unreachable' } });
  expect((await request).body.errors[0].message).toMatch(/: is unreachable/);
});

test('a waiting creation holds no lock: another deployment is created meanwhile', async () => {
  const { id: unchecked } = await fleet.aHost(UNCHECKED);
  const { id: host_id } = await fleet.aHost();
  const { id: workload_id } = await fleet.aWorkload();
  const waiting = fleet.deploy({ workload_id, target: { host_id: unchecked } });
  await isWaiting();
  expect((await fleet.deploy({ workload_id, target: { host_id } })).status).toBe(201);
  await check(unchecked);
  expect((await waiting).status).toBe(201);
});

test.each<[string, Body]>([
  ['is refused for another reason', { env: { NOT_DECLARED: 'x' } }],
  ['needs a network type that the unchecked host does not have', { workload: { required_network_types: ['mesh'] } }],
])('a creation that %s does not wait', async (_, { workload = {}, ...given }) => {
  await fleet.aHost(UNCHECKED);
  const { id: workload_id } = await fleet.aWorkload(workload as Body);
  expect(JSON.stringify(reasonsOf(await fleet.deploy({ workload_id, ...given })))).toContain(
    'has not been checked yet',
  );
  expect(polls()).toBe(0);
});

test('at most 16 requests wait for first checks at the same time; another one is answered at once', async () => {
  let unchecked = 1;
  // The only member that waits use.
  const client = { $queryRaw: async () => [{ unchecked }] } as unknown as Database['client'];
  const afterFirstChecks = createFirstChecks({ client } as Database, { firstCheck: 600_000, firstCheckPoll: 5 });
  const attempts: boolean[] = [];
  const attempt = async (canWait: boolean) => {
    attempts.push(canWait);
    if (canWait && unchecked > 0) throw new UncheckedTargets([{ kind: 'host', id: 'any' }]);
    return unchecked;
  };
  const waiting = Array.from({ length: 16 }, () => afterFirstChecks(attempt));
  await eventually('16 requests wait', async () => attempts.length === 16);
  expect(await afterFirstChecks(attempt)).toBe(1);
  expect(attempts.slice(16)).toEqual([true, false]);
  unchecked = 0;
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => 0));
});
