import { describe, expect, test } from '@jest/globals';
import { aClusterWorld, aNode, PLAIN } from './world.ts';

describe('a cluster, after its check,', () => {
  const world = aClusterWorld();
  const nodes = async (query = '') => (await world().good(world().api.get(`/api/v1/hosts?${query}`))).hosts;

  test('has a version, a capacity, storage classes and conditions', async () => {
    const { server, checked, clusterId } = world();
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    server.put('storageclasses', { metadata: { name: 'fast', annotations } });
    server.put('storageclasses', { metadata: { name: 'slow' } });
    const tainted = { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }], unschedulable: true };
    server.put('nodes', aNode('node-2', { spec: tainted, labels: { pool: 'gpu' } }));
    const cluster = await checked(clusterId);
    expect(cluster).toMatchObject({
      reachability: 'online',
      kubernetes_version: expect.stringMatching(/^v1\./),
      capacity: { cpu: '16', memory: '64Gi', gpu_count: 4 },
      allocatable: { cpu: '7800m', memory: '30Gi', gpu_count: 2 },
      storage_classes: [
        { name: 'fast', is_default: true },
        { name: 'slow', is_default: false },
      ],
    });
    const found = cluster.conditions.map(({ type, status }: Record<string, string>) => `${type} ${status}`);
    expect(found.sort()).toEqual([
      'AutoscalingPermitted True',
      'DisruptionBudgets True',
      'IdentityKnown True',
      'Isolated True',
      'NamespaceReady True',
      'NodesKnown True',
      'Permitted True',
      'StorageClassesKnown True',
      'Unique True',
    ]);
  });

  test('has its nodes in the list of hosts, with search and labels', async () => {
    const { clusterId, good, api } = world();
    const [node] = await nodes('search=node-2');
    expect(node).toMatchObject({
      name: 'node-2',
      engine: 'kubernetes',
      cluster_id: clusterId,
      endpoint: null,
      schedulable: false,
      taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }],
      engine_version: 'v1.31.2',
      arch: 'amd64',
      capacity: { cpu: '7800m', memory: '30Gi', gpu_count: 2 },
      allocated: null,
      reachability: 'online',
    });
    expect((await nodes('label=pool=gpu')).map(({ name }: { name: string }) => name)).toEqual(['node-2']);
    expect((await good(api.get(`/api/v1/hosts/${node.id}`))).host).toEqual(node);
  });

  test('has nodes that are read-only', async () => {
    const { api } = world();
    const [{ id }] = await nodes('search=node-2');
    const answers = [
      await api.put(`/api/v1/hosts/${id}`, { schedulable: true }),
      await api.delete(`/api/v1/hosts/${id}`),
      await api.post(`/api/v1/hosts/${id}/check`),
    ];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([409, 'read_only']));
    expect(answers[0]?.body.detail).toMatch(/^node-2 is a node of the cluster lab/);
    expect((await nodes('search=node-2'))[0]).toMatchObject({ id, schedulable: false });
  });

  test('keeps the id of a node, and removes a node that no longer exists', async () => {
    const { server, checked, clusterId } = world();
    const before = await nodes();
    server.put('nodes', aNode('node-1', { ready: 'False' }));
    server.drop('nodes', 'node-2');
    await checked(clusterId);
    const [node, ...others] = await nodes();
    expect(others).toEqual([]);
    expect(node).toMatchObject({
      reachability: 'unreachable',
      message: 'The cluster reports that the node is not ready.',
    });
    expect(before.find(({ name }: { name: string }) => name === 'node-1').id).toBe(node.id);
    server.put('nodes', aNode('node-1'));
    await checked(clusterId);
  });

  test('is a target only if one of its nodes has the capacity for a replica', async () => {
    const { good, api, aWorkload, server, checked, clusterId } = world();
    const labels = { 'nvidia.com/gpu.memory': '24576' };
    for (const name of ['node-1', 'node-3']) server.put('nodes', aNode(name, { labels }));
    await checked(clusterId);
    const plan = async (name: string, given: object) => {
      const { id: workload_id } = await aWorkload(name, { ...PLAIN, ...given });
      return good(api.post('/api/v1/deployments/plan', { name, workload_id }));
    };
    expect(await plan('fits', { cpu_request: '7' })).toMatchObject({ ok: true });
    const wide = await plan('wide', { cpu_request: '10' });
    expect(wide.ok).toBe(false);
    expect(JSON.stringify(wide.placement)).toMatch(/none of 2 nodes can run a replica/);
    expect(await plan('large', { gpu_count: 1, vram_request: '24Gi' })).toMatchObject({ ok: true });
    expect(await plan('larger', { gpu_count: 1, vram_request: '80Gi' })).toMatchObject({ ok: false });
  });

  test('stays online with its known data if a part of the check fails', async () => {
    const { server, checked, clusterId } = world();
    const before = await checked(clusterId);
    const body = JSON.stringify({ kind: 'Status', reason: 'InternalError', message: 'etcdserver: request timed out' });
    server.inject(({ path }) => (path.endsWith('/nodes') ? { status: 500, body } : undefined));
    const after = await checked(clusterId);
    expect(after).toMatchObject({ reachability: 'online', allocatable: before.allocatable, message: '' });
    expect(Date.parse(after.last_seen_at)).toBeGreaterThan(Date.parse(before.last_seen_at));
    server.inject(() => undefined);
  });

  test('has no known capacity if its credentials may not list nodes', async () => {
    const { server, checked, clusterId } = world();
    server.forbidden.add('list nodes');
    server.forbidden.add('patch deployments');
    const cluster = await checked(clusterId);
    expect(cluster).toMatchObject({ reachability: 'online', allocatable: null, capacity: null });
    const found = Object.fromEntries(
      cluster.conditions.map(({ type, status, message }: Record<string, string>) => [type, `${status} ${message}`]),
    );
    expect(found.NodesKnown).toBe('False The credentials lack permission to list the nodes of the cluster.');
    expect(found.Permitted).toMatch(/^False .*patch deployments/);
    expect(await nodes()).toEqual([]);
  });
});
