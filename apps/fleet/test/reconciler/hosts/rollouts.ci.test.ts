// Updates on a real engine while clients send requests: one follows `endpoints`, one keeps the address from before the update.
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { SHORT_TIMINGS } from '../../timings.ts';
import type { Body } from '../deployment-helpers.ts';
import { aMachineWorld, SLEEPER } from './world.ts';

const PROBE_MS = 20;

const WEB = [
  "trap 'exit 0' TERM",
  'mkdir -p /www; echo "$GREETING" > /www/index.html',
  'httpd -f -p 8080 -h /www & wait',
].join('\n');
const workload = { ...SLEEPER, command: ['/bin/sh', '-c', WEB], ports: [{ containerPort: 8080, protocol: 'TCP' }] };
const updates = { ready_seconds: 1, deadline_seconds: 600 };

describeWithEngine('an update on a real engine', () => {
  const { docker } = SHORT_TIMINGS.reconciler;
  const world = aMachineWorld({
    ...SHORT_TIMINGS.reconciler,
    drain: 2000,
    docker: { ...docker, firstHealthCheck: 600_000 },
  });

  const answers = (address: string): Promise<string | undefined> =>
    fetch(`http://${address}/`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(5000) }).then(
      (response) => response.text(),
      () => undefined,
    );

  /** Sends requests until it is stopped. @returns what failed */
  function probing(id: string, address: string) {
    const unanswered: string[] = [];
    let longestGapMs = 0;
    let isStopped = false;
    const listed = async (): Promise<string[]> =>
      (await world().deployment(id)).endpoints.map((endpoint: { address: string }) => endpoint.address);
    const follow = async () => {
      for (; !isStopped; await pause(PROBE_MS)) {
        const [first = 'none'] = await listed();
        if ((await answers(first)) === undefined && (first === 'none' || (await listed()).includes(first)))
          unanswered.push(first);
      }
    };
    const stay = async () => {
      for (let since = performance.now(); !isStopped; await pause(PROBE_MS)) {
        if ((await answers(address)) !== undefined) since = performance.now();
        longestGapMs = Math.max(longestGapMs, performance.now() - since);
      }
    };
    const running = [follow(), stay()];
    return async () => {
      isStopped = true;
      await Promise.all(running);
      return { unanswered, longestGapMs };
    };
  }

  /** A deployment that serves, and whose first generation is good. */
  async function aServer(name: string, given: Body = {}) {
    const { deployed, deployment, deploymentIs } = world();
    const { id } = await deployed(name, workload, { updates, ...given });
    await deploymentIs(id, 'running');
    const first = await eventually('the first rollout has succeeded', () => deployment(id), {
      until: ({ rollout }) => rollout?.state === 'succeeded',
    });
    const addresses: string[] = first.endpoints.map(({ address }: { address: string }) => address);
    for (const address of addresses) await eventually('the program listens', () => answers(address));
    return { id, addresses };
  }

  const rolloutIs = (id: string, state: string) =>
    eventually(`the rollout is ${state}`, () => world().deployment(id), {
      until: ({ rollout }) => rollout.state === state && rollout.generation > 1,
      withinMs: 60_000,
    });

  test.each([1, 3])('of %d replicas interrupts no client that follows the endpoints', async (replicas) => {
    const { api, good, containers } = world();
    const { id, addresses } = await aServer(`good-${replicas}`, { replicas });
    const change = { env: { GREETING: 'good day' } };
    const { outage, rollout } = await good(api.post('/api/v1/deployments/plan', { deployment_id: id, ...change }));
    expect(rollout).toEqual({ extra_instances: 1, reason: '' });
    expect(outage).toMatchObject({ expected: true, total: false, addresses });
    const stop = probing(id, addresses[0] ?? '');
    await good(api.put(`/api/v1/deployments/${id}`, change));
    const done = await rolloutIs(id, 'succeeded');
    const { unanswered, longestGapMs } = await stop();
    expect(unanswered).toEqual([]);
    expect(longestGapMs).toBeLessThan((outage.seconds + 10) * 1000); // the grace period of its stop
    expect(await containers(id)).toHaveLength(replicas);
    expect(done.endpoints.map(({ address }: { address: string }) => address)).toEqual(addresses);
    for (const address of addresses) expect(await answers(address)).toBe('good day\n');
  });

  /**
   * Runs the health check of the extra container, because Podman runs checks only on machines with systemd. Then the time of the
   * rollout is over.
   */
  async function checkExtraUntilDeadline(id: string): Promise<void> {
    const { containers, podman, database } = world();
    const extra = await eventually('the extra container exists', async () => (await containers(id))[1]);
    await eventually('its health check has run', async () => {
      await podman.byHand('healthcheck', 'run', extra.name).catch(() => undefined);
      return (await podman.byHand('inspect', '--format', '{{len .State.Health.Log}}', extra.name)).trim() !== '0';
    });
    const data = { rollout_elapsed_ms: updates.deadline_seconds * 1000 };
    await eventually('the fleet has returned', async () => {
      const { count } = await database.client.deployment.updateMany({ where: { id, generation: 2 }, data });
      return count === 0; // a reconciliation in progress replaces the time
    });
  }

  const FAILING = [...SLEEPER.env, { name: 'SVC_HEALTH_CHECK', value: 'exec:false' }];

  test.each<[string, Body, string]>([
    ['a missing image', { image_tag: 'missing' }, 'ImageNotFound'],
    ['a command that ends', { command: ['/bin/sh', '-c', 'exit 3'] }, 'CrashLoop'],
    ['a failing health check', { env: FAILING }, 'DeadlineExceeded'],
  ])('to %s returns by itself, and no request fails', async (what, change, reason) => {
    const { api, good, containers, events } = world();
    const { id, addresses } = await aServer(`to-${what.replaceAll(' ', '-')}`, { pull: 'never' });
    const before = await containers(id);
    const stop = probing(id, addresses[0] ?? '');
    const { workload_id } = await world().deployment(id);
    await good(api.put(`/api/v1/workloads/${workload_id}`, change));
    await good(api.put(`/api/v1/deployments/${id}`, { revision: 2 }));
    if (reason === 'DeadlineExceeded') await checkExtraUntilDeadline(id);
    const returned = await rolloutIs(id, 'rolled_back');
    const { unanswered, longestGapMs } = await stop();
    expect(returned).toMatchObject({
      revision: 1,
      phase: 'running',
      rollout: { failed_generation: 2, good_generation: 3 },
    });
    expect(unanswered).toEqual([]);
    expect(longestGapMs).toBeLessThan(5000); // no request failed: the deadline of a request
    expect(await containers(id)).toEqual(before);
    expect((await events(id)).filter((event) => /^RolledBack|^RolloutFailed/.test(event))).toEqual([
      expect.stringContaining('RolloutFailed: Generation 2 has failed'),
      `RolledBack: returned to generation 1: generation 2 has failed (${reason}).`,
    ]);
  });

  test('with a volume for one writer announces the outage, and returns only on request', async () => {
    const { api, good, ask, deployment } = world();
    const mounts = { volume_mounts: [{ name: 'data', mountPath: '/data' }] };
    const { id } = await world().deployed('store', { ...workload, ...mounts }, { updates });
    await eventually('the first rollout has succeeded', () => deployment(id), {
      until: ({ rollout }) => rollout?.state === 'succeeded',
    });
    const { workload_id } = await deployment(id);
    await good(api.put(`/api/v1/workloads/${workload_id}`, { command: ['/bin/sh', '-c', 'exit 3'] }));
    const plan = await good(api.post('/api/v1/deployments/plan', { deployment_id: id, revision: 2 }));
    expect(plan.outage).toMatchObject({ expected: true, total: true });
    expect(plan.rollout.reason).toBe('Only one instance at a time can use the volume store-data.');
    await good(api.put(`/api/v1/deployments/${id}`, { revision: 2 }));
    await rolloutIs(id, 'held');
    await ask(id, 'rollout/abort');
    expect(await rolloutIs(id, 'rolled_back')).toMatchObject({ revision: 1, phase: 'running' });
  });
});
