import type { Candidate, PlacementRequest } from '../../src/placement/candidates.ts';
import { place } from '../../src/placement/place.ts';
import { aCluster, aHost, aRequest, GiB, gpus } from './world.ts';

const lastReasons = (request: PlacementRequest, candidates: readonly Candidate[]) =>
  place(request, candidates).assessments.map(({ name, reasons }) => `${name}: ${reasons.at(-1)}`);

const sized = (name: string, cpus: number, gibibytes: number) =>
  aHost({ name, capacity: { cpu_millis: cpus * 1000, memory_bytes: gibibytes * GiB } });

test('a deployment without GPUs is placed on a host without GPUs', () => {
  const candidates = [aHost({ name: 'a', gpus: gpus(24) }), sized('b', 64, 512)];
  expect(lastReasons(aRequest({ asks: { cpu_millis: 1000 } }), candidates)).toEqual([
    'b: chosen before a: it has no GPUs, which keeps GPUs free for workloads that need them',
    'a: b is chosen: it has no GPUs, which keeps GPUs free for workloads that need them',
  ]);
});

test('a deployment with GPUs is placed where the fewest GPUs remain', () => {
  const candidates = [aHost({ name: 'a', gpus: gpus(24, 24, 24) }), aHost({ name: 'b', gpus: gpus(24) })];
  expect(lastReasons(aRequest({ asks: { gpu_count: 1 } }), candidates)).toEqual([
    'b: chosen before a: it leaves fewer GPUs unused (0 against 2)',
    'a: b is chosen: it leaves fewer GPUs unused (0 against 2)',
  ]);
});

test('after GPUs, the candidate with the least memory left is preferred, then the fewest CPUs, then the first name', () => {
  const request = aRequest({ asks: { cpu_millis: 1000, memory_bytes: GiB } });
  const candidates = [sized('d', 2, 8), sized('c', 4, 4), sized('b', 8, 4), sized('a', 8, 4)];
  expect(lastReasons(request, candidates)).toEqual([
    'c: chosen before a: it leaves fewer CPUs unused (3 against 7)',
    'a: c is chosen: it leaves fewer CPUs unused (3 against 7)',
    'b: c is chosen: it leaves fewer CPUs unused (3 against 7)',
    'd: c is chosen: it leaves less memory unused (3 GiB against 7 GiB)',
  ]);
  expect(lastReasons(request, candidates.slice(2))).toEqual([
    'a: chosen before b: it fits equally well and is first by name',
    'b: a is chosen: it fits equally well and is first by name',
  ]);
});

test('the reason shows a difference in memory of one byte', () => {
  const a = sized('a', 8, 4);
  const b = sized('b', 8, 4);
  const larger = { ...a, capacity: { cpu_millis: 8000, memory_bytes: 4 * GiB + 1 } };
  expect(lastReasons(aRequest(), [larger, b])[0]).toBe(
    'b: chosen before a: it leaves less memory unused (4 GiB against 4.01 GiB)',
  );
});

test('a candidate without untolerated PreferNoSchedule taints is preferred to any other', () => {
  const slow = { ...sized('a', 1, 1), taints: [{ key: 'slow', effect: 'PreferNoSchedule' as const }] };
  expect(lastReasons(aRequest(), [slow, aHost({ name: 'b', gpus: gpus(24) })])).toEqual([
    'b: chosen before a: it has fewer PreferNoSchedule taints that are not tolerated (0 against 1)',
    'a: b is chosen: it has fewer PreferNoSchedule taints that are not tolerated (0 against 1)',
  ]);
});

test('a candidate with known GPU memory is preferred to one with unknown GPU memory', () => {
  const request = aRequest({ asks: { gpu_count: 1, vram_bytes: 24 * GiB } });
  const cluster = aCluster({ name: 'a', allocatable: { cpu_millis: 1, memory_bytes: 1, gpu_count: 1 } });
  expect(lastReasons(request, [cluster, aHost({ name: 'b', gpus: gpus(24, 24, 24) })])[0]).toBe(
    'b: chosen before a: it has GPUs whose memory is known',
  );
});

test('the name decides between equal candidates, and the id between equal names', () => {
  const a = aHost({ id: '9', name: 'a' });
  const b = aHost({ id: '1', name: 'b' });
  expect(place(aRequest(), [b, a]).chosen?.id).toBe('9');
  const one = aHost({ id: '1' });
  const two = aCluster({ id: '2', name: 'host' });
  expect(place(aRequest(), [two, one]).chosen?.id).toBe('1');
});

test('candidates that fit are listed first, from best to worst, then the others by name', () => {
  const candidates = [
    sized('d', 1, 1),
    aHost({ name: 'z', schedulable: false }),
    sized('c', 8, 32),
    aHost({ name: 'b', reachability: 'unreachable' }),
    sized('e', 8, 16),
  ];
  const { assessments } = place(aRequest({ asks: { memory_bytes: 2 * GiB } }), candidates);
  expect(assessments.map(({ name, fits }) => `${name} ${fits}`)).toEqual([
    'e true',
    'c true',
    'b false',
    'd false',
    'z false',
  ]);
  expect(assessments.map(({ score }) => score !== undefined)).toEqual([true, true, false, false, false]);
});

test('a request with a target is assessed for this target only', () => {
  const a = aHost({ name: 'a' });
  const b = sized('b', 64, 512);
  const target = { kind: 'host' as const, id: b.id };
  expect(lastReasons(aRequest({ target }), [a, b])).toEqual(['b: chosen: it was requested']);
  expect(place(aRequest({ target, asks: { cpu_millis: 65_000 } }), [a, b])).toMatchObject({
    chosen: undefined,
    assessments: [{ name: 'b', fits: false, reasons: ['needs 65 CPUs, 64 of 64 are free'] }],
  });
});

test('a target that does not exist is reported as missing', () => {
  const target = { kind: 'cluster' as const, id: 'gone' };
  const message = 'there is no cluster with this id';
  const remedies = [{ object: 'request', field: 'target', values: [] }];
  expect(place(aRequest({ target }), [aHost({ id: 'gone' })])).toEqual({
    chosen: undefined,
    assessments: [
      {
        kind: 'cluster',
        id: 'gone',
        name: 'gone',
        fits: false,
        reasons: [message],
        obstacles: [{ code: 'unknown_target', message, remedies }],
      },
    ],
  });
});

test('nothing is chosen without candidates', () => {
  expect(place(aRequest(), [])).toEqual({ chosen: undefined, assessments: [] });
});
