import { afterEach, describe, expect, test } from '@jest/globals';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import type { ApiServer } from './api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, reconcileTo, running } from './world.ts';

afterEach(endAll);

const patches = ({ requests }: ApiServer) => requests.filter(({ method }) => method === 'PATCH');

describe('reconciling on a cluster', () => {
  test('uses strict server-side apply with one field manager, and forces conflicts only with takeOver', async () => {
    const server = await anApiServer();
    const own = aDeployment();
    await reconcile(clientOf(server), running(own.manifest()), own.fence());
    await reconcile(clientOf(server), running(own.manifest(), { takeOver: true }), own.fence());
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
    const deployment = aDeployment({
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      volume_mounts: [{ name: 'data', mountPath: '/d' }],
    });
    const client = clientOf(server);
    await reconcileTo(client, { wanted: running(deployment.manifest()), fence: deployment.fence(), phase: 'running' });
    const before = server.objects('deployments');
    expect((await reconcile(client, running(deployment.manifest()), deployment.fence())).actions).toEqual([]);
    expect(server.objects('deployments')).toEqual(before);
  });

  test('creates a deleted object again, and reports it', async () => {
    const server = await anApiServer();
    const deployment = aDeployment({ ports: [{ containerPort: 80, protocol: 'TCP' }] });
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    server.drop('services', deployment.name);
    const found = await reconcile(client, running(deployment.manifest(), { settled: true }), deployment.fence());
    expect(found.actions).toEqual([`created ${deployment.name} (Service) again: it was missing`]);
  });

  test('removes objects that are no longer in the manifest, except volumes', async () => {
    const server = await anApiServer();
    const deployment = aDeployment({
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      secret_refs: [{ name: 'password', env: 'PASSWORD' }],
      volume_mounts: [{ name: 'data', mountPath: '/data' }],
    });
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    server.put('services', { metadata: { name: 'a-strangers' }, spec: {} });
    const less = deployment.manifest({ generation: 8 }, { ports: [], secret_refs: [], volume_mounts: [] });
    const found = await reconcileTo(client, { wanted: running(less), fence: deployment.fence(8), phase: 'running' });
    expect(found.actions).toEqual([
      `changed ${deployment.name} (Deployment)`,
      `removed ${deployment.name} (Service)`,
      `removed ${deployment.name} (Secret)`,
    ]);
    expect(server.objects('services').map(({ metadata }) => metadata.name)).toEqual(['a-strangers']);
    expect(server.objects('persistentvolumeclaims')).toHaveLength(1);
  });
});

describe('the namespace of a cluster', () => {
  test('is created if it does not exist', async () => {
    const server = await anApiServer({ namespaces: ['default'] });
    const deployment = aDeployment();
    const found = await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(found.actions).toEqual(['created the namespace fleet', `created ${deployment.name} (Deployment)`]);
  });

  test('is reported as missing if the credentials do not permit its creation', async () => {
    const server = await anApiServer({ namespaces: [] });
    server.forbidden.add('create namespaces');
    const deployment = aDeployment();
    const found = await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ phase: 'failed', reason: 'AuthFailed', next: 'settled', actions: [] });
    expect(found.message).toBe('The namespace fleet does not exist, and the credentials lack permission to create it.');
  });

  test('may be created by another client at the same time', async () => {
    const server = await anApiServer({ namespaces: [] });
    server.inject(({ method }) => {
      if (method === 'POST') server.put('namespaces', { metadata: { name: 'fleet' } });
      return undefined;
    });
    const deployment = aDeployment();
    const found = await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(found.actions).toEqual([`created ${deployment.name} (Deployment)`]);
  });

  test('is waited for while it is being deleted', async () => {
    const server = await anApiServer({ namespaces: [] });
    server.put('namespaces', {
      metadata: { name: 'fleet', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['kubernetes'] },
    });
    const deployment = aDeployment();
    const found = await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ phase: 'retrying', message: 'The namespace fleet is being deleted.', next: 'retry' });
  });
});
