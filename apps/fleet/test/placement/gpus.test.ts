import { place } from '../../src/placement/place.ts';
import { against, aHost, aRequest, GiB, gpus } from './world.ts';

const withGpus = (sizes: number[], ...used: string[]) =>
  aHost({ gpus: gpus(...sizes), allocated: { cpu_millis: 0, memory_bytes: 0, gpus: used } });

test('a host with too few GPUs available is rejected with the number of available GPUs', () => {
  expect(against(aRequest({ asks: { gpu_count: 2 } }), withGpus([24, 24], 'b'))).toEqual([
    'needs 2 GPUs, 1 of 2 is free',
  ]);
  expect(against(aRequest({ asks: { gpu_count: 1 } }), aHost())).toEqual(['needs 1 GPU, it has none']);
});

test('each GPU must have enough memory', () => {
  const request = aRequest({ asks: { gpu_count: 2, vram_bytes: 24 * GiB } });
  expect(against(request, withGpus([24, 16, 48, 80], 'c', 'd'))).toEqual([
    'needs 2 GPUs with at least 24 GiB each, 1 of 4 is free and large enough (2 in use, 1 too small)',
  ]);
  expect(against(request, withGpus([24, 16, 48, 80], 'c'))).toEqual([]);
});

test('replicas do not share GPUs', () => {
  const request = aRequest({ replicas: 3, asks: { gpu_count: 2 } });
  expect(against(request, withGpus([8, 8, 8, 8, 8]))).toEqual([
    'needs 6 GPUs (3 replicas with 2 each), 5 of 5 are free',
  ]);
  expect(place(request, [withGpus([8, 8, 8, 8, 8, 8])]).chosen?.gpus).toEqual([
    ['a', 'b'],
    ['c', 'd'],
    ['e', 'f'],
  ]);
});

test('the smallest GPUs with enough memory are assigned, then the first by id', () => {
  const request = aRequest({ replicas: 2, asks: { gpu_count: 1, vram_bytes: 16 * GiB } });
  const host = withGpus([80, 24, 8, 16, 24], 'd');
  expect(place(request, [host]).chosen?.gpus).toEqual([['b'], ['e']]);
  expect(place(request, [{ ...host, gpus: host.gpus.toReversed() }]).chosen?.gpus).toEqual([['b'], ['e']]);
});

test('replicas without GPU requirements are assigned no GPU', () => {
  expect(place(aRequest({ replicas: 2 }), [withGpus([24])]).chosen?.gpus).toEqual([[], []]);
});

test('an allocated GPU that no longer exists does not reduce the available GPUs', () => {
  expect(against(aRequest({ asks: { gpu_count: 1 } }), withGpus([24], 'gone'))).toEqual([]);
});

test.each([
  ['podman', '5.3.2', ['needs GPUs, which Podman gives to containers from version 5.4 (it has 5.3.2)']],
  ['podman', '4.9.3-rhel', ['needs GPUs, which Podman gives to containers from version 5.4 (it has 4.9.3-rhel)']],
  ['podman', '5.4.0', []],
  ['podman', '10.0.1', []],
  ['podman', null, []],
  ['docker', '18.09.9', ['needs GPUs, which Docker gives to containers from version 19.03 (it has 18.09.9)']],
  ['docker', '19.03.1', []],
  ['docker', 'dev', []],
] as const)('%s %s gives GPUs to containers, or the reason names the required version', (engine, version, reasons) => {
  const host = { ...withGpus([24]), engine, engine_version: version };
  expect(against(aRequest({ asks: { gpu_count: 1 } }), host)).toEqual(reasons);
  expect(against(aRequest(), host)).toEqual([]);
});
