// Input that needs care: `null`, numbers that exceed a column of the database, and kubeconfigs.
import { aPair } from './certificates.ts';
import { kindsIn } from './kinds.ts';
import { KUBECONFIG } from './kubeconfig.ts';
import { invalidPathsOf, pathOf, singulars, startResources } from './resources.ts';

const world = await startResources();
const { asAdmin, client, make } = world;
const kinds = await kindsIn(world);
afterAll(() => world.stop());

test.each([
  ['clusters', { default_storage_class: 'fast' }],
  ['clusters', { ca_certificate: aPair().certificate }],
  ['workloads', { registry_url: 'ghcr.io' }],
  ['workloads', { registry_credentials: 'pull-secret' }],
] as const)('null clears an optional member of %s, case %#', async (plural, given) => {
  const request = kinds.find((kind) => kind.plural === plural)?.members;
  const { id } = await make(plural, { ...request, ...given });
  const [member = ''] = Object.keys(given);
  expect((await asAdmin.put(pathOf(plural, id), { labels: {} })).body[singulars[plural]]).toMatchObject(given);
  expect((await asAdmin.put(pathOf(plural, id), { [member]: null })).body[singulars[plural]][member]).toBeNull();
});

test.each([
  ['hosts', ['engine', 'endpoint', 'network_types', 'taints', 'schedulable', 'gpus']],
  ['clusters', ['server', 'auth', 'namespace', 'network_types', 'gpu_resource_name']],
  ['workloads', ['template', 'kind', 'image_name', 'image_tag', 'command', 'env', 'gpu_count', 'cpu_request']],
  ['deployments', ['revision', 'replicas', 'env', 'volumes', 'desired_state']],
  ['storage', ['size', 'reclaim']],
  ['secrets', ['values']],
] as const)('null is rejected for the other members of %s', async (plural, members) => {
  const before = await make(plural, kinds.find((kind) => kind.plural === plural)?.members ?? {});
  const nulls = Object.fromEntries(members.map((member) => [member, null]));
  const answer = await asAdmin.put(pathOf(plural, before.id), nulls);
  expect(answer.status).toBe(400);
  expect(invalidPathsOf(answer)).toEqual([...members].sort());
  expect(await world.read(plural, before.id)).toEqual(before);
});

describe.each([2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER])('the number %s', (number) => {
  const deployed = async () => {
    const host = await world.aRoomyHost();
    const workload = await world.aWorkload();
    const deployment = await world.aDeployment({ workload_id: workload.id, target: { host_id: host.id } });
    return { workload, deployment };
  };

  test('is rejected as a revision of a workload', async () => {
    const { workload, deployment } = await deployed();
    const request = { name: world.aName('large'), workload_id: workload.id, revision: number };
    const answers = [
      await asAdmin.post(pathOf('deployments'), request),
      await asAdmin.post(`${pathOf('deployments')}/plan`, request),
      await asAdmin.post(`${pathOf('deployments')}/plan`, { deployment_id: deployment.id, revision: number }),
      await asAdmin.put(pathOf('deployments', deployment.id), { revision: number }),
    ];
    for (const { status, body } of answers)
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'unknown_workload' });
  });

  test('is rejected as a generation of a deployment', async () => {
    const { deployment } = await deployed();
    const answer = await asAdmin.post(`${pathOf('deployments', deployment.id)}/rollback`, { generation: number });
    expect(answer.status).toBe(400);
    expect(invalidPathsOf(answer)).toEqual(['generation']);
    expect(await world.read('deployments', deployment.id)).toEqual(deployment);
  });
});

const tokenAuth = { kind: 'token', token: 'of-a-service-account' };
const certificateAuth = { kind: 'client_certificate', ...aPair() };

test.each([
  { ca_certificate: KUBECONFIG, auth: tokenAuth },
  { auth: { kind: 'token', token: KUBECONFIG } },
  { auth: KUBECONFIG },
  { auth: { kind: 'exec', command: '/bin/sh' } },
  { auth: { kind: 'kubeconfig', kubeconfig: KUBECONFIG } },
  { auth: tokenAuth, kubeconfig: KUBECONFIG },
  { auth: { ...tokenAuth, exec: { command: '/bin/sh' } } },
  { auth: { ...certificateAuth, certificate: KUBECONFIG } },
  { auth: { ...certificateAuth, key: KUBECONFIG } },
  { auth: tokenAuth, server: KUBECONFIG },
  { auth: tokenAuth, namespace: KUBECONFIG },
  { auth: tokenAuth, gpu_resource_name: KUBECONFIG },
  { auth: tokenAuth, default_storage_class: KUBECONFIG },
  { auth: tokenAuth, labels: { config: KUBECONFIG } },
  { auth: tokenAuth, name: KUBECONFIG },
])('a kubeconfig, which can name programs to run, is rejected everywhere, case %#', async (given) => {
  const before = await client.cluster.count();
  const request = { name: world.aName('kubeconfig'), server: 'https://cluster.example.test', ...given };
  const { status, text } = await asAdmin.post(pathOf('clusters'), request);
  expect(status).toBe(400);
  expect(text).not.toContain('touch');
  expect(await client.cluster.count()).toBe(before);
});
