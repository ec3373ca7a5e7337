import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { byDepth, eventually, LONG_TEST_MS } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { SHORT_TIMINGS } from '../../timings.ts';
import { aMachineWorld, SERVER, SLEEPER } from './world.ts';

const SLEEP = "trap 'exit 0' TERM; sleep 1000 & wait";

const SAMPLE_MS = 100;
/** For how long a crash loop is sampled. */
const SAMPLED_MS = byDepth({ short: 20_000, full: 180_000, long: 180_000 });

describeWithEngine('a failure is reported with its reason until its cause is removed:', () => {
  const { docker } = SHORT_TIMINGS.reconciler;
  // On a busy machine, a program that crashes can run for seconds before.
  const world = aMachineWorld({ ...SHORT_TIMINGS.reconciler, docker: { ...docker, settled: 2000, stable: 20_000 } });
  // Created before the tests, because the engine needs seconds to reach the failures.
  let crashing: string;
  let shortLived: string;
  let hungry: string;
  let withGpu: string;
  let looping: string;
  /** What the list of deployments with problems contains of the crash loop, from its first failure on. */
  let samples: Promise<readonly Record<string, unknown>[]>;
  const sampled = async (id: string) => {
    const { api, good, deploymentIs } = world();
    await deploymentIs(id, 'degraded', 'CrashLoop');
    const seen = [];
    for (const end = Date.now() + SAMPLED_MS; Date.now() < end; await pause(SAMPLE_MS)) {
      const { deployments } = await good(api.get('/api/v1/deployments?phase=degraded,failed,retrying&name=looping'));
      const [{ phase, crash_loop } = { phase: 'without a problem', crash_loop: null }] = deployments;
      seen.push({ phase, isLoop: crash_loop !== null });
    }
    return seen;
  };
  beforeAll(async () => {
    const { deployed, database, hostId } = world();
    const script = `[ "$GREETING" = hello ] && exit 3; ${SLEEP}`;
    const allocate = 'dd if=/dev/zero of=/dev/null bs=64M'; // fills its buffer at once
    looping = (await deployed('looping', { ...SLEEPER, command: ['/bin/sh', '-c', 'echo start; sleep 0.3; exit 3'] }))
      .id;
    samples = sampled(looping); // while the other tests run
    samples.catch(() => undefined);
    const tooLarge = { ...SLEEPER, memory_request: '16Mi', command: ['/bin/sh', '-c', allocate] };
    [crashing, shortLived, hungry] = [
      (await deployed('crashing', { ...SLEEPER, command: ['/bin/sh', '-c', script] })).id,
      (await deployed('short-lived', { ...SLEEPER, command: ['/bin/sh', '-c', 'sleep 0.5; exit 3'] })).id,
      (await deployed('hungry', tooLarge)).id,
    ];
    // An engine whose version cannot give GPUs is refused before the deployment. An unknown version is not.
    await database.client.host.update({ where: { id: hostId }, data: { engine_version: null } });
    withGpu = (await deployed('gpu', { ...SLEEPER, gpu_count: 1 })).id;
  });

  test('the image is missing', async () => {
    const { deployed, deploymentIs, podman, containers } = world();
    const { id } = await deployed('no-image', { ...SLEEPER, image_name: 'svc-test/other' });
    const failed = await deploymentIs(id, 'retrying', 'ImagePullFailed');
    expect(failed.message).toContain('localhost/svc-test/other:1');
    expect(await containers(id)).toEqual([]);
    await podman.byHand('tag', podman.image, 'localhost/svc-test/other:1');
    await deploymentIs(id, 'running');
  });

  test('the program exits at once', async () => {
    const { api, good, deployment, deploymentIs } = world();
    await deploymentIs(crashing, 'degraded', 'CrashLoop');
    // A pass can find the next attempt before it finds the end of the first one.
    await eventually('its message has the exit code', async () =>
      (await deployment(crashing)).message.includes('exit code 3'),
    );
    await good(api.put(`/api/v1/deployments/${crashing}`, { env: { GREETING: 'good day' } }));
    await deploymentIs(crashing, 'running');
  });

  test('the program exits again and again shortly after its start, and waits longer after each failure', async () => {
    const { database, deployment } = world();
    await eventually('three failures are counted', async () => {
      const { failures } = await database.client.deployment.findUniqueOrThrow({ where: { id: shortLived } });
      return failures >= 3;
    });
    expect(await deployment(shortLived)).toMatchObject({ phase: 'degraded', reason: 'CrashLoop' });
  });

  test('the program exceeds its memory limit', async () => {
    const { api, good, deployment, deploymentIs } = world();
    const reasons = ['OOMKilled', 'CrashLoop']; // Podman with cgroups v1 does not report why it killed the program
    await eventually('it is killed', () => deployment(hungry), {
      until: ({ phase, reason, message }) =>
        phase === 'degraded' &&
        reasons.includes(reason ?? '') &&
        message.includes(reason === 'OOMKilled' ? '16 MiB' : 'exit code 137, as after SIGKILL'),
    });
    const { workload_id } = await deployment(hungry);
    await good(api.put(`/api/v1/workloads/${workload_id}`, { command: SLEEPER.command }));
    await good(api.put(`/api/v1/deployments/${hungry}`, { revision: 2 }));
    await deploymentIs(hungry, 'running');
  });

  test('the port is in use, until the replica is assigned another one, and other replicas keep theirs', async () => {
    const { good, api, deployed, ask, deploymentIs, fetched, events } = world();
    await good(api.post('/api/v1/secrets', { name: 'pass', values: { PASSWORD: 'geheim' } }));
    const { id } = await deployed('web', { ...SERVER, volume_mounts: [] }, { replicas: 2 });
    const { endpoints } = await deploymentIs(id, 'running');
    const ports: number[] = endpoints.map(({ address }: { address: string }) => Number(address.split(':')[1]));
    await ask(id, 'stop');
    await deploymentIs(id, 'stopped');
    const stranger = createServer().listen(ports[0], '0.0.0.0');
    await once(stranger, 'listening');
    try {
      await ask(id, 'start');
      const now = await deploymentIs(id, 'running');
      expect(now.endpoints[0]).not.toEqual(endpoints[0]);
      expect(now.endpoints[1]).toEqual(endpoints[1]);
      expect(await fetched(id)).toBe('hello geheim\n');
      expect(await events(id)).toContainEqual(expect.stringMatching(`^PortConflict: Port ${ports[0]} of the host`));
    } finally {
      stranger.close();
    }
  });

  test('the GPU is missing, and the deployment never runs without it and keeps none', async () => {
    const { api, good, deployment, deploymentIs, containers, database, host, hostId } = world();
    await deploymentIs(withGpu, 'failed', 'GpuMissing');
    expect(await containers(withGpu)).toEqual([]);
    expect((await host(hostId)).allocated.gpu_count).toBe(0);
    expect(await database.client.allocatedGpu.count()).toBe(0);
    await good(api.post(`/api/v1/hosts/${hostId}/check`));
    const refused = await api.post(`/api/v1/deployments/${withGpu}/restart`);
    expect(refused).toMatchObject({ status: 422, body: { code: 'no_placement' } });
    const { workload_id } = await deployment(withGpu);
    await good(api.put(`/api/v1/workloads/${workload_id}`, { gpu_count: 0 }));
    await good(api.put(`/api/v1/deployments/${withGpu}`, { revision: 2 }));
    await deploymentIs(withGpu, 'running');
    expect((await host(hostId)).allocated.gpu_count).toBe(0);
  });

  const always = 'a crash loop has a problem at any time, and its restarts are the starts in its log';
  test(
    always,
    async () => {
      const { api, good, deployment, events } = world();
      expect(new Set((await samples).map((sample) => JSON.stringify(sample)))).toEqual(
        new Set([JSON.stringify({ phase: 'degraded', isLoop: true })]),
      );
      const logOf = async (query: string) =>
        (await api.get(`/api/v1/deployments/${looping}/logs?${query}`)).text.split('\n').filter((line) => line !== '');
      const counted = async () => {
        const { instances, crash_loop } = await deployment(looping);
        return { starts: (await logOf('tail=10000')).length, restarts: instances[0].restarts, loop: crash_loop };
      };
      const { restarts, loop } = await eventually('the next try is planned', counted, {
        until: (seen) => seen.loop.next_try_at !== null && seen.restarts === seen.starts - 1,
      });
      expect(restarts).toBeGreaterThan(3); // more than the engine does
      expect(loop).toMatchObject({ attempt: restarts + 1, exit_code: 3, reason: 'CrashLoop' });
      expect(await logOf(`tail=20&previous=true&since=${loop.failed_start_at}`)).toContain('start');
      const happened = (await events(looping)).filter((event) => /crash|again/i.test(event));
      // The first generation has no earlier one to return to.
      const failed = expect.stringMatching(/^RolloutFailed: .*crashed \d+ times/);
      expect(happened).toEqual([expect.stringMatching(/^CrashLoop: /), failed]);
      await good(api.post(`/api/v1/deployments/${looping}/stop`));
    },
    LONG_TEST_MS,
  );
});
