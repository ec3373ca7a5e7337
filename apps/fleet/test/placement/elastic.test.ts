// Clusters that add nodes when pods need them.
import { byDepth } from '@svc/testing';
import { assertProperty } from '@svc/testing/properties';
import fc from 'fast-check';
import type { Candidate, ElasticLimits } from '../../src/placement/candidates.ts';
import { place } from '../../src/placement/place.ts';
import { candidates, placementRequest } from './generated.ts';
import { aCluster, against, aHost, aNode, aRequest, assess, GiB } from './world.ts';

const size = (cpus: number, gibibytes: number, gpu_count = 0) => ({
  cpu_millis: cpus * 1000,
  memory_bytes: gibibytes * GiB,
  gpu_count,
});

const L4 = { model: 'NVIDIA-L4', vram_bytes: 24 * GiB };
const H100 = { model: 'NVIDIA-H100', vram_bytes: 80 * GiB };

const limits = (given: Partial<ElasticLimits> = {}): ElasticLimits => ({
  max_nodes: 4,
  per_replica: size(8, 32, 1),
  gpus: [
    { ...L4, count: 2 },
    { ...H100, count: 1 },
  ],
  ...given,
});

/** A node of 4 CPUs and 8 GiB, all of which is allocated. */
const full = { allocatable: size(4, 8), allocated: size(4, 8), nodes: [aNode()] };
const elastic = (given: Partial<Parameters<typeof aCluster>[0]> = {}) =>
  aCluster({ ...full, elastic: limits(), ...given });

const gpuNode = (model: string, given: Partial<Parameters<typeof aNode>[0]> = {}) =>
  aNode({ name: model, labels: { 'nvidia.com/gpu.product': model }, allocatable: size(8, 32, 1), ...given });

test('a replica that fits an empty node is feasible on an elastic cluster without free capacity', () => {
  const request = aRequest({ asks: size(8, 32) });
  expect(against(request, aCluster(full))).not.toEqual([]);
  expect(assess(request, elastic())).toMatchObject({
    fits: true,
    score: { new_nodes: 1 },
    reasons: [
      'needs a new node: the present nodes have capacity for 0 of 1 replica, and 1 of at most 4 nodes exist',
      'chosen: nothing else fits',
    ],
  });
});

test('a cluster without nodes is feasible from zero, also for a replica without requirements', () => {
  const empty = elastic({ allocatable: size(0, 0), allocated: size(0, 0), nodes: [] });
  for (const asks of [size(8, 32, 1), {}]) {
    expect(assess(aRequest({ asks }), empty)).toMatchObject({ fits: true, score: { new_nodes: 1 } });
  }
});

test('an elastic cluster with sufficient capacity needs no new node', () => {
  const free = elastic({ allocated: size(0, 0) });
  expect(assess(aRequest({ asks: size(4, 8) }), free)).toMatchObject({ fits: true, score: { new_nodes: 0 } });
});

test('replicas that the present nodes have capacity for need no new nodes, and several replicas share one', () => {
  const half = elastic({ allocated: size(2, 4) });
  const request = (replicas: number) => aRequest({ replicas, asks: size(2, 4) });
  expect(assess(request(5), half)).toMatchObject({ fits: true, score: { new_nodes: 1 } });
  expect(assess(request(6), half)).toMatchObject({ fits: true, score: { new_nodes: 2 } });
  expect(assess(request(6), half).reasons[0]).toBe(
    'needs 2 new nodes: the present nodes have capacity for 1 of 6 replicas, and 1 of at most 4 nodes exist',
  );
});

test('a replica beyond the limits per replica does not fit', () => {
  expect(against(aRequest({ asks: size(9, 33, 2) }), elastic())).toEqual([
    'a replica needs 9 CPUs, and the limit of the elastic cluster per replica is 8',
    'a replica needs 33 GiB of memory, and the limit of the elastic cluster per replica is 32 GiB',
    'a replica needs 2 GPUs, and the limit of the elastic cluster per replica is 1',
  ]);
});

test('more new nodes than the limit do not fit', () => {
  const request = (replicas: number) => aRequest({ replicas, asks: size(8, 32) });
  expect(against(request(3), elastic())).toEqual([]);
  expect(against(request(4), elastic())).toEqual([
    'needs 4 new nodes, and the limit of 4 nodes of the elastic cluster permits 3',
  ]);
});

test('what is allocated beyond the present nodes counts for the new nodes that it waits for, and can share them', () => {
  const waiting = elastic({ allocated: size(4 + 12, 8) });
  expect(against(aRequest({ asks: size(8, 32) }), waiting)).toEqual([]);
  expect(against(aRequest({ replicas: 3, asks: size(8, 32) }), waiting)).toEqual([
    'needs 3 new nodes, and the limit of 4 nodes of the elastic cluster permits 1',
  ]);
  const last = elastic({ allocated: size(4 + 20, 8) });
  expect(assess(aRequest({ asks: size(4, 4) }), last)).toMatchObject({ fits: true, score: { new_nodes: 1 } });
  expect(against(aRequest({ asks: size(5, 4) }), last)).toEqual([
    'needs 1 new node, and the limit of 4 nodes of the elastic cluster permits 0',
  ]);
});

test('the limit of GPUs applies to each model: only models with enough memory are suitable', () => {
  const request = (replicas: number, vram: number) =>
    aRequest({ replicas, asks: { ...size(1, 1, 1), vram_bytes: vram * GiB } });
  expect(against(request(3, 24), elastic())).toEqual([]);
  expect(against(request(1, 80), elastic())).toEqual([]);
  expect(against(request(2, 80), elastic())).toEqual([
    'needs 2 new GPUs with at least 80 GiB each, and the limits of the elastic cluster permit 1',
  ]);
  expect(against(request(1, 96), elastic())).toEqual([
    'needs 1 new GPU with at least 96 GiB each, and the limits of the elastic cluster permit 0',
  ]);
});

test('present GPUs count for the limit of their model, and those of an unknown model for each', () => {
  const request = (replicas: number) => aRequest({ replicas, asks: size(1, 1, 1), node_selector: ofModel(L4.model) });
  const withNode = (node: Parameters<typeof aNode>[0]) =>
    elastic({ allocatable: size(8, 32, 1), allocated: size(8, 32, 1), nodes: [gpuNode(L4.model, node)] });
  expect(against(request(1), withNode({}))).toEqual([]);
  expect(against(request(2), withNode({}))).toEqual([
    'needs 2 new GPUs, and the limits of the elastic cluster permit 1',
  ]);
  expect(against(request(2), withNode({ labels: {} }))).toHaveLength(1);
  expect(against(request(2), withNode({ labels: ofModel('NVIDIA-T4') }))).toEqual([]);
});

const ofModel = (model: string) => ({ 'nvidia.com/gpu.product': model });

test('a node selector for a model of GPUs is compared with the limits, and another one is named as not checked', () => {
  const request = (node_selector: Record<string, string>) => aRequest({ asks: size(1, 1, 1), node_selector });
  expect(against(request(ofModel('NVIDIA-A100')), elastic())).toEqual([
    'needs 1 new GPU, and the limits of the elastic cluster permit 0',
  ]);
  expect(assess(request({ ...ofModel(L4.model), zone: 'eu' }), elastic()).reasons).toContain(
    'the labels of new nodes are not known, so the node selector zone=eu was not checked',
  );
});

test('targets with present capacity are preferred, then fewer new nodes', () => {
  const request = aRequest({ asks: size(4, 8) });
  const host = aHost({ name: 'z-host', taints: [{ key: 'slow', effect: 'PreferNoSchedule' }] });
  const cluster = elastic({ name: 'a-cluster' });
  const { chosen, assessments } = place(request, [cluster, host]);
  expect(chosen).toMatchObject({ kind: 'host', id: host.id });
  expect(assessments[0]?.reasons).toContain('chosen before a-cluster: it has the capacity now, without a new node');
  const small = elastic({ name: 'small', elastic: limits({ per_replica: size(4, 8) }) });
  const two = aRequest({ replicas: 2, asks: size(4, 8) });
  expect(place(two, [small, cluster]).chosen).toMatchObject({ id: cluster.id });
  expect(place(two, [small, cluster]).assessments[0]?.reasons).toContain(
    'chosen before small: it needs fewer new nodes (1 against 2)',
  );
});

test('an elastic cluster whose capacity is not known does not fit', () => {
  expect(against(aRequest(), elastic({ reachability: 'unknown', allocatable: null, nodes: [] }))).toEqual([
    'has not been checked yet',
    'its CPU and memory are not known yet',
  ]);
});

test('the limits do not replace other reasons', () => {
  const request = aRequest({ asks: size(8, 32), required_network_types: ['mesh'] });
  expect(against(request, elastic())).toEqual(['has no network type mesh (has none)']);
});

/** Limits that some of the generated requests exceed. */
const someLimits: fc.Arbitrary<ElasticLimits> = fc.record({
  max_nodes: fc.nat(6),
  per_replica: fc.record({ cpu_millis: fc.nat(6000), memory_bytes: fc.nat(15_000), gpu_count: fc.nat(3) }),
  gpus: fc
    .array(fc.record({ vram_bytes: fc.nat(4).map((size) => size * 1024), count: fc.nat(3) }), { maxLength: 2 })
    .map((all) => all.map((limit, index) => ({ ...limit, model: `model-${index}` }))),
});

const withLimits = (all: readonly Candidate[], elastic: ElasticLimits): Candidate[] =>
  all.map((candidate) => (candidate.kind === 'cluster' ? { ...candidate, elastic } : candidate));

test('limits exclude no cluster that fits without them, and the chosen target is the first of the assessments', () => {
  assertProperty(
    fc.property(placementRequest, candidates, someLimits, (request, all, elastic) => {
      const before = place(request, all).assessments.filter(({ fits }) => fits);
      const { chosen, assessments } = place(request, withLimits(all, elastic));
      const isEmpty = (id: string) =>
        all.some((one) => one.id === id && one.kind === 'cluster' && one.nodes.length === 0);
      for (const { id } of before.filter((one) => !isEmpty(one.id))) {
        expect(assessments.find((one) => one.id === id)).toMatchObject({ fits: true, score: { new_nodes: 0 } });
      }
      expect(chosen?.id).toBe(assessments[0]?.fits ? assessments[0].id : undefined);
      for (const { fits, obstacles } of assessments) expect(obstacles.length === 0).toBe(fits);
    }),
    byDepth({ short: 100, full: 1000, long: 10_000 }),
  );
});
