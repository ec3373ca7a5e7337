// Server-side dry runs of the objects of a deployment, against the fake API server.
import { afterEach, describe, expect, test } from '@jest/globals';
import type { DryRun, WorkloadSpec } from '@svc/contract/fleet';
import { eventually } from '@svc/testing';
import type { KubernetesClient } from '../../../src/engines/kubernetes/client.ts';
import { dryRun } from '../../../src/engines/kubernetes/dry-run/dry-run.ts';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import type { KubernetesManifest } from '../../../src/render/kubernetes.ts';
import type { ApiServer } from './api-server.ts';
import { aDeployment, altered, anApiServer, clientOf, endAll, running } from './world.ts';

afterEach(endAll);

const spec: Partial<WorkloadSpec> = {
  ports: [{ containerPort: 80, protocol: 'TCP' }],
  secret_refs: [{ name: 'password', env: 'PASSWORD' }],
  cpu_request: '500m',
  memory_request: '256Mi',
};

const OF_NEW = { replicas: 1, before: undefined, replacesPods: false, caller: 'someone' };

/** Asks about a deployment. The result has the kinds of the objects instead of their names. */
async function ask(
  client: KubernetesClient,
  manifest: KubernetesManifest<'values'>,
  given: Partial<Parameters<typeof dryRun>[1]> = {},
): Promise<DryRun[]> {
  const shown = { ...manifest, secrecy: 'placeholders' as const };
  const signal = new AbortController().signal;
  const results = await dryRun(client, { ...OF_NEW, manifest: shown, signal, ...given });
  return results.map((one) => ({ ...one, object: one.object.split('/')[0] ?? '' }));
}

const resultsOf = (results: readonly DryRun[]) =>
  Object.fromEntries(results.map(({ object, result, reason }) => [object, reason ?? result]));

const ACCEPTED = { Secret: 'passed', Deployment: 'passed', Service: 'passed', Pod: 'passed' };

/** What a server stores, without its own objects. */
const stored = (server: ApiServer) =>
  ['deployments', 'services', 'secrets', 'persistentvolumeclaims', 'replicasets', 'pods'].flatMap((resource) =>
    server.objects(resource).map(({ kind, metadata }) => `${kind}/${metadata.name}/${metadata.resourceVersion}`),
  );

test('each object and a pod are checked, and nothing is stored', async () => {
  const server = await anApiServer();
  const client = clientOf(server);
  expect(resultsOf(await ask(client, aDeployment(spec).manifest()))).toEqual(ACCEPTED);
  expect(stored(server)).toEqual([]);
  const writes = server.requests.filter(({ method }) => method !== 'GET');
  expect(writes.length).toBe(4);
  expect(writes.every(({ query }) => query.dryRun === 'All')).toBe(true);
});

test('a dry run of a change does not change the objects that exist', async () => {
  const server = await anApiServer();
  const client = clientOf(server);
  const deployment = aDeployment(spec);
  await reconcile(client, running(deployment.manifest()), deployment.fence());
  const before = stored(server);
  const changed = deployment.manifest({ generation: 8 }, { memory_request: '512Mi' });
  const ofChange = { before: { id: deployment.id, replicas: 1 }, replacesPods: true };
  expect(resultsOf(await ask(client, changed, ofChange))).toEqual(ACCEPTED);
  expect(stored(server)).toEqual(before);
});

test('a change that adds no pods asks about none', async () => {
  const server = await anApiServer();
  const client = clientOf(server);
  const deployment = aDeployment(spec);
  await reconcile(client, running(deployment.manifest({ replicas: 3 })), deployment.fence());
  const before = { id: deployment.id, replicas: 3 };
  const fewer = deployment.manifest({ generation: 8, replicas: 2 });
  expect(resultsOf(await ask(client, fewer, { before, replicas: 2 }))).not.toHaveProperty('Pod');
});

test('the pod has an owner as the pods of a controller, because policies refuse others', async () => {
  const server = await anApiServer();
  server.admission.webhooks.push({
    name: 'owners.example.test',
    kinds: ['Pod'],
    sideEffects: 'None',
    deny: ({ metadata }) => (metadata.ownerReferences?.some(({ controller }) => controller) ? undefined : 'no owner'),
  });
  expect(resultsOf(await ask(clientOf(server), aDeployment(spec).manifest()))).toEqual(ACCEPTED);
});

test('what a policy denies is refused with its sentence', async () => {
  const server = await anApiServer();
  server.admission.webhooks.push({
    name: 'teams.example.test',
    kinds: ['Deployment', 'Pod'],
    sideEffects: 'None',
    deny: ({ metadata }) => (metadata.labels?.team === undefined ? 'the label team is required' : undefined),
  });
  const results = await ask(clientOf(server), aDeployment(spec).manifest());
  expect(resultsOf(results)).toEqual({ ...ACCEPTED, Deployment: 'refused', Pod: 'refused' });
  expect(results.find(({ object }) => object === 'Pod')?.message).toBe(
    'admission webhook "teams.example.test" denied the request: the label team is required',
  );
});

test('Pod Security refuses the pod and names the rules, and not the Deployment', async () => {
  const server = await anApiServer();
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  server.put('namespaces', { metadata: { name: 'fleet', labels } });
  const root = altered(aDeployment(spec).manifest(), 'Deployment', {
    template: { spec: { containers: [{ name: 'main', image: 'app:1' }] } },
  });
  const results = await ask(clientOf(server), root);
  expect(resultsOf(results)).toMatchObject({ Deployment: 'passed', Pod: 'refused' });
  expect(results.find(({ object }) => object === 'Pod')?.message).toMatch(
    /violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false .*runAsNonRoot != true/,
  );
});

test('a quota and a limit range act on the pod', async () => {
  const server = await anApiServer();
  server.put('resourcequotas', { metadata: { name: 'compute' }, spec: { hard: { 'limits.cpu': '2' } } });
  const manifest = aDeployment(spec).manifest();
  const without = await ask(clientOf(server), manifest);
  expect(without.find(({ object }) => object === 'Pod')).toMatchObject({
    result: 'refused',
    message: expect.stringContaining('failed quota: compute: must specify limits.cpu'),
  });
  const limit = { type: 'Container', default: { cpu: '1', memory: '1Gi' } };
  server.put('limitranges', { metadata: { name: 'defaults' }, spec: { limits: [limit] } });
  expect(resultsOf(await ask(clientOf(server), manifest))).toEqual({ ...ACCEPTED, ResourceQuota: 'passed' });
});

describe('a quota', () => {
  /** A quota on requests, of which a deployment of two replicas uses 1 of `hard` CPUs. */
  async function withQuota(hard: string) {
    const server = await anApiServer();
    const client = clientOf(server);
    const deployment = aDeployment(spec);
    server.put('resourcequotas', {
      metadata: { name: 'compute' },
      spec: { hard: { 'requests.cpu': hard, pods: '10' } },
    });
    await reconcile(client, running(deployment.manifest({ replicas: 2 })), deployment.fence());
    const scaled = (replicas: number, given: object = {}) =>
      ask(client, deployment.manifest({ replicas, generation: 8 }), {
        before: { id: deployment.id, replicas: 2 },
        replicas,
        ...given,
      });
    const another = (replicas: number) => ask(client, aDeployment(spec).manifest({ replicas }), { replicas });
    return { scaled, another };
  }

  const quotaIn = (results: readonly DryRun[]) => results.find(({ object }) => object === 'ResourceQuota');

  test('is compared with all replicas, although a dry run asks about one pod', async () => {
    const { another } = await withQuota('3');
    expect(quotaIn(await another(4))).toMatchObject({ result: 'passed' });
    expect(quotaIn(await another(5))).toEqual({
      object: 'ResourceQuota',
      result: 'refused',
      reason: null,
      message: 'requests.cpu: 5 replicas need 2.5, and 2 of 3 are free',
    });
  });

  test('counts the present pods of the deployment as available to it', async () => {
    const { scaled } = await withQuota('3');
    expect(quotaIn(await scaled(6))).toMatchObject({ result: 'passed' });
    expect(quotaIn(await scaled(7))).toMatchObject({
      message: 'requests.cpu: 7 replicas need 3.5, and 3 of 3 are free',
    });
  });

  test('that is full refuses no pod that replaces another one of the deployment', async () => {
    const { scaled, another } = await withQuota('1');
    const podIn = (results: readonly DryRun[]) => results.find(({ object }) => object === 'Pod');
    const changed = await scaled(2, { replacesPods: true });
    expect(podIn(changed)).toMatchObject({ result: 'passed' });
    expect(quotaIn(changed)).toMatchObject({ result: 'refused' });
    expect(podIn(await another(1))).toMatchObject({ result: 'passed' });
  });

  test('must also admit the additional pod of a rolling update', async () => {
    const { scaled } = await withQuota('1500m');
    expect(quotaIn(await scaled(3))).toMatchObject({ result: 'passed' });
    expect(quotaIn(await scaled(3, { replacesPods: true }))).toMatchObject({
      message: 'requests.cpu: 3 replicas need 2 while being replaced, and 1.5 of 1.5 are free',
    });
  });
});

test('a mutating webhook and limit ranges count for the quotas', async () => {
  const server = await anApiServer();
  server.admission.webhooks.push({
    name: 'sidecars.example.test',
    kinds: ['Pod'],
    sideEffects: 'None',
    mutate: ({ spec: pod = {}, ...rest }) => {
      const sidecar = { name: 'proxy', image: 'proxy:1', resources: { requests: { cpu: '500m' } } };
      return { ...rest, spec: { ...pod, containers: [...(pod.containers as object[]), sidecar] } };
    },
  });
  server.put('resourcequotas', { metadata: { name: 'compute' }, spec: { hard: { 'requests.cpu': '1500m' } } });
  const results = await ask(clientOf(server), aDeployment(spec).manifest({ replicas: 2 }), { replicas: 2 });
  expect(results.find(({ object }) => object === 'ResourceQuota')?.message).toBe(
    'requests.cpu: 2 replicas need 2, and 1.5 of 1.5 are free',
  );
});

describe('an object is not checked', () => {
  test('but the sentence of the cluster about a quota is shown if the quotas cannot be read', async () => {
    const server = await anApiServer();
    server.forbidden.add('list resourcequotas');
    server.put('resourcequotas', { metadata: { name: 'compute' }, spec: { hard: { 'requests.cpu': '100m' } } });
    const results = await ask(clientOf(server), aDeployment(spec).manifest());
    expect(results.find(({ object }) => object === 'Pod')).toMatchObject({
      result: 'refused',
      message: expect.stringContaining('exceeded quota: compute'),
    });
  });

  test('without the permission, which is named', async () => {
    const server = await anApiServer();
    for (const rule of ['create pods', 'list resourcequotas']) server.forbidden.add(rule);
    const results = await ask(clientOf(server), aDeployment(spec).manifest());
    expect(resultsOf(results)).toEqual({ ...ACCEPTED, Pod: 'forbidden', ResourceQuota: 'forbidden' });
    expect(results.map(({ message }) => message).filter(Boolean)).toEqual([
      'The credentials lack permission to create pods in the namespace fleet.',
      'The credentials lack permission to list resourcequotas in the namespace fleet.',
    ]);
  });

  test('while the namespace does not exist', async () => {
    const server = await anApiServer({ namespaces: [] });
    const results = await ask(clientOf(server), aDeployment(spec).manifest());
    expect(new Set(results.map(({ reason }) => reason))).toEqual(new Set(['namespace_missing']));
    expect(results[0]?.message).toBe('The namespace fleet does not exist yet.');
  });

  test('if a webhook does not support dry runs', async () => {
    const server = await anApiServer();
    server.admission.webhooks.push({ name: 'old.example.test', kinds: ['Pod'], sideEffects: 'Some' });
    const results = await ask(clientOf(server), aDeployment(spec).manifest());
    expect(results.find(({ object }) => object === 'Pod')).toMatchObject({
      result: 'not_checked',
      reason: 'webhook',
      message: 'admission webhook "old.example.test" does not support dry run',
    });
  });

  test('if the cluster does not answer, and if it does not answer in time', async () => {
    const server = await anApiServer();
    const manifest = aDeployment(spec).manifest();
    server.inject(({ method }) => (method === 'GET' ? undefined : 'hang'));
    const late = await ask(clientOf(server, {}, { dryRun: 200 }), manifest);
    expect(resultsOf(late)).toMatchObject({ Deployment: 'timeout', Pod: 'timeout' });
    server.inject(() => 'reset');
    expect(resultsOf(await ask(clientOf(server), manifest))).toMatchObject({ Deployment: 'unreachable' });
  });
});

test('at most four dry runs of a cluster are in progress, also of several callers and registrations', async () => {
  const server = await anApiServer({ namespaces: ['fleet', 'team-a'] });
  server.inject(({ method }) => (method === 'GET' ? undefined : 'hang'));
  const { signal, abort } = aborting();
  const asked = ['one', 'two'].flatMap((caller) =>
    ['fleet', 'team-a'].map((namespace) =>
      ask(clientOf(server, { namespace }), aDeployment(spec, {}, { namespace }).manifest(), { caller, signal }),
    ),
  );
  const writes = () => server.requests.filter(({ method }) => method !== 'GET').length;
  await eventually('four dry runs are in progress', () => writes() === 4);
  await (await clientOf(server).apis()).version.getCode();
  expect(writes()).toBe(4);
  abort();
  for (const results of await Promise.all(asked))
    expect(new Set(results.map(({ result }) => result))).toEqual(new Set(['not_checked']));
  expect(writes()).toBe(4);
});

function aborting() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

test('a field of another manager is refused as at the change', async () => {
  const server = await anApiServer();
  const client = clientOf(server);
  const deployment = aDeployment(spec);
  await reconcile(client, running(deployment.manifest()), deployment.fence());
  server.edit('deployments', deployment.name, { manager: 'somebody', patch: { spec: { minReadySeconds: 60 } } });
  const results = await ask(client, deployment.manifest({ generation: 8 }), {
    before: { id: deployment.id, replicas: 1 },
  });
  expect(results.find(({ object }) => object === 'Deployment')).toMatchObject({
    result: 'refused',
    message: expect.stringContaining('.spec.minReadySeconds (somebody)'),
  });
});

test('an object that the change replaces is accepted, and a volume that it cannot change is not', async () => {
  const server = await anApiServer();
  const client = clientOf(server);
  const deployment = aDeployment({ ...spec, volume_mounts: [{ name: 'data', mountPath: '/data' }] });
  await reconcile(client, running(deployment.manifest()), deployment.fence());
  const selector = { matchLabels: { other: 'x' } };
  const replaced = altered(deployment.manifest({ generation: 8 }), 'Deployment', { selector });
  const changed = altered(replaced, 'PersistentVolumeClaim', { accessModes: ['ReadWriteMany'] });
  expect(resultsOf(await ask(client, changed, { before: { id: deployment.id, replicas: 1 } }))).toMatchObject({
    Deployment: 'passed',
    PersistentVolumeClaim: 'refused',
  });
});
