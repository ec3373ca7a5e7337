import { afterEach, describe, expect, test } from '@jest/globals';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import type { ApiServer } from './api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, reconcileTo, running } from './world.ts';

afterEach(endAll);

const patches = ({ requests }: ApiServer) => requests.filter(({ method }) => method === 'PATCH');

describe('reconciling on a cluster', () => {
  test('uses strict server-side apply with one field manager, and forces conflicts only with takeOver', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    await reconcile(clientOf(server), running(it.manifest()), it.fence());
    await reconcile(clientOf(server), running(it.manifest(), { takeOver: true }), it.fence());
    expect(patches(server).map(({ query, headers }) => [query, headers['content-type']])).toEqual(
      ['false', 'true'].map((force) => [
        { fieldManager: 'fleet', fieldValidation: 'Strict', force },
        'application/apply-patch+yaml',
      ]),
    );
    const [deployment] = server.objects('deployments');
    expect(deployment?.metadata.annotations).toMatchObject({ 'fleet/generation': '7' });
  });

  test('changes nothing and reports no action when nothing differs', async () => {
    const server = await anApiServer();
    const it = aDeployment({
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      volume_mounts: [{ name: 'data', mountPath: '/d' }],
    });
    const client = clientOf(server);
    await reconcileTo(client, { wanted: running(it.manifest()), fence: it.fence(), phase: 'running' });
    const before = server.objects('deployments');
    expect((await reconcile(client, running(it.manifest()), it.fence())).actions).toEqual([]);
    expect(server.objects('deployments')).toEqual(before);
  });

  test('creates a deleted object again, and reports it', async () => {
    const server = await anApiServer();
    const it = aDeployment({ ports: [{ containerPort: 80, protocol: 'TCP' }] });
    const client = clientOf(server);
    await reconcile(client, running(it.manifest()), it.fence());
    server.drop('services', it.name);
    const found = await reconcile(client, running(it.manifest(), { settled: true }), it.fence());
    expect(found.actions).toEqual([`created ${it.name} (Service) again: it was missing`]);
  });

  test('removes objects that are no longer in the manifest, except volumes', async () => {
    const server = await anApiServer();
    const it = aDeployment({
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      secret_refs: [{ name: 'password', env: 'PASSWORD' }],
      volume_mounts: [{ name: 'data', mountPath: '/data' }],
    });
    const client = clientOf(server);
    await reconcile(client, running(it.manifest()), it.fence());
    server.put('services', { metadata: { name: 'a-strangers' }, spec: {} });
    const less = it.manifest({ generation: 8 }, { ports: [], secret_refs: [], volume_mounts: [] });
    const found = await reconcileTo(client, { wanted: running(less), fence: it.fence(8), phase: 'running' });
    expect(found.actions).toEqual([
      `changed ${it.name} (Deployment)`,
      `removed ${it.name} (Service)`,
      `removed ${it.name} (Secret)`,
    ]);
    expect(server.objects('services').map(({ metadata }) => metadata.name)).toEqual(['a-strangers']);
    expect(server.objects('persistentvolumeclaims')).toHaveLength(1);
  });
});

describe('the namespace of a cluster', () => {
  test('is created if it does not exist', async () => {
    const server = await anApiServer({ namespaces: ['default'] });
    const it = aDeployment();
    const found = await reconcile(clientOf(server), running(it.manifest()), it.fence());
    expect(found.actions).toEqual(['created the namespace fleet', `created ${it.name} (Deployment)`]);
  });

  test('is reported as missing if the credentials do not permit its creation', async () => {
    const server = await anApiServer({ namespaces: [] });
    server.forbidden.add('create namespaces');
    const it = aDeployment();
    const found = await reconcile(clientOf(server), running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'failed', reason: 'AuthFailed', next: 'settled', actions: [] });
    expect(found.message).toBe('The namespace fleet does not exist, and the credentials lack permission to create it.');
  });

  test('may be created by another client at the same time', async () => {
    const server = await anApiServer({ namespaces: [] });
    server.inject(({ method }) => {
      if (method === 'POST') server.put('namespaces', { metadata: { name: 'fleet' } });
      return undefined;
    });
    const it = aDeployment();
    const found = await reconcile(clientOf(server), running(it.manifest()), it.fence());
    expect(found.actions).toEqual([`created ${it.name} (Deployment)`]);
  });

  test('is waited for while it is being deleted', async () => {
    const server = await anApiServer({ namespaces: [] });
    server.put('namespaces', {
      metadata: { name: 'fleet', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['kubernetes'] },
    });
    const it = aDeployment();
    const found = await reconcile(clientOf(server), running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'retrying', message: 'The namespace fleet is being deleted.', next: 'retry' });
  });
});
