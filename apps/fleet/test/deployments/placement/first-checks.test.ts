import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../../src/database/client.ts';
import { createFirstChecks, UncheckedTargets } from '../../../src/reconciler/first-checks.ts';
import { eventually } from '../../reconciler/deployment-helpers.ts';
import { type Body, GIB, reasonsOf, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();

const UNCHECKED = { reachability: 'unknown' as const, cpu_millis: null, memory_bytes: null };
const CHECKED = { reachability: 'online' as const, cpu_millis: 64_000, memory_bytes: 64 * GIB };
/** Stores the result of a check, like a replica that has checked the host. */
const check = (id: string) => fleet.client.host.update({ where: { id }, data: CHECKED });

/**
 * Whether a request is still waiting after the fleet has read the result of a check at least once.
 */
async function isWaiting(request: Promise<unknown>): Promise<boolean> {
  return (await Promise.race([request, pause(200, 'waiting')])) === 'waiting';
}

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
    expect(await isWaiting(request)).toBe(true);
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
  expect(await isWaiting(request)).toBe(true);
  await fleet.client.cluster.update({ where: { id }, data: CHECKED });
  expect((await request).status).toBe(201);
});

test('a creation whose target is not checked in time is answered 422 with this reason, and stores nothing', async () => {
  const { id, name } = await fleet.aHost(UNCHECKED);
  const { id: workload_id } = await fleet.aWorkload();
  const { status, body } = await fleet.deploy({ workload_id, target: { host_id: id } });
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
  expect(await isWaiting(request)).toBe(true);
  await fleet.client.host.update({ where: { id }, data: { reachability: 'unreachable' } });
  expect((await request).body.errors[0].message).toMatch(/: is unreachable/);
});

test('a waiting creation holds no lock: another deployment is created meanwhile', async () => {
  const { id: unchecked } = await fleet.aHost(UNCHECKED);
  const { id: host_id } = await fleet.aHost();
  const { id: workload_id } = await fleet.aWorkload();
  const waiting = fleet.deploy({ workload_id, target: { host_id: unchecked } });
  expect(await isWaiting(waiting)).toBe(true);
  expect((await fleet.deploy({ workload_id, target: { host_id } })).status).toBe(201);
  await check(unchecked);
  expect((await waiting).status).toBe(201);
});

test.each<[string, Body]>([
  ['is refused for another reason', { env: { NOT_DECLARED: 'x' } }],
  ['needs a network type that the unchecked host does not have', { workload: { required_network_types: ['mesh'] } }],
])('a creation that %s does not wait', async (_, { workload = {}, ...given }) => {
  const { id } = await fleet.aHost(UNCHECKED);
  const { id: workload_id } = await fleet.aWorkload(workload as Body);
  const request = fleet.deploy({ workload_id, ...given });
  await Promise.race([request, pause(200)]);
  await check(id); // too late for a request that does not wait
  expect(JSON.stringify(reasonsOf(await request))).toContain('has not been checked yet');
});

test('at most 16 requests wait for first checks at the same time; another one is answered at once', async () => {
  let unchecked = 1;
  // The only member that waits use.
  const client = { $queryRaw: async () => [{ unchecked }] } as unknown as Database['client'];
  // As above.
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
