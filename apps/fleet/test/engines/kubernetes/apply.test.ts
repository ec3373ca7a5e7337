import { afterEach, describe, expect, test } from '@jest/globals';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import type { ApiServer } from './api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, passTo, running } from './world.ts';

afterEach(endAll);

const patches = ({ requests }: ApiServer) => requests.filter(({ method }) => method === 'PATCH');

describe('what is applied', () => {
  test('is applied by the server, strictly, by one manager, and never by force unless that is said', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    await pass(clientOf(server), running(it.manifest()), it.fence());
    await pass(clientOf(server), running(it.manifest(), { takeOver: true }), it.fence());
    expect(patches(server).map(({ query, headers }) => [query, headers['content-type']])).toEqual(
      ['false', 'true'].map((force) => [
        { fieldManager: 'fleet', fieldValidation: 'Strict', force },
        'application/apply-patch+yaml',
      ]),
    );
    const [deployment] = server.objects('deployments');
    expect(deployment?.metadata.annotations).toMatchObject({ 'fleet/generation': '7' });
  });

  test('changes nothing and says nothing where nothing has changed', async () => {
    const server = await anApiServer();
    const it = aDeployment({
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      volume_mounts: [{ name: 'data', mountPath: '/d' }],
    });
    const client = clientOf(server);
    await passTo(client, { wanted: running(it.manifest()), fence: it.fence(), phase: 'running' });
    const before = server.objects('deployments');
    expect((await pass(client, running(it.manifest()), it.fence())).actions).toEqual([]);
    expect(server.objects('deployments')).toEqual(before);
  });

  test('is put right where somebody took a part of it away, and that is said', async () => {
    const server = await anApiServer();
    const it = aDeployment({ ports: [{ containerPort: 80, protocol: 'TCP' }] });
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    server.drop('services', it.name);
    const found = await pass(client, running(it.manifest(), { settled: true }), it.fence());
    expect(found.actions).toEqual([`created ${it.name} (Service) again: it was gone`]);
  });

  test('takes what is wanted no more away again, and never a volume', async () => {
    const server = await anApiServer();
    const it = aDeployment({
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      secret_refs: [{ name: 'password', env: 'PASSWORD' }],
      volume_mounts: [{ name: 'data', mountPath: '/data' }],
    });
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    server.put('services', { metadata: { name: 'a-strangers' }, spec: {} });
    const less = it.manifest({ generation: 8 }, { ports: [], secret_refs: [], volume_mounts: [] });
    const found = await passTo(client, { wanted: running(less), fence: it.fence(8), phase: 'running' });
    expect(found.actions).toEqual([
      `changed ${it.name} (Deployment)`,
      `removed ${it.name} (Service)`,
      `removed ${it.name} (Secret)`,
    ]);
    expect(server.objects('services').map(({ metadata }) => metadata.name)).toEqual(['a-strangers']);
    expect(server.objects('persistentvolumeclaims')).toHaveLength(1);
  });
});

describe('the namespace', () => {
  test('is made when it is not there', async () => {
    const server = await anApiServer({ namespaces: ['default'] });
    const it = aDeployment();
    const found = await pass(clientOf(server), running(it.manifest()), it.fence());
    expect(found.actions).toEqual(['created the namespace fleet', `created ${it.name} (Deployment)`]);
  });

  test('has to be made by somebody else where the credentials may not', async () => {
    const server = await anApiServer({ namespaces: [] });
    server.forbidden.add('create namespaces');
    const it = aDeployment();
    const found = await pass(clientOf(server), running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'failed', reason: 'AuthFailed', next: 'settled', actions: [] });
    expect(found.message).toBe(
      'There is no namespace fleet in the cluster, and the credentials that were given may not make one.',
    );
  });

  test('may be made by somebody else at the same time', async () => {
    const server = await anApiServer({ namespaces: [] });
    server.meddle(({ method }) => {
      if (method === 'POST') server.put('namespaces', { metadata: { name: 'fleet' } });
      return undefined;
    });
    const it = aDeployment();
    const found = await pass(clientOf(server), running(it.manifest()), it.fence());
    expect(found.actions).toEqual([`created ${it.name} (Deployment)`]);
  });

  test('that is being deleted is waited for', async () => {
    const server = await anApiServer({ namespaces: [] });
    server.put('namespaces', {
      metadata: { name: 'fleet', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['kubernetes'] },
    });
    const it = aDeployment();
    const found = await pass(clientOf(server), running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'retrying', message: 'The namespace fleet is being deleted.', next: 'retry' });
  });
});
