import { place } from '../../src/placement/place.ts';
import { against, aHost, aRequest, assess, GiB, gpus } from './world.ts';

const used = (cpu_millis: number, gibibytes: number, ...ids: string[]) => ({
  cpu_millis,
  memory_bytes: gibibytes * GiB,
  gpus: ids,
});

test('a host with too few CPUs available is rejected with the available CPUs', () => {
  const host = aHost({ allocated: used(6500, 0) });
  expect(against(aRequest({ asks: { cpu_millis: 4000 } }), host)).toEqual(['needs 4 CPUs, 1.5 of 8 are free']);
  expect(against(aRequest({ asks: { cpu_millis: 1500 } }), host)).toEqual([]);
  expect(against(aRequest({ asks: { cpu_millis: 1501 } }), host)).toEqual(['needs 1.501 CPUs, 1.5 of 8 are free']);
});

test('a host with too little memory available is rejected with the available memory', () => {
  const host = aHost({ allocated: used(0, 14.5) });
  expect(against(aRequest({ asks: { memory_bytes: 4 * GiB } }), host)).toEqual([
    'needs 4 GiB of memory, 1.5 of 16 GiB is free',
  ]);
  expect(against(aRequest({ asks: { memory_bytes: 1.5 * GiB } }), host)).toEqual([]);
});

test('the reason shows that one byte of memory is missing', () => {
  const host = aHost({ allocated: used(0, 15) });
  expect(against(aRequest({ asks: { memory_bytes: GiB + 1 } }), host)).toEqual([
    'needs 1.01 GiB of memory, 1 of 16 GiB is free',
  ]);
});

test('memory is shown in binary units, the available part in its own unit', () => {
  const host = aHost({ allocated: used(0, 15.5) });
  expect(against(aRequest({ asks: { memory_bytes: 1.5 * GiB } }), host)).toEqual([
    'needs 1.5 GiB of memory, 512 MiB of 16 GiB is free',
  ]);
  expect(against(aRequest({ asks: { memory_bytes: 512 } }), aHost({ allocated: used(0, 16) }))).toEqual([
    'needs 512 bytes of memory, 0 of 16 GiB is free',
  ]);
});

test('a host must have the capacity for all replicas', () => {
  const request = aRequest({ replicas: 3, asks: { cpu_millis: 3000, memory_bytes: 6 * GiB } });
  expect(against(request, aHost())).toEqual([
    'needs 9 CPUs (3 replicas with 3 each), 8 of 8 are free',
    'needs 18 GiB of memory (3 replicas with 6 GiB each), 16 of 16 GiB is free',
  ]);
});

test('a request without requirements fits on a fully allocated host', () => {
  expect(against(aRequest(), aHost({ allocated: used(8000, 16) }))).toEqual([]);
});

test('a host with more resources allocated than its capacity has none available', () => {
  const host = aHost({ allocated: used(9000, 20) });
  expect(against(aRequest(), host)).toEqual([]);
  expect(against(aRequest({ asks: { cpu_millis: 1000 } }), host)).toEqual(['needs 1 CPU, 0 of 8 are free']);
});

test('a host that was never checked does not fit', () => {
  const host = aHost({ id: 'h1', reachability: 'unknown', capacity: null });
  expect(against(aRequest(), host)).toEqual(['has not been checked yet', 'its CPU and memory are not known yet']);
});

test('an unreachable host does not fit', () => {
  expect(against(aRequest(), aHost({ id: 'h1', reachability: 'unreachable' }))).toEqual(['is unreachable']);
});

test('a host must have every required network type', () => {
  const request = aRequest({ required_network_types: ['mesh', 'public', 'lab'] });
  expect(against(request, aHost({ network_types: ['public'] }))).toEqual([
    'has no network type mesh, lab (has: public)',
  ]);
  expect(against(request, aHost())).toEqual(['has no network type mesh, public, lab (has none)']);
  expect(against(request, aHost({ network_types: ['lab', 'mesh', 'public'] }))).toEqual([]);
});

test('all reasons against a host are reported together', () => {
  const host = aHost({
    id: 'h1',
    reachability: 'unreachable',
    schedulable: false,
    labels: { zone: 'us' },
    taints: [{ key: 'gpu', value: 'true', effect: 'NoSchedule' }],
    allocated: used(8000, 16, 'a'),
    gpus: gpus(24),
  });
  const request = aRequest({
    asks: { cpu_millis: 1000, memory_bytes: GiB, gpu_count: 1 },
    required_network_types: ['mesh'],
    node_selector: { zone: 'eu' },
    volumes: [{ mount: 'mount', name: 'data', access_mode: 'ReadWriteOnce', boundTo: { kind: 'host', id: 'h2' } }],
  });
  expect(against(request, host)).toEqual([
    'is unreachable',
    'has no network type mesh (has none)',
    'needs 1 CPU, 0 of 8 are free',
    'needs 1 GiB of memory, 0 of 16 GiB is free',
    'needs 1 GPU, 0 of 1 are free',
    'does not accept new deployments (schedulable is false)',
    'label zone is "us"; the node selector requires "eu"',
    'taint gpu=true:NoSchedule is not tolerated',
    'volume data is bound to host h2',
  ]);
});

test('a host that fits is reported with the resources that would remain', () => {
  const request = aRequest({ replicas: 2, asks: { cpu_millis: 1000, memory_bytes: 3 * GiB, gpu_count: 1 } });
  expect(assess(request, aHost({ gpus: gpus(24, 24, 24), allocated: used(500, 1, 'b') })).reasons).toEqual([
    'fits: leaves 5.5 of 8 CPUs, 9 of 16 GiB of memory and 0 of 3 GPUs free',
    'chosen: nothing else fits',
  ]);
});

test('a request with no replicas needs no capacity and is assigned no GPU', () => {
  const request = aRequest({ replicas: 0, asks: { cpu_millis: 9000, gpu_count: 1 } });
  expect(place(request, [aHost()]).chosen).toEqual({ kind: 'host', id: 'id-of-host', gpus: [] });
});

test('a deployment still fits on its own host if its own allocation is not counted', () => {
  const request = aRequest({ asks: { memory_bytes: 10 * GiB } });
  expect(against(request, aHost({ allocated: used(0, 10) }))).not.toEqual([]);
  expect(against(request, aHost({ allocated: used(0, 0) }))).toEqual([]);
});
