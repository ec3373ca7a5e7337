import { place } from '../../src/placement/place.ts';
import { against, aHost, aWish, GiB, gpus } from './world.ts';

const withGpus = (sizes: number[], ...used: string[]) =>
  aHost({ gpus: gpus(...sizes), allocated: { cpu_millis: 0, memory_bytes: 0, gpus: used } });

test('too few free GPUs are named with how many there are', () => {
  expect(against(aWish({ asks: { gpu_count: 2 } }), withGpus([24, 24], 'b'))).toEqual(['needs 2 GPUs, 1 of 2 is free']);
  expect(against(aWish({ asks: { gpu_count: 1 } }), aHost())).toEqual(['needs 1 GPU, it has none']);
});

test('each GPU must be large enough by itself', () => {
  const wish = aWish({ asks: { gpu_count: 2, vram_bytes: 24 * GiB } });
  expect(against(wish, withGpus([24, 16, 48, 80], 'c', 'd'))).toEqual([
    'needs 2 GPUs with at least 24 GiB each, 1 of 4 is free and large enough (2 in use, 1 too small)',
  ]);
  expect(against(wish, withGpus([24, 16, 48, 80], 'c'))).toEqual([]);
});

test('replicas share no GPU', () => {
  const wish = aWish({ replicas: 3, asks: { gpu_count: 2 } });
  expect(against(wish, withGpus([8, 8, 8, 8, 8]))).toEqual(['needs 6 GPUs (3 replicas with 2 each), 5 of 5 are free']);
  expect(place(wish, [withGpus([8, 8, 8, 8, 8, 8])]).chosen?.gpus).toEqual([
    ['a', 'b'],
    ['c', 'd'],
    ['e', 'f'],
  ]);
});

test('the smallest that are large enough are taken, then by id', () => {
  const wish = aWish({ replicas: 2, asks: { gpu_count: 1, vram_bytes: 16 * GiB } });
  const host = withGpus([80, 24, 8, 16, 24], 'd');
  expect(place(wish, [host]).chosen?.gpus).toEqual([['b'], ['e']]);
  expect(place(wish, [{ ...host, gpus: host.gpus.toReversed() }]).chosen?.gpus).toEqual([['b'], ['e']]);
});

test('replicas that need no GPU get none', () => {
  expect(place(aWish({ replicas: 2 }), [withGpus([24])]).chosen?.gpus).toEqual([[], []]);
});

test('a GPU that is allocated and no longer there takes no other away', () => {
  expect(against(aWish({ asks: { gpu_count: 1 } }), withGpus([24], 'gone'))).toEqual([]);
});
