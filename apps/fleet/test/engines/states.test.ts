import { describe, expect, test } from '@jest/globals';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { DEFAULT_DOCKER_TIMINGS } from '../../src/engines/docker/client.ts';
import type { FoundContainer } from '../../src/engines/docker/containers.ts';
import { planOf, processOf, stateOf } from '../../src/engines/docker/plan.ts';
import { type Inspected, inspected } from '../../src/engines/docker/schemas.ts';
import { endpointsOf } from '../../src/engines/docker/status.ts';
import type { RenderedContainer } from '../../src/render/docker.ts';
import { aDeployment, aScript } from './world.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();

type Given = Partial<Omit<Inspected['State'], 'StartedAt' | 'FinishedAt' | 'Health'>> & {
  readonly Health?: { readonly Status: string; readonly Log?: readonly object[] };
  readonly started?: number;
  readonly ended?: number;
  readonly restarts?: number;
  readonly job?: boolean;
  readonly memory?: number;
  readonly devices?: readonly object[];
};

/** A container as the engine returns it: by default, it has been running for ten minutes. */
function aContainer(given: Given = {}, rendered?: RenderedContainer): FoundContainer {
  const { started = 600, ended = 0, restarts = 0, job = false, memory = 0, devices = null, ...state } = given;
  const details = inspected.parse({
    Id: 'c1',
    Name: '/web-0',
    RestartCount: restarts,
    State: { Status: 'running', Running: true, ExitCode: 0, StartedAt: ago(started), FinishedAt: ago(ended), ...state },
    Config: { Labels: {} },
    HostConfig: {
      Memory: memory,
      RestartPolicy: job ? { Name: 'no' } : { Name: 'on-failure', MaximumRetryCount: 3 },
      DeviceRequests: devices,
    },
  });
  const { name = 'web-0', ordinal = 0, body } = rendered ?? {};
  const digest = body?.Labels['fleet/body'] ?? 'x';
  return { id: 'c1', name, ordinal, generation: 1, digest, details, at: NOW };
}

const exited = (ExitCode: number) => ({ Status: 'exited', Running: false, ExitCode });

describe('the state of a container', () => {
  test.each<[string, Given, string, string | null]>([
    ['that has been up for a while is running', {}, 'running', null],
    ['that has just been started is starting', { started: 2 }, 'starting', null],
    ['with a failing health check is unhealthy', { Health: { Status: 'unhealthy' } }, 'unhealthy', null],
    ['whose first health check is due is starting', { started: 30, Health: { Status: 'starting' } }, 'starting', null],
    [
      'whose health check has not passed yet is starting',
      { started: 600, Health: { Status: 'starting', Log: [{}] } },
      'starting',
      null,
    ],
    [
      'whose engine does not run its health check is running',
      { started: 61, Health: { Status: 'starting' } },
      'running',
      null,
    ],
    ['with a passing health check is running', { Health: { Status: 'healthy', Log: [{}] } }, 'running', null],
    ['that was paused is paused', { Paused: true }, 'paused', null],
    ['that the engine restarts is crashed', { Restarting: true, ExitCode: 1 }, 'crashed', 'CrashLoop'],
    ['that was never started is created', { Status: 'created', Running: false }, 'created', null],
    ['that is being removed is stopping', { Status: 'removing', Running: false }, 'stopping', null],
    ['that ran long and exited with 0 is stopped', exited(0), 'stopped', null],
    ['that ran long and was killed is stopped', { ...exited(137), memory: 2 ** 24 }, 'stopped', null],
    ['that exited soon is crashed', { ...exited(1), started: 5 }, 'crashed', 'CrashLoop'],
    ['that exited before it was stable is crashed', { ...exited(1), started: 119 }, 'crashed', 'CrashLoop'],
    ['that ended before it was stable has ended', { ...exited(0), started: 119 }, 'stopped', 'Exited'],
    ['that exited soon with the exit code 0 has ended', { ...exited(0), started: 5 }, 'stopped', 'Exited'],
    [
      'that the engine restarts after the exit code 0 has ended',
      { Restarting: true, ExitCode: 0 },
      'stopped',
      'Exited',
    ],
    ['that the engine no longer restarts is crashed', { ...exited(1), restarts: 3 }, 'crashed', 'CrashLoop'],
    [
      'that ran out of memory is crashed with OOMKilled',
      { ...exited(1), restarts: 3, OOMKilled: true },
      'crashed',
      'OOMKilled',
    ],
    [
      'that was killed with a memory limit is crashed with CrashLoop, unless the engine reports OOMKilled',
      { ...exited(137), restarts: 3, memory: 2 ** 24 },
      'crashed',
      'CrashLoop',
    ],
    [
      'that was killed without a memory limit is crashed with CrashLoop',
      { ...exited(137), restarts: 3 },
      'crashed',
      'CrashLoop',
    ],
    ['of a job that exited with 0 is completed', { ...exited(0), job: true, started: 1 }, 'completed', null],
    ['of a job that exited with another code is failed', { ...exited(2), job: true }, 'failed', 'JobFailed'],
    [
      'of a job that ran out of memory is failed with OOMKilled',
      { ...exited(137), job: true, memory: 2 ** 24, OOMKilled: true },
      'failed',
      'OOMKilled',
    ],
    [
      'of a job that exited with 137 is failed with JobFailed',
      { ...exited(137), job: true, memory: 2 ** 24 },
      'failed',
      'JobFailed',
    ],
  ])('%s', (_title, given, phase, reason) => {
    expect(stateOf(aContainer(given), DEFAULT_DOCKER_TIMINGS)).toMatchObject({ phase, reason });
  });

  test.each<[Given, string]>([
    [{ ...exited(0), started: 5 }, 'has ended (exit code 0)'],
    [{ Restarting: true, ExitCode: 0 }, 'is restarting (exit code 0)'],
    [{ ...exited(137), started: 5, memory: 2 ** 24 }, 'has crashed (exit code 137, as after SIGKILL)'],
    [{ ...exited(137), job: true, memory: 2 ** 24 }, 'has failed (exit code 137, as after SIGKILL)'],
    [
      { ...exited(137), started: 5, memory: 2 ** 24, OOMKilled: true },
      'has crashed (exit code 137): it was killed because it exceeded its memory limit of 16 MiB',
    ],
    [
      { ...exited(1), started: 5, OOMKilled: true },
      'has crashed (exit code 1): one of its processes was killed because it exceeded the available memory',
    ],
  ])('of %j states only what the engine reports: %s', (given, message) => {
    expect(stateOf(aContainer(given), DEFAULT_DOCKER_TIMINGS).message).toBe(message);
  });

  test.each<[string, Given, object | undefined]>([
    ['that runs becomes stable', { started: 30 }, { restarts: 0, stableInMs: 90_000 }],
    ['whose health check has passed is stable', { started: 1, Health: { Status: 'healthy' } }, { stableInMs: 0 }],
    ['that was never started has none', { Status: 'created', Running: false, started: 3e9 }, undefined],
    ['of a job has none', { job: true }, undefined],
    [
      'that has crashed is started again by the fleet',
      { ...exited(3), restarts: 3 },
      { restarts: 3, failure: { exitCode: 3, reason: 'CrashLoop' }, restart: { by: 'fleet' } },
    ],
    ['that the engine is about to restart', { ...exited(3), started: 5, restarts: 1 }, { restart: { by: 'engine' } }],
    [
      'that the engine has not restarted is started again by the fleet',
      { ...exited(3), started: 5, ended: 4, restarts: 1 },
      { restart: { by: 'fleet' } },
    ],
    [
      'that waits for the engine was not restarted yet',
      { Restarting: true, ExitCode: 1, restarts: 2 },
      { restarts: 1, restart: { by: 'engine' } },
    ],
  ])('%s: its process', (_title, given, expected) => {
    const found = processOf(aContainer(given), DEFAULT_DOCKER_TIMINGS);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(expected);
  });

  test.each<[string, Given, number | undefined]>([
    ['that has just been started is known to change when it is settled', { started: 2 }, 1000],
    ['of a job can change at any time', { started: 2, job: true }, undefined],
    [
      'that waits for its health check can change at any time',
      { started: 2, Health: { Status: 'starting' } },
      undefined,
    ],
    ['that has been up for a while does not change', {}, undefined],
  ])('%s', (_title, given, changesInMs) => {
    expect(stateOf(aContainer(given), DEFAULT_DOCKER_TIMINGS).changesInMs).toBe(changesInMs);
  });
});

describe('the plan for a container', () => {
  async function planFor(given: Given, spec: Partial<WorkloadSpec> = {}, retryAfter?: number) {
    const manifest = await (await aDeployment(aScript('', spec))).manifest();
    const found = manifest.containers.map((rendered) => aContainer(given, rendered));
    return planOf(found, manifest, { timing: DEFAULT_DOCKER_TIMINGS, retryAfter }).map((step) => step.do);
  }

  test.each<[string, Given, Partial<WorkloadSpec>, string[]]>([
    ['that runs has no steps', {}, {}, []],
    ['that has its GPU has no steps', { devices: [{ Driver: 'cdi' }] }, { gpu_count: 1 }, []],
    ['that runs without its GPU is to report it', {}, { gpu_count: 1 }, ['reportMissingGpu']],
    ['that the engine could not remove is to create it again', { Status: 'dead', Running: false }, {}, ['create']],
    ['that was stopped is to start it', exited(0), {}, ['start']],
    ['that has crashed has no steps', { ...exited(1), restarts: 3 }, {}, []],
    ['that has ended soon has no steps', { ...exited(0), started: 5 }, {}, []],
  ])('%s', async (_title, given, spec, steps) => {
    expect(await planFor(given, spec)).toEqual(steps);
  });

  test('that has crashed is to start it after its backoff, unless the engine does', async () => {
    const crashed = { ...exited(1), restarts: 3, ended: 5 };
    expect(await planFor(crashed, {}, 5000)).toEqual(['start']);
    expect(await planFor(crashed, {}, 5001)).toEqual([]);
    expect(await planFor({ ...crashed, Restarting: true }, {}, 5000)).toEqual([]);
    expect(await planFor({ ...exited(0), started: 9, ended: 5 }, {}, 5000)).toEqual(['start']);
  });
});

test('an outdated container that the engine is about to restart is not up, and is replaced first', async () => {
  const deployment = await aDeployment(aScript(''), { replicas: 2 });
  const before = await deployment.manifest();
  const found = before.containers.map((rendered, at) =>
    aContainer({ ...exited(1), Running: true, Restarting: at > 0 }, rendered),
  );
  const manifest = await deployment.manifest({ generation: 8, restarted_at: '2026-01-01T00:00:00Z' });
  const steps = planOf(found, manifest, { timing: DEFAULT_DOCKER_TIMINGS });
  expect(steps).toMatchObject([{ do: 'create', rendered: { ordinal: 1 } }]);
});

describe('while the current container', () => {
  async function planWith(ofCurrent: Given, ofOutdated: Given, retryAfter?: number) {
    const deployment = await aDeployment(aScript(''), { replicas: 2 });
    const before = await deployment.manifest();
    const manifest = await deployment.manifest({ generation: 8, restarted_at: '2026-01-01T00:00:00Z' });
    const found = [
      ...manifest.containers.slice(0, 1).map((rendered) => aContainer(ofCurrent, rendered)),
      ...before.containers.slice(1).map((rendered) => aContainer(ofOutdated, rendered)),
    ];
    const steps = planOf(found, manifest, { timing: DEFAULT_DOCKER_TIMINGS, retryAfter });
    return steps.map((step) => `${step.do} ${step.do === 'create' ? step.rendered.ordinal : step.found.ordinal}`);
  }

  test.each<[string, Given, Given, number | undefined, string[]]>([
    ['starts, an outdated one that was stopped is started as it is', { started: 1 }, exited(0), undefined, ['start 1']],
    [
      'starts, an outdated one that was never started is started',
      { started: 1 },
      { Status: 'created', Running: false },
      undefined,
      ['start 1'],
    ],
    [
      'has crashed, an outdated one that has crashed waits',
      { ...exited(1), restarts: 3 },
      { ...exited(1), restarts: 3 },
      undefined,
      [],
    ],
    [
      'has crashed, an outdated one is started after its backoff',
      { started: 1 },
      { ...exited(1), restarts: 3, ended: 5 },
      5000,
      ['start 1'],
    ],
    [
      'starts, an outdated one that could not be removed is replaced',
      { started: 1 },
      { Status: 'dead', Running: false },
      undefined,
      ['create 1'],
    ],
    [
      'starts, an outdated job that has completed is replaced',
      { started: 1 },
      { ...exited(0), job: true },
      undefined,
      ['create 1'],
    ],
    ['runs, an outdated one that is down is replaced', {}, exited(0), undefined, ['create 1']],
    ['runs, an outdated one that is up is replaced', {}, {}, undefined, ['create 1']],
  ])('%s', async (_title, ofCurrent, ofOutdated, retryAfter, steps) => {
    expect(await planWith(ofCurrent, ofOutdated, retryAfter)).toEqual(steps);
  });
});

describe('the address of a port', () => {
  const addresses = { mesh: '10.1.2.3', public: '203.0.113.5', lab: '127.0.0.1' };
  const at = async (HostIp: string, endpoint: string) => {
    const deployment = await aDeployment(aScript('', { ports: [{ containerPort: 53, protocol: 'udp' }] }));
    const { containers } = await deployment.manifest();
    const bound = containers.map((container) => {
      const PortBindings = { '53/udp': [{ HostIp, HostPort: '4000' }] };
      return { instance: container.name, ready: true, current: true, bindings: PortBindings };
    });
    return endpointsOf(bound, { endpoint, addresses });
  };

  test.each([
    ['', 'tcp://machine.example.org:2376', 'machine.example.org:4000', 'all'],
    ['0.0.0.0', 'tcp://10.1.2.3:2376', '10.1.2.3:4000', 'all'],
    ['::', 'tcp://[2001:db8::1]:2376', '[2001:db8::1]:4000', 'all'],
    ['127.0.0.1', 'tcp://10.1.2.3:2376', '127.0.0.1:4000', 'loopback'],
    ['::1', 'unix:///run/docker.sock', '[::1]:4000', 'loopback'],
    ['10.1.2.3', 'tcp://machine.example.org:2376', '10.1.2.3:4000', 'mesh'],
    ['203.0.113.5', 'tcp://10.1.2.3:2376', '203.0.113.5:4000', 'public'],
    ['10.9.9.9', 'tcp://10.1.2.3:2376', '10.9.9.9:4000', 'unknown'],
    ['', 'unix:///run/docker.sock', 'localhost:4000', 'all'],
  ])('bound to "%s" of %s is %s with the scope %s', async (ip, endpoint, address, scope) => {
    expect(await at(ip, endpoint)).toMatchObject([{ container_port: 53, protocol: 'UDP', address, scope }]);
  });
});
