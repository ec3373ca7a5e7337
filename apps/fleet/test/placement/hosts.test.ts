import { place } from '../../src/placement/place.ts';
import { against, aHost, aWish, GiB, gpus, judged } from './world.ts';

const used = (cpu_millis: number, gibibytes: number, ...ids: string[]) => ({
  cpu_millis,
  memory_bytes: gibibytes * GiB,
  gpus: ids,
});

test('too few free CPUs are named with what is there', () => {
  const host = aHost({ allocated: used(6500, 0) });
  expect(against(aWish({ asks: { cpu_millis: 4000 } }), host)).toEqual(['needs 4 CPUs, 1.5 of 8 are free']);
  expect(against(aWish({ asks: { cpu_millis: 1500 } }), host)).toEqual([]);
  expect(against(aWish({ asks: { cpu_millis: 1501 } }), host)).toEqual(['needs 1.501 CPUs, 1.5 of 8 are free']);
});

test('too little free memory is named with what is there', () => {
  const host = aHost({ allocated: used(0, 14.5) });
  expect(against(aWish({ asks: { memory_bytes: 4 * GiB } }), host)).toEqual([
    'needs 4 GiB of memory, 1.5 of 16 GiB is free',
  ]);
  expect(against(aWish({ asks: { memory_bytes: 1.5 * GiB } }), host)).toEqual([]);
});

test('a need that is larger by a byte is shown larger', () => {
  const host = aHost({ allocated: used(0, 15) });
  expect(against(aWish({ asks: { memory_bytes: GiB + 1 } }), host)).toEqual([
    'needs 1.01 GiB of memory, 1 of 16 GiB is free',
  ]);
});

test('memory is shown in the units that people use, the free part in its own', () => {
  const host = aHost({ allocated: used(0, 15.5) });
  expect(against(aWish({ asks: { memory_bytes: 1.5 * GiB } }), host)).toEqual([
    'needs 1.5 GiB of memory, 512 MiB of 16 GiB is free',
  ]);
  expect(against(aWish({ asks: { memory_bytes: 512 } }), aHost({ allocated: used(0, 16) }))).toEqual([
    'needs 512 bytes of memory, 0 of 16 GiB is free',
  ]);
});

test('all replicas are on the one host', () => {
  const wish = aWish({ replicas: 3, asks: { cpu_millis: 3000, memory_bytes: 6 * GiB } });
  expect(against(wish, aHost())).toEqual([
    'needs 9 CPUs (3 replicas with 3 each), 8 of 8 are free',
    'needs 18 GiB of memory (3 replicas with 6 GiB each), 16 of 16 GiB is free',
  ]);
});

test('what asks for nothing fits where nothing is left', () => {
  expect(against(aWish(), aHost({ allocated: used(8000, 16) }))).toEqual([]);
});

test('more allocated than there is leaves nothing, not less', () => {
  const host = aHost({ allocated: used(9000, 20) });
  expect(against(aWish(), host)).toEqual([]);
  expect(against(aWish({ asks: { cpu_millis: 1000 } }), host)).toEqual(['needs 1 CPU, 0 of 8 are free']);
});

test('a host that was never checked is to be checked first', () => {
  const host = aHost({ id: 'h1', reachability: 'unknown', capacity: null });
  expect(against(aWish(), host)).toEqual([
    'was never reached yet',
    'its CPU and memory are not known before it is reached',
  ]);
});

test('an unreachable host takes nothing', () => {
  expect(against(aWish(), aHost({ id: 'h1', reachability: 'unreachable' }))).toEqual(['is unreachable']);
});

test('each network type must be there', () => {
  const wish = aWish({ required_network_types: ['mesh', 'public', 'lab'] });
  expect(against(wish, aHost({ network_types: ['public'] }))).toEqual(['has no network type mesh, lab (has: public)']);
  expect(against(wish, aHost())).toEqual(['has no network type mesh, public, lab (has none)']);
  expect(against(wish, aHost({ network_types: ['lab', 'mesh', 'public'] }))).toEqual([]);
});

test('everything that speaks against a host is said at once', () => {
  const host = aHost({
    id: 'h1',
    reachability: 'unreachable',
    schedulable: false,
    labels: { zone: 'us' },
    taints: [{ key: 'gpu', value: 'true', effect: 'NoSchedule' }],
    allocated: used(8000, 16, 'a'),
    gpus: gpus(24),
  });
  const wish = aWish({
    asks: { cpu_millis: 1000, memory_bytes: GiB, gpu_count: 1 },
    required_network_types: ['mesh'],
    node_selector: { zone: 'eu' },
    volumes: [{ name: 'data', access_mode: 'ReadWriteOnce', boundTo: { kind: 'host', id: 'h2' } }],
  });
  expect(against(wish, host)).toEqual([
    'is unreachable',
    'has no network type mesh (has none)',
    'needs 1 CPU, 0 of 8 are free',
    'needs 1 GiB of memory, 0 of 16 GiB is free',
    'needs 1 GPU, 0 of 1 are free',
    'is closed to new deployments (schedulable is false)',
    'label zone is "us", "eu" is asked for',
    'taint gpu=true:NoSchedule is not tolerated',
    'volume data lives on host h2',
  ]);
});

test('a host that fits says what would be left of it', () => {
  const wish = aWish({ replicas: 2, asks: { cpu_millis: 1000, memory_bytes: 3 * GiB, gpu_count: 1 } });
  expect(judged(wish, aHost({ gpus: gpus(24, 24, 24), allocated: used(500, 1, 'b') })).reasons).toEqual([
    'fits: leaves 5.5 of 8 CPUs, 9 of 16 GiB of memory and 0 of 3 GPUs free',
    'chosen: nothing else fits',
  ]);
});

test('no replicas need no room, and get no GPU', () => {
  const wish = aWish({ replicas: 0, asks: { cpu_millis: 9000, gpu_count: 1 } });
  expect(place(wish, [aHost()]).chosen).toEqual({ kind: 'host', id: 'id-of-host', gpus: [] });
});

test('a deployment still fits where it runs when its own share is left out', () => {
  const wish = aWish({ asks: { memory_bytes: 10 * GiB } });
  expect(against(wish, aHost({ allocated: used(0, 10) }))).not.toEqual([]);
  expect(against(wish, aHost({ allocated: used(0, 0) }))).toEqual([]);
});
