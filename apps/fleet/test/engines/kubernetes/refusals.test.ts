import { afterEach, describe, expect, test } from '@jest/globals';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import { deploymentOf } from '../../render/kubernetes/helpers.ts';
import { at } from './api-server/objects.ts';
import { aDeployment, altered, anApiServer, clientOf, endAll, reconcileTo, running } from './world.ts';

afterEach(endAll);

describe('a field that another field manager has set', () => {
  const scaled = { manager: 'kubectl-edit', patch: { spec: { replicas: 5 } } };

  test('is left alone, and the manager and the field are reported', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(it.manifest()), it.fence());
    server.edit('deployments', it.name, scaled);
    const found = await reconcile(client, running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'degraded', reason: 'FieldConflict', next: 'settled', actions: [] });
    expect(found.message).toBe(
      `Other field managers own fields of ${it.name} (Deployment): .spec.replicas (kubectl-edit).`,
    );
    expect(at(server.object('deployments', it.name), 'spec.replicas')).toBe(5);
  });

  test('is taken over on request', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(it.manifest()), it.fence());
    server.edit('deployments', it.name, scaled);
    const wanted = running(it.manifest(), { takeOver: true });
    const found = await reconcileTo(client, { wanted, fence: it.fence(), phase: 'running' });
    expect(found.actions).toEqual([`changed ${it.name} (Deployment)`]);
    expect(at(server.object('deployments', it.name), 'spec.replicas')).toBe(1);
  });

  test('outside the manifest keeps its value', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(it.manifest()), it.fence());
    server.edit('deployments', it.name, { manager: 'kubectl-edit', patch: { spec: { paused: false } } });
    const next = running(it.manifest({ generation: 8, replicas: 2 }));
    expect(await reconcile(client, next, it.fence(8))).toMatchObject({ reason: null });
    expect(at(server.object('deployments', it.name), 'spec.paused')).toBe(false);
  });
});

describe('a manifest that the cluster rejects', () => {
  test('is reported with its invalid fields', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const found = await reconcile(
      clientOf(server),
      running(altered(it.manifest(), 'Deployment', { replicas: -1 })),
      it.fence(),
    );
    expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', next: 'settled' });
    expect(found.message).toBe(
      `The cluster rejects ${it.name} (Deployment) as invalid: spec.replicas. The engine reported: ` +
        `deployments.apps "${it.name}" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`,
    );
  });

  test('for an unknown field has failed, regardless of the status of the response', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const found = await reconcile(
      clientOf(server),
      running(altered(it.manifest(), 'Deployment', { replica: 1 })),
      it.fence(),
    );
    expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', next: 'settled' });
    expect(found.message).toMatch(`The cluster does not support the field .spec.replica of ${it.name} (Deployment).`);
  });

  test('by a policy has failed, and by an exceeded quota is retried', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const forbid = (why: string) =>
      server.inject(({ method }) => {
        const body = {
          kind: 'Status',
          apiVersion: 'v1',
          reason: 'Forbidden',
          message: `deployments.apps "x" is forbidden: ${why}`,
        };
        return method === 'PATCH' ? { status: 403, body: JSON.stringify(body) } : undefined;
      });
    forbid('violates PodSecurity "restricted:latest"');
    const found = await reconcile(clientOf(server), running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', next: 'settled' });
    expect(found.message).toMatch(/^A policy of the cluster rejects .* violates PodSecurity/);
    forbid('exceeded quota: compute, requested: cpu=4');
    const full = await reconcile(clientOf(server), running(it.manifest()), it.fence());
    expect(full).toMatchObject({ phase: 'retrying', reason: 'Unschedulable', next: 'retry' });
  });
});

describe('an immutable field', () => {
  test('is changed by creating the Deployment again', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    const labels = { ...it.manifest().objects[0]?.metadata?.labels, track: 'a' };
    const template = deploymentOf(it.manifest().objects).template;
    const other = altered(it.manifest(), 'Deployment', {
      selector: { matchLabels: labels },
      template: { ...template, metadata: { ...template.metadata, labels } },
    });
    await reconcile(client, running(other), it.fence());
    const { uid } = server.object('deployments', it.name).metadata;
    const found = await reconcileTo(client, { wanted: running(it.manifest()), fence: it.fence(), phase: 'running' });
    expect(found.actions).toEqual([
      `removed ${it.name} (Deployment): it must be replaced, because an immutable field has changed`,
      `created ${it.name} (Deployment)`,
    ]);
    expect(server.object('deployments', it.name).metadata.uid).not.toBe(uid);
  });

  test('of a volume cannot be changed, and the volume is never created again', async () => {
    const server = await anApiServer();
    const it = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const client = clientOf(server);
    await reconcile(client, running(it.manifest()), it.fence());
    const before = server.objects('persistentvolumeclaims');
    const other = altered(it.manifest(), 'PersistentVolumeClaim', { storageClassName: 'fast' });
    const found = await reconcile(client, running(other), it.fence());
    expect(found).toMatchObject({ phase: 'degraded', reason: 'InvalidSpec', next: 'settled', actions: [] });
    expect(server.objects('persistentvolumeclaims')).toEqual(before);
  });
});
