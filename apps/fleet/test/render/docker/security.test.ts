import type { WorkloadSpec } from '@svc/contract/fleet';
import { CAPABILITIES } from '../../../src/render/capabilities.ts';
import { renderDocker } from '../../../src/render/docker.ts';
import { aHost, aRendering, aSpec } from '../renderings.ts';

const ENGINES = ['docker', 'podman'] as const;

function manifestOn(engine: (typeof ENGINES)[number], spec: Partial<WorkloadSpec>) {
  const rendering = aRendering(aSpec(spec));
  const { containers, needsUserOfImage = false } = renderDocker(rendering, aHost(rendering, engine));
  if (!containers[0]) throw new Error('no container');
  return { body: containers[0].body, needsUserOfImage };
}

describe.each(ENGINES)('on %s', (engine) => {
  test('a restricted container has no capabilities, and gains no privileges', () => {
    const { HostConfig } = manifestOn(engine, { security_profile: 'restricted' }).body;
    expect(HostConfig).toMatchObject({ CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'] });
    expect(HostConfig).not.toHaveProperty('CapAdd');
  });

  test('the image of a restricted container must state a user, unless the workload does', () => {
    const needs = (spec: Partial<WorkloadSpec>) => manifestOn(engine, spec).needsUserOfImage;
    expect(needs({ security_profile: 'restricted' })).toBe(true);
    expect(needs({ security_profile: 'restricted', run_as: '1000' })).toBe(false);
    expect(needs({})).toBe(false);
  });

  test('a container runs as the user of the workload, or as that of the image', () => {
    expect(manifestOn(engine, { run_as: '1000:2000' }).body.User).toBe('1000:2000');
    expect(manifestOn(engine, {}).body).not.toHaveProperty('User');
  });
});

test('a container with the profile baseline has the documented capabilities', () => {
  expect(manifestOn('docker', {}).body.HostConfig).toMatchObject({ CapDrop: ['ALL'], CapAdd: CAPABILITIES });
  expect(manifestOn('podman', {}).body.HostConfig).toMatchObject({ CapDrop: ['MKNOD', 'NET_RAW'] });
});

const GIB = 2 ** 30;

test.each<[string, Partial<WorkloadSpec>, object]>([
  [
    'are the limits of the container, beside its requests',
    { cpu_request: '500m', cpu_limit: '2', memory_request: '1Gi', memory_limit: '2Gi' },
    { NanoCpus: 2e9, Memory: 2 * GIB, MemoryReservation: GIB },
  ],
  ['reserve nothing without requests', { cpu_limit: '1', memory_limit: '1Gi' }, { NanoCpus: 1e9, Memory: GIB }],
  [
    'are the requests without limits',
    { cpu_request: '1', memory_request: '1Gi' },
    { NanoCpus: 1e9, Memory: GIB, MemoryReservation: GIB },
  ],
])('the limits of a workload %s', (_, spec, expected) => {
  const { NanoCpus, Memory, MemoryReservation } = manifestOn('docker', spec).body.HostConfig;
  expect({ NanoCpus, Memory, ...(MemoryReservation !== undefined && { MemoryReservation }) }).toEqual(expected);
});

test.each([
  [0, 1800],
  [90, 90],
])('with the start period %i, failures of the health check do not count for %i seconds', (given, seconds) => {
  const env = [{ name: 'SVC_HEALTH_CHECK', value: 'tcp:5432' }];
  const { Healthcheck } = manifestOn('docker', { env, start_period_seconds: given }).body;
  expect(Healthcheck?.StartPeriod).toBe(seconds * 1e9);
});
