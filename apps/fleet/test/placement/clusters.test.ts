import { place } from '../../src/placement/place.ts';
import { aCluster, against, aNode, aWish, GiB, judged } from './world.ts';

const size = (cpus: number, gibibytes: number, gpu_count = 0) => ({
  cpu_millis: cpus * 1000,
  memory_bytes: gibibytes * GiB,
  gpu_count,
});

test('a cluster must have the sum of all replicas free', () => {
  const wish = aWish({ replicas: 3, asks: size(2, 4, 1) });
  const cluster = aCluster({ allocatable: size(8, 16, 4), allocated: size(3, 8, 2) });
  expect(against(wish, cluster)).toEqual([
    'needs 6 CPUs (3 replicas with 2 each), 5 of 8 are free',
    'needs 12 GiB of memory (3 replicas with 4 GiB each), 8 of 16 GiB is free',
    'needs 3 GPUs (3 replicas with 1 each), 2 of 4 are free',
  ]);
  expect(against(wish, { ...cluster, allocated: size(2, 4, 1) })).toEqual([]);
});

test('a cluster without GPUs says so', () => {
  expect(against(aWish({ asks: { gpu_count: 1 } }), aCluster())).toEqual(['needs 1 GPU, it has none']);
});

test('a cluster that was never checked is to be checked first, and one that is away takes nothing', () => {
  expect(against(aWish({ asks: size(1, 1, 1) }), aCluster({ reachability: 'unknown', allocatable: null }))).toEqual([
    'was never reached yet',
    'its CPU and memory are not known before it is reached',
  ]);
  expect(against(aWish(), aCluster({ reachability: 'unreachable' }))).toEqual(['is unreachable']);
});

test('network types are the cluster’s', () => {
  expect(against(aWish({ required_network_types: ['mesh'] }), aCluster({ network_types: ['public'] }))).toEqual([
    'has no network type mesh (has: public)',
  ]);
});

test('one replica must fit on one node, whatever the sum', () => {
  const cluster = aCluster({ nodes: [aNode({ name: 'one' }), aNode({ name: 'two' })] });
  expect(against(aWish({ asks: size(4, 8) }), cluster)).toEqual([]);
  expect(against(aWish({ asks: size(5, 9) }), cluster)).toEqual([
    'none of 2 nodes can run a replica: 2 with fewer than 5 CPUs, 2 with less than 9 GiB of memory',
  ]);
});

test('what each node lacks is counted, the most common first', () => {
  const cluster = aCluster({
    allocatable: size(16, 32, 2),
    nodes: [
      aNode({ name: 'a', labels: { zone: 'us' }, taints: [{ key: 'gpu', value: 'true', effect: 'NoSchedule' }] }),
      aNode({ name: 'b', schedulable: false, allocatable: size(4, 8, 2), vram_bytes: 16 * GiB }),
      aNode({ name: 'c', labels: { zone: 'eu' }, allocatable: size(1, 1, 0) }),
    ],
  });
  const wish = aWish({ asks: { ...size(2, 2, 1), vram_bytes: 24 * GiB }, node_selector: { zone: 'eu' } });
  expect(against(wish, cluster)).toEqual([
    'none of 3 nodes can run a replica: 2 with fewer than 1 GPU, 2 without label zone=eu, 1 closed (schedulable is ' +
      'false), 1 with GPUs of less than 24 GiB, 1 with fewer than 2 CPUs, 1 with less than 2 GiB of memory, ' +
      '1 with taint gpu=true:NoSchedule that is not tolerated',
  ]);
});

test('one node that can run a replica is enough', () => {
  const bad = aNode({ name: 'a', taints: [{ key: 'gpu', effect: 'NoExecute' }] });
  const wish = aWish({ asks: size(2, 2), node_selector: { zone: 'eu' } });
  const good = aNode({ name: 'b', labels: { zone: 'eu' } });
  expect(against(wish, aCluster({ nodes: [bad] }))).not.toEqual([]);
  expect(against(wish, aCluster({ nodes: [bad, good] }))).toEqual([]);
  expect(against({ ...wish, tolerations: [{ key: 'gpu' }] }, aCluster({ nodes: [bad] }))).toEqual([
    'none of 1 node can run a replica: 1 without label zone=eu',
  ]);
});

test('the nodes that can run a replica must hold them all', () => {
  const nodes = [aNode({ name: 'a' }), aNode({ name: 'b' }), aNode({ name: 'c', schedulable: false })];
  const cluster = aCluster({ allocatable: size(100, 100), nodes });
  const wish = aWish({ replicas: 4, asks: size(1.5, 1) });
  expect(against(wish, cluster)).toEqual([]);
  expect(against({ ...wish, replicas: 5 }, cluster)).toEqual([
    'needs room for 5 replicas, the 2 nodes that can run one hold 4 even when nothing else runs there',
  ]);
  expect(against({ ...wish, replicas: 3 }, { ...cluster, nodes: nodes.slice(1) })).toEqual([
    'needs room for 3 replicas, the only node that can run one holds 2 even when nothing else runs there',
  ]);
});

test('nodes that are not known refuse nothing', () => {
  expect(against(aWish({ asks: size(8, 16), node_selector: { zone: 'eu' } }), aCluster())).toEqual([]);
});

test('GPU memory that nobody knows is let through, and said', () => {
  const asks = { gpu_count: 1, vram_bytes: 24 * GiB };
  const node = aNode({ allocatable: size(4, 8, 1) });
  const cluster = aCluster({ allocatable: size(8, 16, 1), nodes: [node] });
  const note = 'the memory of its GPUs is not known, so it was not checked';
  expect(judged(aWish({ asks }), cluster)).toMatchObject({ fits: true, score: { vram_unknown: 1 } });
  expect(judged(aWish({ asks }), cluster).reasons).toContain(note);
  expect(judged(aWish({ asks }), { ...cluster, nodes: [] }).reasons).toContain(note);
  const known = { ...cluster, nodes: [{ ...node, vram_bytes: 24 * GiB }] };
  expect(judged(aWish({ asks }), known)).toMatchObject({ fits: true, score: { vram_unknown: 0 } });
  expect(judged(aWish({ asks }), known).reasons).not.toContain(note);
  const partlyKnown = { ...known, nodes: [node, ...known.nodes] };
  expect(judged(aWish({ asks }), partlyKnown).reasons).not.toContain(note);
});

test('a cluster whose every able node asks to stay away is avoided', () => {
  const soft = aNode({ name: 'a', taints: [{ key: 'slow', effect: 'PreferNoSchedule' }] });
  const note = 'its nodes have PreferNoSchedule taints that are not tolerated: avoided where there is another place';
  expect(judged(aWish(), aCluster({ nodes: [soft] })).reasons).toContain(note);
  expect(judged(aWish(), aCluster({ nodes: [soft, aNode({ name: 'b' })] }))).toMatchObject({
    score: { avoided_taints: 0 },
  });
});

test('a cluster assigns its own GPUs', () => {
  const cluster = aCluster({ allocatable: size(8, 16, 4) });
  expect(place(aWish({ replicas: 2, asks: { gpu_count: 1 } }), [cluster]).chosen).toEqual({
    kind: 'cluster',
    id: 'id-of-cluster',
    gpus: [[], []],
  });
});
