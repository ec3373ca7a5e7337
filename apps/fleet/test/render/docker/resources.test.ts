import type { Host } from '../../../src/render/allocation.ts';
import { CAPABILITIES } from '../../../src/render/capabilities.ts';
import { renderDocker } from '../../../src/render/docker.ts';
import { withoutValues } from '../../../src/render/secrets.ts';
import { aRendering, aSpec } from '../renderings.ts';
import { bodyOf, render, web } from './helpers.ts';

test.each([
  [3, [], true],
  [2, [], undefined],
  [3, [{ name: 'SVC_INIT', value: 'false' }], undefined],
  [3, [{ name: 'SVC_INIT', value: 'true' }], true],
])('with the defaults %i and the variables %p, Init of a container is %p', (defaults, env, expected) => {
  const [container] = renderDocker(aRendering(aSpec(), { defaults, env }), {
    engine: 'docker',
    gpus: [],
    ports: [],
  }).containers;
  expect(container?.body.HostConfig.Init).toBe(expected);
  expect(container?.body.Env.join()).not.toContain('SVC_INIT');
});

test('the time to stop is that of the workload', () => {
  expect(bodyOf({}).StopTimeout).toBe(30);
  expect(bodyOf({ stop_grace_seconds: 300 }).StopTimeout).toBe(300);
});

test('an SCTP port is exposed and bound like other ports', () => {
  const body = bodyOf({ ports: [{ containerPort: 38_412, protocol: 'SCTP' }] });
  expect(body.ExposedPorts).toEqual({ '38412/sctp': {} });
  expect(body.HostConfig.PortBindings).toEqual({ '38412/sctp': [{ HostPort: '30000' }] });
});

test('a port is bound to the addresses that were allocated with it', () => {
  const ports = [
    [{ containerPort: 80, protocol: 'TCP', hostPort: 40_000, addresses: ['10.0.0.5', '10.0.0.6'] }],
  ] as const;
  expect(bodyOf(web, { host: { ports } }).HostConfig.PortBindings).toEqual({
    '80/tcp': [
      { HostIp: '10.0.0.5', HostPort: '40000' },
      { HostIp: '10.0.0.6', HostPort: '40000' },
    ],
  });
});

test('a port without an allocated host port is not rendered, because the engine would choose one', () => {
  expect(() => render(web, { host: { ports: [[]] } })).toThrow('no host port is allocated to 80/tcp');
});

test('a container without its allocated GPUs is not rendered', () => {
  expect(() => render({ gpu_count: 2 }, { host: { gpus: [['0']] } })).toThrow('1 GPUs are allocated to ordinal 0');
  expect(() => render({ vram_request: '8Gi' }, { host: { gpus: [[]] } })).toThrow('0 GPUs are allocated to ordinal 0');
});

test('people see a deployment and its missing allocations before anything is allocated', () => {
  const rendering = withoutValues(aRendering(aSpec({ ...web, gpu_count: 2 })));
  const seen = renderDocker(rendering, { engine: 'podman', gpus: [['5']], ports: [] }).containers[0]?.body.HostConfig;
  expect(seen?.PortBindings).toEqual({ '80/tcp': [{ HostPort: 'unallocated' }] });
  expect(seen?.DeviceRequests?.[0]?.DeviceIDs).toEqual(['nvidia.com/gpu=5', 'nvidia.com/gpu=unallocated']);
});

test('people see a deployment that requests more GPUs than were allocated', () => {
  const rendering = withoutValues(aRendering(aSpec({ gpu_count: 1 })));
  const seen = renderDocker(rendering, { engine: 'docker', gpus: [['5', '6']], ports: [] });
  expect(seen.containers[0]?.body.HostConfig.DeviceRequests?.[0]?.DeviceIDs).toEqual(['5']);
});

test.each<[string, Host['engine'], string[], object[]]>([
  [
    'by capability on Docker',
    'docker',
    ['0', 'GPU-8d1c'],
    [{ Driver: '', DeviceIDs: ['0', 'GPU-8d1c'], Capabilities: [['gpu']] }],
  ],
  [
    'as CDI devices on Podman',
    'podman',
    ['0', 'GPU-8d1c'],
    [{ Driver: 'cdi', DeviceIDs: ['nvidia.com/gpu=0', 'nvidia.com/gpu=GPU-8d1c'] }],
  ],
  [
    'by their names if they are CDI devices',
    'docker',
    ['amd.com/gpu=1'],
    [{ Driver: 'cdi', DeviceIDs: ['amd.com/gpu=1'] }],
  ],
])('GPUs are requested %s', (_, engine, gpus, expected) => {
  const body = bodyOf({ gpu_count: gpus.length }, { host: { engine, gpus: [gpus] } });
  expect(body.HostConfig.DeviceRequests).toEqual(expected);
});

test.each(['/dev/sda', '/dev/x=y', 'a=/dev/sda', '0,1', ''])(
  '“%s” is rejected as a GPU, since it could name another device',
  (id) => {
    expect(() => render({ gpu_count: 1 }, { host: { engine: 'podman', gpus: [[id]] } })).toThrow('invalid GPU id');
  },
);

test.each<[string, string, string, object]>([
  ['the requested CPU and memory', '1500m', '8Gi', { NanoCpus: 1_500_000_000, Memory: 8 * 1024 ** 3 }],
  ['at least the minimum of Docker', '1m', '1', { NanoCpus: 10_000_000, Memory: 6 * 1024 ** 2 }],
  [
    'at most the largest safe integer',
    '1e60',
    '1e60',
    { NanoCpus: Number.MAX_SAFE_INTEGER, Memory: Number.MAX_SAFE_INTEGER },
  ],
])('a container gets %s', (_, cpu_request, memory_request, expected) => {
  const { HostConfig } = bodyOf({ cpu_request, memory_request });
  expect(HostConfig).toMatchObject(expected);
  expect(HostConfig.MemoryReservation).toBe(HostConfig.Memory);
});

test('resources that are not requested are not reserved', () => {
  const { HostConfig } = bodyOf({ cpu_request: '0', memory_request: '' });
  expect(['NanoCpus', 'MemoryReservation'].filter((member) => member in HostConfig)).toEqual([]);
});

describe('defaults where a workload requests nothing', () => {
  test('limit memory without a reservation, and processes', () => {
    const config = bodyOf({}).HostConfig;
    expect(config).toMatchObject({ Memory: 2 * 2 ** 30, PidsLimit: 4096 });
    expect(config).not.toHaveProperty('MemoryReservation');
    expect(bodyOf({ memory_request: '4Gi' }).HostConfig).toMatchObject({
      Memory: 4 * 2 ** 30,
      MemoryReservation: 4 * 2 ** 30,
    });
  });

  test('can be switched off', () => {
    const config = renderDocker(aRendering(aSpec({}), { defaultLimits: { memory_bytes: null, processes: null } }), {
      engine: 'docker',
      gpus: [[]],
      ports: [[]],
    }).containers[0]?.body.HostConfig;
    for (const member of ['Memory', 'PidsLimit']) expect(config).not.toHaveProperty(member);
  });

  test('leave a container on Docker the documented capabilities, and remove the others by name on Podman', () => {
    const of = (engine: Host['engine']) => bodyOf({}, { host: { engine } }).HostConfig;
    expect(of('docker')).toMatchObject({ CapDrop: ['ALL'], CapAdd: [...CAPABILITIES] });
    expect(of('podman')).toMatchObject({ CapDrop: ['MKNOD', 'NET_RAW'] });
    expect(of('podman')).not.toHaveProperty('CapAdd');
  });
});

describe('variables that configure the container', () => {
  const env = (name: string, value: string) => ({
    env: [
      { name, value },
      { name: 'OTHER', value: '1' },
    ],
  });

  test('set the size of shared memory, and are not passed to the program', () => {
    const body = bodyOf(env('SVC_SHM_SIZE', '512Mi'));
    expect(body.HostConfig.ShmSize).toBe(512 * 2 ** 20);
    expect(body.Env).toEqual(['OTHER=1', 'NVIDIA_VISIBLE_DEVICES=void']);
  });

  test.each([
    ['tcp:5432', /:1538 0A/],
    ['http:8080/health?x=1', /'http:\/\/127\.0\.0\.1:8080\/health\?x=1'/],
    ['exec:pg_isready -q', /^pg_isready -q$/],
  ])('set the health check %s', (value, script) => {
    const { Healthcheck, Env } = bodyOf(env('SVC_HEALTH_CHECK', value));
    expect(Healthcheck?.Test).toEqual(['CMD-SHELL', expect.stringMatching(script)]);
    expect(Env).toEqual(['OTHER=1', 'NVIDIA_VISIBLE_DEVICES=void']);
  });

  test.each([1, 2, 3])(
    'SVC_HTTP_PORTS configures nothing, so it is a variable of the program with the defaults %i, as before it was reserved',
    (defaults) => {
      const rendering = aRendering(aSpec(env('SVC_HTTP_PORTS', '3000, 8443/https')), { defaults });
      const [container] = renderDocker(rendering, { engine: 'docker', gpus: [[]], ports: [[]] }).containers;
      expect(container?.body.Env).toContain('SVC_HTTP_PORTS=3000, 8443/https');
    },
  );

  test('are ordinary variables of a deployment with the defaults of version 0.1.0', () => {
    const rendering = aRendering(aSpec(env('SVC_SHM_SIZE', '512Mi')), { defaults: 1 });
    const [container] = renderDocker(rendering, { engine: 'docker', gpus: [[]], ports: [[]] }).containers;
    expect(container?.body.Env).toContain('SVC_SHM_SIZE=512Mi');
    expect(container?.body.HostConfig).not.toHaveProperty('ShmSize');
  });
});
