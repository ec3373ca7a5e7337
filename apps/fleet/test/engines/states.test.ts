import { describe, expect, test } from '@jest/globals';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { DEFAULT_DOCKER_TIMINGS } from '../../src/engines/docker/client.ts';
import type { Found } from '../../src/engines/docker/containers.ts';
import { planOf, stateOf } from '../../src/engines/docker/plan.ts';
import { type Inspected, inspected } from '../../src/engines/docker/schemas.ts';
import { endpointsOf } from '../../src/engines/docker/status.ts';
import type { RenderedContainer } from '../../src/render/docker.ts';
import { aDeployment, aScript } from './world.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();

type Given = Partial<Omit<Inspected['State'], 'StartedAt' | 'FinishedAt'>> & {
  readonly started?: number;
  readonly ended?: number;
  readonly restarts?: number;
  readonly job?: boolean;
  readonly memory?: number;
  readonly devices?: readonly object[];
};

/** A container as its engine shows it: up for a minute, unless it is said. */
function aContainer(given: Given = {}, rendered?: RenderedContainer): Found {
  const { started = 60, ended = 0, restarts = 0, job = false, memory = 0, devices = null, ...state } = given;
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

describe('a container', () => {
  test.each<[string, Given, string, string | null]>([
    ['that has been up for a while runs', {}, 'running', null],
    ['that was started just now is starting', { started: 2 }, 'starting', null],
    ['whose check of health fails is unhealthy', { Health: { Status: 'unhealthy' } }, 'unhealthy', null],
    ['that was paused is paused', { Paused: true }, 'paused', null],
    ['that its engine starts again has crashed', { Restarting: true, ExitCode: 1 }, 'crashed', 'CrashLoop'],
    ['that was never started is made', { Status: 'created', Running: false }, 'created', null],
    ['that is being removed is stopping', { Status: 'removing', Running: false }, 'stopping', null],
    ['that ran long and was told to end has stopped', exited(0), 'stopped', null],
    ['that ran long and was killed has stopped', { ...exited(137), memory: 2 ** 24 }, 'stopped', null],
    ['that ended soon has crashed, were it well', { ...exited(0), started: 5 }, 'crashed', 'CrashLoop'],
    ['that its engine gave up has crashed', { ...exited(1), restarts: 3 }, 'crashed', 'CrashLoop'],
    ['that ran out of memory says so', { ...exited(1), restarts: 3, OOMKilled: true }, 'crashed', 'OOMKilled'],
    [
      'that was killed over and over ran out of it',
      { ...exited(137), restarts: 3, memory: 2 ** 24 },
      'crashed',
      'OOMKilled',
    ],
    ['that was killed without a limit did not', { ...exited(137), restarts: 3 }, 'crashed', 'CrashLoop'],
    ['of a job that ended well is done', { ...exited(0), job: true, started: 1 }, 'completed', null],
    ['of a job that did not has failed', { ...exited(2), job: true }, 'failed', 'JobFailed'],
    ['of a job that ran out of memory says so', { ...exited(137), job: true, memory: 2 ** 24 }, 'failed', 'OOMKilled'],
  ])('%s', (_title, given, phase, reason) => {
    expect(stateOf(aContainer(given), DEFAULT_DOCKER_TIMINGS)).toMatchObject({ phase, reason });
  });
});

describe('to be done', () => {
  async function planFor(given: Given, spec: Partial<WorkloadSpec> = {}, retry = false) {
    const manifest = await (await aDeployment(aScript('', spec))).manifest();
    const found = manifest.containers.map((rendered) => aContainer(given, rendered));
    return planOf(found, manifest, { timing: DEFAULT_DOCKER_TIMINGS, retry }).map((step) => step.do);
  }

  test.each<[string, Given, Partial<WorkloadSpec>, string[]]>([
    ['is nothing for what runs', {}, {}, []],
    ['is nothing for what has its GPU', { devices: [{ Driver: 'cdi' }] }, { gpu_count: 1 }, []],
    ['is to end what runs without its GPU', {}, { gpu_count: 1 }, ['refuse']],
    ['is to make anew what its engine could not remove', { Status: 'dead', Running: false }, {}, ['make']],
    ['is to start what was stopped', exited(0), {}, ['start']],
    ['is nothing for what has crashed', { ...exited(1), restarts: 3 }, {}, []],
  ])('%s', async (_title, given, spec, steps) => {
    expect(await planFor(given, spec)).toEqual(steps);
  });

  test('is to start what has crashed when its wait is over, unless the engine does', async () => {
    expect(await planFor({ ...exited(1), restarts: 3 }, {}, true)).toEqual(['start']);
    expect(await planFor({ ...exited(1), Restarting: true }, {}, true)).toEqual([]);
  });
});

test('what its engine is about to start again is not up: it waits for no turn to be made anew', async () => {
  const it = await aDeployment(aScript(''), { replicas: 2 });
  const before = await it.manifest();
  const found = before.containers.map((rendered, at) =>
    aContainer({ ...exited(1), Running: true, Restarting: at > 0 }, rendered),
  );
  const manifest = await it.manifest({ generation: 8, restarted_at: '2026-01-01T00:00:00Z' });
  const steps = planOf(found, manifest, { timing: DEFAULT_DOCKER_TIMINGS, retry: false });
  expect(steps).toMatchObject([{ do: 'make', rendered: { ordinal: 1 } }]);
});

describe('a port is reached', () => {
  const at = async (HostIp: string, endpoint: string) => {
    const it = await aDeployment(aScript('', { ports: [{ containerPort: 53, protocol: 'udp' }] }));
    const { containers } = await it.manifest();
    const bound = containers.map((container) => {
      const PortBindings = { '53/udp': [{ HostIp, HostPort: '4000' }] };
      const HostConfig = { ...container.body.HostConfig, PortBindings };
      return { ...container, body: { ...container.body, HostConfig } };
    });
    return endpointsOf(bound, endpoint);
  };

  test.each([
    ['', 'tcp://machine.example.org:2376', 'machine.example.org:4000'],
    ['0.0.0.0', 'tcp://10.1.2.3:2376', '10.1.2.3:4000'],
    ['::', 'tcp://[2001:db8::1]:2376', '[2001:db8::1]:4000'],
    ['127.0.0.1', 'tcp://10.1.2.3:2376', '127.0.0.1:4000'],
    ['::1', 'unix:///run/docker.sock', '[::1]:4000'],
    ['', 'unix:///run/docker.sock', 'localhost:4000'],
  ])('bound to "%s" of %s at %s', async (ip, endpoint, address) => {
    expect(await at(ip, endpoint)).toEqual([{ container_port: 53, protocol: 'UDP', address }]);
  });
});
