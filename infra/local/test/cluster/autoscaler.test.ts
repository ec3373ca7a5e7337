// The decisions of the simulated autoscaler of the test cluster (infra/cluster).
import { expect, test } from '@jest/globals';
import { emptyNodes, podsForNewNodes, quantity } from '../../../cluster/nodes/pool.mjs';

const POOL = {
  capacity: { cpu: '8', memory: '64Gi', 'nvidia.com/gpu': '2' },
  labels: { model: 'a100' },
  taints: [] as { key: string; value: string; effect: string }[],
  max: 2,
};
const aNode = (name: string) => ({ metadata: { name }, status: { allocatable: { pods: '110', ...POOL.capacity } } });
const pod = (name: string, requests: object, spec: object = {}) => ({
  ...{ metadata: { name }, spec: { containers: [{ resources: { requests } }], ...spec } },
  status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
});
const running = (name: string, nodeName: string, requests: object, phase = 'Running') => ({
  ...{ metadata: { name }, spec: { nodeName, containers: [{ resources: { requests } }] }, status: { phase } },
});
const names = (nodes: readonly object[], pods: readonly object[]) =>
  podsForNewNodes(POOL, nodes, pods).map((group) => group.map(({ metadata }) => metadata.name));

test('a pool without nodes grows for pending pods, and puts those together that fit one node', () => {
  const one = { 'nvidia.com/gpu': '1', cpu: '500m' };
  expect(names([], [pod('a', one), pod('b', one), pod('c', one)])).toEqual([['a', 'b'], ['c']]);
});

test('a pool does not grow for pods that fit a present node, that no node can take, or that wait for another pool', () => {
  const pods = [
    pod('fits', { cpu: '4' }),
    pod('too-large', { cpu: '9' }),
    pod('selects', { cpu: '1' }, { nodeSelector: { model: 'h100' } }),
    { ...pod('waits-for-its-volume', { cpu: '1' }), status: { phase: 'Pending' } },
  ];
  expect(names([aNode('n1')], pods)).toEqual([]);
  expect(names([], pods)).toEqual([['fits']]);
});

test('a pool with a taint grows only for pods that tolerate it', () => {
  const pool = { ...POOL, taints: [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }] };
  const pods = [
    pod('ordinary', { cpu: '1' }),
    pod('other', { cpu: '1' }, { tolerations: [{ key: 'nvidia.com/gpu', value: 'absent' }] }),
    pod('equal', { cpu: '1' }, { tolerations: [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }] }),
    pod('exists', { cpu: '1' }, { tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }] }),
  ];
  const [group] = podsForNewNodes(pool, [], pods);
  expect(group?.map(({ metadata }) => metadata.name)).toEqual(['equal', 'exists']);
});

test('a pool grows to its limit, and counts what runs on its nodes', () => {
  const two = { 'nvidia.com/gpu': '2' };
  const pods = [running('old', 'n1', two), pod('a', two), pod('b', two)];
  expect(names([aNode('n1')], pods)).toEqual([['a']]);
  expect(names([aNode('n1'), aNode('n2')], [...pods, running('other', 'n2', two)])).toEqual([]);
});

test('a node without running pods is empty', () => {
  const pods = [running('a', 'n1', { cpu: '1' }), running('job', 'n2', { cpu: '1' }, 'Succeeded')];
  expect(emptyNodes([aNode('n1'), aNode('n2')], pods)).toEqual(['n2']);
});

test('quantities have the suffixes of Kubernetes', () => {
  expect([quantity('500m'), quantity('1.5'), quantity('1Gi'), quantity('2k')]).toEqual([0.5, 1.5, 2 ** 30, 2000]);
  expect(() => quantity('many')).toThrow('invalid');
});
