import { place } from '../../src/placement/place.ts';
import { aCluster, against, aNode, aRequest, assess, GiB } from './world.ts';

const size = (cpus: number, gibibytes: number, gpu_count = 0) => ({
  cpu_millis: cpus * 1000,
  memory_bytes: gibibytes * GiB,
  gpu_count,
});

test('a cluster fits only if the sum of the requirements of all replicas is available', () => {
  const request = aRequest({ replicas: 3, asks: size(2, 4, 1) });
  const cluster = aCluster({ allocatable: size(8, 16, 4), allocated: size(3, 8, 2) });
  expect(against(request, cluster)).toEqual([
    'needs 6 CPUs (3 replicas with 2 each), 5 of 8 are free',
    'needs 12 GiB of memory (3 replicas with 4 GiB each), 8 of 16 GiB is free',
    'needs 3 GPUs (3 replicas with 1 each), 2 of 4 are free',
  ]);
  expect(against(request, { ...cluster, allocated: size(2, 4, 1) })).toEqual([]);
});

test('a cluster without GPUs is reported as having none', () => {
  expect(against(aRequest({ asks: { gpu_count: 1 } }), aCluster())).toEqual(['needs 1 GPU, it has none']);
});

test('a cluster that was never checked does not fit, nor does an unreachable one', () => {
  expect(against(aRequest({ asks: size(1, 1, 1) }), aCluster({ reachability: 'unknown', allocatable: null }))).toEqual([
    'has not been checked yet',
    'its CPU and memory are not known yet',
  ]);
  expect(against(aRequest(), aCluster({ reachability: 'unreachable' }))).toEqual(['is unreachable']);
});

test('required network types are compared with those of the cluster', () => {
  expect(against(aRequest({ required_network_types: ['mesh'] }), aCluster({ network_types: ['public'] }))).toEqual([
    'has no network type mesh (has: public)',
  ]);
});

test('a replica must fit on one node of a cluster, regardless of the sum of its nodes', () => {
  const cluster = aCluster({ nodes: [aNode({ name: 'one' }), aNode({ name: 'two' })] });
  expect(against(aRequest({ asks: size(4, 8) }), cluster)).toEqual([]);
  expect(against(aRequest({ asks: size(5, 9) }), cluster)).toEqual([
    'none of 2 nodes can run a replica: 2 with fewer than 5 CPUs, 2 with less than 9 GiB of memory',
  ]);
});

test('the reasons of the nodes of a cluster are counted, the most common first', () => {
  const cluster = aCluster({
    allocatable: size(16, 32, 2),
    nodes: [
      aNode({ name: 'a', labels: { zone: 'us' }, taints: [{ key: 'gpu', value: 'true', effect: 'NoSchedule' }] }),
      aNode({ name: 'b', schedulable: false, allocatable: size(4, 8, 2), vram_bytes: 16 * GiB }),
      aNode({ name: 'c', labels: { zone: 'eu' }, allocatable: size(1, 1, 0) }),
    ],
  });
  const request = aRequest({ asks: { ...size(2, 2, 1), vram_bytes: 24 * GiB }, node_selector: { zone: 'eu' } });
  expect(against(request, cluster)).toEqual([
    'none of 3 nodes can run a replica: 2 with fewer than 1 GPU, 2 without label zone=eu, 1 unschedulable, ' +
      '1 with GPUs of less than 24 GiB, 1 with fewer than 2 CPUs, 1 with less than 2 GiB of memory, ' +
      '1 with taint gpu=true:NoSchedule that is not tolerated',
  ]);
});

test('what makes a cluster suitable concerns a node that the workload selects', () => {
  const other = aNode({ name: 'a', labels: { zone: 'us' } });
  const selected = aNode({ name: 'b', labels: { zone: 'eu' }, taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
  const { obstacles } = assess(aRequest({ node_selector: { zone: 'eu' } }), aCluster({ nodes: [other, selected] }));
  expect(obstacles.flatMap(({ remedies }) => remedies)).toEqual([
    { object: 'workload', field: 'tolerations', values: ['gpu:NoSchedule'] },
  ]);
});

test('a cluster fits if one of its nodes can run a replica', () => {
  const bad = aNode({ name: 'a', taints: [{ key: 'gpu', effect: 'NoExecute' }] });
  const request = aRequest({ asks: size(2, 2), node_selector: { zone: 'eu' } });
  const good = aNode({ name: 'b', labels: { zone: 'eu' } });
  expect(against(request, aCluster({ nodes: [bad] }))).not.toEqual([]);
  expect(against(request, aCluster({ nodes: [bad, good] }))).toEqual([]);
  expect(against({ ...request, tolerations: [{ key: 'gpu' }] }, aCluster({ nodes: [bad] }))).toEqual([
    'none of 1 node can run a replica: 1 without label zone=eu',
  ]);
});

test('the nodes of a cluster that can run a replica must have the capacity for all replicas', () => {
  const nodes = [aNode({ name: 'a' }), aNode({ name: 'b' }), aNode({ name: 'c', schedulable: false })];
  const cluster = aCluster({ allocatable: size(100, 100), nodes });
  const request = aRequest({ replicas: 4, asks: size(1.5, 1) });
  expect(against(request, cluster)).toEqual([]);
  expect(against({ ...request, replicas: 5 }, cluster)).toEqual([
    'needs capacity for 5 replicas, the 2 nodes that can run one have capacity for 4, even without other pods',
  ]);
  expect(against({ ...request, replicas: 3 }, { ...cluster, nodes: nodes.slice(1) })).toEqual([
    'needs capacity for 3 replicas, the only node that can run one has capacity for 2, even without other pods',
  ]);
});

test('a cluster with unknown nodes is not excluded because of its nodes', () => {
  expect(against(aRequest({ asks: size(8, 16), node_selector: { zone: 'eu' } }), aCluster())).toEqual([]);
});

test('a cluster with unknown GPU memory fits, and the reasons state that it is unknown', () => {
  const asks = { gpu_count: 1, vram_bytes: 24 * GiB };
  const node = aNode({ allocatable: size(4, 8, 1) });
  const cluster = aCluster({ allocatable: size(8, 16, 1), nodes: [node] });
  const note = 'the memory of its GPUs is not known, so it was not checked';
  expect(assess(aRequest({ asks }), cluster)).toMatchObject({ fits: true, score: { vram_unknown: 1 } });
  expect(assess(aRequest({ asks }), cluster).reasons).toContain(note);
  expect(assess(aRequest({ asks }), { ...cluster, nodes: [] }).reasons).toContain(note);
  const known = { ...cluster, nodes: [{ ...node, vram_bytes: 24 * GiB }] };
  expect(assess(aRequest({ asks }), known)).toMatchObject({ fits: true, score: { vram_unknown: 0 } });
  expect(assess(aRequest({ asks }), known).reasons).not.toContain(note);
  const partlyKnown = { ...known, nodes: [node, ...known.nodes] };
  expect(assess(aRequest({ asks }), partlyKnown).reasons).not.toContain(note);
});

test('a cluster is avoided if all its suitable nodes have an untolerated PreferNoSchedule taint', () => {
  const soft = aNode({ name: 'a', taints: [{ key: 'slow', effect: 'PreferNoSchedule' }] });
  const note = 'its nodes have PreferNoSchedule taints that are not tolerated: avoided if another target fits';
  expect(assess(aRequest(), aCluster({ nodes: [soft] })).reasons).toContain(note);
  expect(assess(aRequest(), aCluster({ nodes: [soft, aNode({ name: 'b' })] }))).toMatchObject({
    score: { avoided_taints: 0 },
  });
});

test('a cluster assigns its own GPUs', () => {
  const cluster = aCluster({ allocatable: size(8, 16, 4) });
  expect(place(aRequest({ replicas: 2, asks: { gpu_count: 1 } }), [cluster]).chosen).toEqual({
    kind: 'cluster',
    id: 'id-of-cluster',
    gpus: [[], []],
  });
});
