import type { Candidate } from '../../src/placement/candidates.ts';
import { place } from '../../src/placement/place.ts';
import type { Wish } from '../../src/placement/requirements.ts';
import { aCluster, aHost, aWish, GiB, gpus } from './world.ts';

const lastWords = (wish: Wish, candidates: readonly Candidate[]) =>
  place(wish, candidates).judged.map(({ name, reasons }) => `${name}: ${reasons.at(-1)}`);

const sized = (name: string, cpus: number, gibibytes: number) =>
  aHost({ name, capacity: { cpu_millis: cpus * 1000, memory_bytes: gibibytes * GiB } });

test('what needs no GPU stays off machines that have some', () => {
  const candidates = [aHost({ name: 'a', gpus: gpus(24) }), sized('b', 64, 512)];
  expect(lastWords(aWish({ asks: { cpu_millis: 1000 } }), candidates)).toEqual([
    'b: chosen before a: it has no GPUs, so that those with GPUs stay free for what needs them',
    'a: b is chosen: it has no GPUs, so that those with GPUs stay free for what needs them',
  ]);
});

test('what needs GPUs goes where the fewest are left', () => {
  const candidates = [aHost({ name: 'a', gpus: gpus(24, 24, 24) }), aHost({ name: 'b', gpus: gpus(24) })];
  expect(lastWords(aWish({ asks: { gpu_count: 1 } }), candidates)).toEqual([
    'b: chosen before a: it leaves fewer GPUs unused (0 against 2)',
    'a: b is chosen: it leaves fewer GPUs unused (0 against 2)',
  ]);
});

test('then the tightest fit in memory wins, then in CPU, then the name', () => {
  const wish = aWish({ asks: { cpu_millis: 1000, memory_bytes: GiB } });
  const candidates = [sized('d', 2, 8), sized('c', 4, 4), sized('b', 8, 4), sized('a', 8, 4)];
  expect(lastWords(wish, candidates)).toEqual([
    'c: chosen before a: it leaves fewer CPUs unused (3 against 7)',
    'a: c is chosen: it leaves fewer CPUs unused (3 against 7)',
    'b: c is chosen: it leaves fewer CPUs unused (3 against 7)',
    'd: c is chosen: it leaves less memory unused (3 GiB against 7 GiB)',
  ]);
  expect(lastWords(wish, candidates.slice(2))).toEqual([
    'a: chosen before b: it fits as well and comes first by name',
    'b: a is chosen: it fits as well and comes first by name',
  ]);
});

test('memory that differs by a byte is shown to differ', () => {
  const [a, b] = [sized('a', 8, 4), sized('b', 8, 4)];
  const larger = { ...a, capacity: { cpu_millis: 8000, memory_bytes: 4 * GiB + 1 } };
  expect(lastWords(aWish(), [larger, b])[0]).toBe(
    'b: chosen before a: it leaves less memory unused (4 GiB against 4.01 GiB)',
  );
});

test('an operator who asked to stay away is heard before all else', () => {
  const slow = { ...sized('a', 1, 1), taints: [{ key: 'slow', effect: 'PreferNoSchedule' as const }] };
  expect(lastWords(aWish(), [slow, aHost({ name: 'b', gpus: gpus(24) })])).toEqual([
    'b: chosen before a: it has fewer taints that ask to stay away (0 against 1)',
    'a: b is chosen: it has fewer taints that ask to stay away (0 against 1)',
  ]);
});

test('GPU memory that is known is preferred to GPU memory that may be', () => {
  const wish = aWish({ asks: { gpu_count: 1, vram_bytes: 24 * GiB } });
  const cluster = aCluster({ name: 'a', allocatable: { cpu_millis: 1, memory_bytes: 1, gpu_count: 1 } });
  expect(lastWords(wish, [cluster, aHost({ name: 'b', gpus: gpus(24, 24, 24) })])[0]).toBe(
    'b: chosen before a: it has GPUs whose memory is known',
  );
});

test('of two that fit as well the name decides, and of two with one name the id', () => {
  const [a, b] = [aHost({ id: '9', name: 'a' }), aHost({ id: '1', name: 'b' })];
  expect(place(aWish(), [b, a]).chosen?.id).toBe('9');
  const [one, two] = [aHost({ id: '1' }), aCluster({ id: '2', name: 'host' })];
  expect(place(aWish(), [two, one]).chosen?.id).toBe('1');
});

test('what fits stands first, from best to worst, then what does not, by name', () => {
  const candidates = [
    sized('d', 1, 1),
    aHost({ name: 'z', schedulable: false }),
    sized('c', 8, 32),
    aHost({ name: 'b', reachability: 'unreachable' }),
    sized('e', 8, 16),
  ];
  const { judged } = place(aWish({ asks: { memory_bytes: 2 * GiB } }), candidates);
  expect(judged.map(({ name, fits }) => `${name} ${fits}`)).toEqual([
    'e true',
    'c true',
    'b false',
    'd false',
    'z false',
  ]);
  expect(judged.map(({ score }) => score !== undefined)).toEqual([true, true, false, false, false]);
});

test('a wish with a target is held against that one only', () => {
  const [a, b] = [aHost({ name: 'a' }), sized('b', 64, 512)];
  const target = { kind: 'host' as const, id: b.id };
  expect(lastWords(aWish({ target }), [a, b])).toEqual(['b: chosen: it was asked for']);
  expect(place(aWish({ target, asks: { cpu_millis: 65_000 } }), [a, b])).toMatchObject({
    chosen: undefined,
    judged: [{ name: 'b', fits: false, reasons: ['needs 65 CPUs, 64 of 64 are free'] }],
  });
});

test('a target that is not there is said to be missing', () => {
  const target = { kind: 'cluster' as const, id: 'gone' };
  expect(place(aWish({ target }), [aHost({ id: 'gone' })])).toEqual({
    chosen: undefined,
    judged: [{ kind: 'cluster', id: 'gone', name: 'gone', fits: false, reasons: ['there is no cluster with this id'] }],
  });
});

test('without any candidate nothing is chosen', () => {
  expect(place(aWish(), [])).toEqual({ chosen: undefined, judged: [] });
});
