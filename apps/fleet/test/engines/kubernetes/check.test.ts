import { afterEach, describe, expect, test } from '@jest/globals';
import { check } from '../../../src/engines/kubernetes/check/check.ts';
import type { ApiServer } from './api-server.ts';
import { anApiServer, clientOf, endAll } from './world.ts';

afterEach(endAll);

const aNode = (server: ApiServer, name: string, given: { spec?: object; status?: object } = {}) => {
  const amounts = { cpu: '8', memory: '32885540Ki', pods: '110' };
  const allocatable = { cpu: '7910m', memory: '31836964Ki', 'nvidia.com/gpu': '2', pods: '110' };
  const conditions = [{ type: 'Ready', status: 'True' }];
  const status = {
    capacity: amounts,
    allocatable,
    conditions,
    nodeInfo: { architecture: 'amd64', kubeletVersion: 'v1.33.1' },
    ...given.status,
  };
  return server.put('nodes', { metadata: { name, labels: { disk: 'fast' } }, spec: { ...given.spec }, status });
};

const FINE = [
  { type: 'NamespaceReady', status: 'True', reason: 'Active', message: '' },
  { type: 'Permitted', status: 'True', reason: 'Allowed', message: '' },
  { type: 'AutoscalingPermitted', status: 'True', reason: 'Allowed', message: '' },
  { type: 'NodesKnown', status: 'True', reason: 'Listed', message: '' },
  { type: 'StorageClassesKnown', status: 'True', reason: 'Listed', message: '' },
  { type: 'IdentityKnown', status: 'True', reason: 'Read', message: '' },
  { type: 'DisruptionBudgets', status: 'True', reason: 'Allowed', message: '' },
  {
    type: 'Isolated',
    status: 'True',
    reason: 'Allowed',
    message: expect.stringMatching(/^Deployments have NetworkPolicies/),
  },
].map((condition) => ({ ...condition, at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) }));

/** Status, reason and message of one condition. */
async function findingOn(server: ApiServer, type: string) {
  const { conditions } = await check(clientOf(server));
  const { status, reason, message } = conditions.find((condition) => condition.type === type) ?? {};
  return [status, reason, message];
}

describe('the check of a cluster', () => {
  test('reports version, nodes, storage classes and conditions', async () => {
    const server = await anApiServer();
    const taints = [{ key: 'nvidia.com/gpu', effect: 'NoSchedule' }];
    const worker = aNode(server, 'worker', { spec: { taints } });
    const closed = { spec: { unschedulable: true }, status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
    aNode(server, 'closed', closed);
    const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    server.put('storageclasses', { metadata: { name: 'standard', annotations: isDefault } });
    server.put('storageclasses', { metadata: { name: 'fast' }, allowVolumeExpansion: true });
    const facts = await check(clientOf(server));
    expect(facts).toEqual({
      version: 'v1.33.1',
      nodes: [expect.objectContaining({ name: 'closed', schedulable: false, ready: false }), expect.anything()],
      storage_classes: [
        { name: 'fast', is_default: false, allows_expansion: true },
        { name: 'standard', is_default: true, allows_expansion: false },
      ],
      conditions: FINE,
      identity: server.object('namespaces', 'kube-system').metadata.uid,
      fleet_account: 'system:serviceaccount:fleet:fleet',
      disruption_budgets: 'with_unhealthy',
      network_policies: true,
      missing_permissions: [],
      credentials_expire_at: null,
    });
    expect(facts.nodes[1]).toEqual({
      name: 'worker',
      uid: worker.metadata.uid,
      labels: { disk: 'fast' },
      taints: [{ key: 'nvidia.com/gpu', value: undefined, effect: 'NoSchedule' }],
      schedulable: true,
      ready: true,
      version: 'v1.33.1',
      arch: 'amd64',
      capacity: { cpu_millis: 8000, memory_bytes: 32885540 * 1024, gpu_count: 0 },
      allocatable: { cpu_millis: 7910, memory_bytes: 31836964 * 1024, gpu_count: 2 },
    });
  });

  test('counts the GPUs of the resource name that the cluster is registered with', async () => {
    const server = await anApiServer();
    aNode(server, 'worker', { status: { allocatable: { 'amd.com/gpu': '4', 'nvidia.com/gpu': '2' } } });
    const { nodes } = await check(clientOf(server, { gpu_resource_name: 'amd.com/gpu' }));
    expect(nodes.map(({ allocatable }) => allocatable.gpu_count)).toEqual([4]);
  });

  test('reads a long list of nodes in pages', async () => {
    const server = await anApiServer();
    const names = Array.from({ length: 501 }, (_, index) => `node-${String(index).padStart(3, '0')}`);
    for (const name of names) server.put('nodes', { metadata: { name } });
    const { nodes } = await check(clientOf(server));
    expect(nodes.map(({ name }) => name)).toEqual(names);
    expect(server.requests.filter(({ path }) => path === '/api/v1/nodes')).toHaveLength(3);
  });
});

describe('the conditions of the check of a cluster', () => {
  test('name the permissions that the credentials lack', async () => {
    const server = await anApiServer();
    server.forbidden.add('delete jobs').add('get pods/log').add('* secrets');
    expect(await findingOn(server, 'Permitted')).toEqual([
      'False',
      'Forbidden',
      'The credentials lack these permissions in the namespace fleet: delete jobs, list secrets, get secrets, ' +
        'create secrets, patch secrets, delete secrets, get pods/log.',
    ]);
  });

  test('are not false without the permissions that only autoscaling needs', async () => {
    const server = await anApiServer();
    server.forbidden.add('* horizontalpodautoscalers');
    expect(await findingOn(server, 'Permitted')).toEqual(['True', 'Allowed', '']);
    const message =
      'Deployments with autoscaling are refused, because the credentials lack these permissions in the namespace fleet: ' +
      ['list', 'get', 'create', 'patch', 'delete'].map((verb) => `${verb} horizontalpodautoscalers`).join(', ');
    expect(await findingOn(server, 'AutoscalingPermitted')).toEqual(['Unknown', 'Forbidden', `${message}.`]);
    const { missing_permissions } = await check(clientOf(server));
    expect(missing_permissions).toHaveLength(5);
  });

  test('state that nodes and storage classes are unknown if the credentials may not list them', async () => {
    const server = await anApiServer();
    aNode(server, 'worker');
    server.forbidden.add('list nodes').add('list storageclasses');
    expect(await check(clientOf(server))).toMatchObject({ nodes: [], storage_classes: [] });
    expect(await findingOn(server, 'NodesKnown')).toEqual([
      'False',
      'Forbidden',
      'The credentials lack permission to list the nodes of the cluster.',
    ]);
    expect(await findingOn(server, 'StorageClassesKnown')).toMatchObject(['False', 'Forbidden', expect.anything()]);
  });

  test('describe the state of the namespace', async () => {
    const server = await anApiServer({ namespaces: [] });
    const made = 'The namespace fleet is created with the first deployment.';
    expect(await findingOn(server, 'NamespaceReady')).toEqual(['True', 'Missing', made]);
    server.forbidden.add('create namespaces');
    const lacking = 'The namespace fleet does not exist, and the credentials lack permission to create it.';
    expect(await findingOn(server, 'NamespaceReady')).toEqual(['False', 'Missing', lacking]);
    server.put('namespaces', { metadata: { name: 'fleet' }, status: { phase: 'Terminating' } });
    const ending = 'The namespace fleet is being deleted.';
    expect(await findingOn(server, 'NamespaceReady')).toEqual(['False', 'Terminating', ending]);
    server.forbidden.add('get namespaces');
    expect(await findingOn(server, 'NamespaceReady')).toMatchObject(['Unknown', 'Forbidden', expect.anything()]);
  });
});
