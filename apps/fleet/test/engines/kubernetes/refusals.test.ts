import { afterEach, describe, expect, test } from '@jest/globals';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import { deploymentOf } from '../../render/kubernetes/helpers.ts';
import { at, type Tree } from './api-server/objects.ts';
import type { ApiServer } from './api-server.ts';
import { aDeployment, altered, anApiServer, clientOf, endAll, reconcileTo, running } from './world.ts';

afterEach(endAll);

describe('a field that another field manager has set', () => {
  const edited = { manager: 'kubectl-edit', patch: { spec: { progressDeadlineSeconds: 60 } } };
  const deadlineOf = (server: ApiServer, name: string) =>
    at(server.object('deployments', name), 'spec.progressDeadlineSeconds');

  test('is left alone, and the manager and the field are reported', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    server.edit('deployments', deployment.name, edited);
    const found = await reconcile(client, running(deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ phase: 'degraded', reason: 'FieldConflict', next: 'settled', actions: [] });
    expect(found.message).toBe(
      `Other field managers own fields of ${deployment.name} (Deployment): .spec.progressDeadlineSeconds (kubectl-edit).`,
    );
    expect(deadlineOf(server, deployment.name)).toBe(60);
  });

  test('is taken over on request', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    server.edit('deployments', deployment.name, edited);
    const wanted = running(deployment.manifest(), { takeOver: true });
    const found = await reconcileTo(client, { wanted, fence: deployment.fence(), phase: 'running' });
    expect(found.actions).toEqual([`changed ${deployment.name} (Deployment)`]);
    expect(deadlineOf(server, deployment.name)).toBe(1800);
  });

  test('outside the manifest keeps its value', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    server.edit('deployments', deployment.name, { manager: 'kubectl-edit', patch: { spec: { paused: false } } });
    const next = running(deployment.manifest({ generation: 8, replicas: 2 }));
    expect(await reconcile(client, next, deployment.fence(8))).toMatchObject({ reason: null });
    expect(at(server.object('deployments', deployment.name), 'spec.paused')).toBe(false);
  });
});

describe('a manifest that the cluster rejects', () => {
  test('is reported with its invalid fields', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const found = await reconcile(
      clientOf(server),
      running(altered(deployment.manifest(), 'Deployment', { replicas: -1 })),
      deployment.fence(),
    );
    expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', next: 'settled' });
    expect(found.message).toBe(
      `The cluster rejects ${deployment.name} (Deployment) as invalid: spec.replicas. The engine reported: ` +
        `deployments.apps "${deployment.name}" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`,
    );
  });

  test('for an unknown field has failed, regardless of the status of the response', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const found = await reconcile(
      clientOf(server),
      running(altered(deployment.manifest(), 'Deployment', { replica: 1 })),
      deployment.fence(),
    );
    expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', next: 'settled' });
    expect(found.message).toMatch(
      `The cluster does not support the field .spec.replica of ${deployment.name} (Deployment).`,
    );
  });

  test('by a policy has failed, and by an exceeded quota is retried', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
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
    const found = await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', next: 'settled' });
    expect(found.message).toMatch(/^A policy of the cluster rejects .* violates PodSecurity/);
    forbid('exceeded quota: compute, requested: cpu=4');
    const full = await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(full).toMatchObject({ phase: 'retrying', reason: 'Unschedulable', next: 'retry' });
  });
});

test('a webhook that does not answer is named, and the change is tried again', async () => {
  const server = await anApiServer();
  const deployment = aDeployment();
  const sentence = 'failed calling webhook "team.example.test": Post "https://10.0.0.1/": connection refused';
  const body = { kind: 'Status', reason: 'InternalError', message: `Internal error occurred: ${sentence}` };
  server.inject(({ method }) => (method === 'PATCH' ? { status: 500, body: JSON.stringify(body) } : undefined));
  const found = await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
  expect(found).toMatchObject({ phase: 'retrying', reason: 'EngineError', next: 'retry' });
  expect(found.message).toMatch(
    /because its admission webhook team\.example\.test did not answer\. Repair the webhook/,
  );
  expect(found.message).toContain(`The engine reported: ${sentence}`);
});

describe('an object that the cluster refuses', () => {
  const spec = {
    ports: [{ containerPort: 80, protocol: 'TCP' as const }],
    secret_refs: [{ name: 'password', env: 'PASSWORD' }],
    volume_mounts: [{ name: 'data', mountPath: '/data' }],
  };

  /** Applies a deployment, and then its next generation while the cluster refuses objects of a kind. */
  async function refusing(resource: string) {
    const server = await anApiServer();
    const deployment = aDeployment(spec);
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    const message = `${resource} "x" is forbidden: only dynamically provisioned pvc can be resized`;
    const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', reason: 'Forbidden', message });
    server.inject(({ method, path }) =>
      method === 'PATCH' && path.includes(`/${resource}/`) ? { status: 403, body } : undefined,
    );
    const size = { resources: { requests: { storage: '20Gi' } } };
    const next = altered(
      deployment.manifest({ generation: 8 }, { image_tag: '2', ports: [] }),
      'PersistentVolumeClaim',
      size,
    );
    const found = await reconcile(client, running(next, { bound: deployment.volumes }), deployment.fence(8));
    const [container] = at(server.object('deployments', deployment.name), 'spec.template.spec.containers') as Tree[];
    return { found, image: container?.image, services: server.objects('services') };
  }

  test('does not prevent the others from being changed and removed', async () => {
    const { found, image, services } = await refusing('persistentvolumeclaims');
    expect(found).toMatchObject({ reason: 'InvalidSpec', message: expect.stringContaining('can be resized') });
    expect(image).toMatch(/:2$/);
    expect(services).toEqual([]);
  });

  test('keeps the pods of the earlier generation if the new ones need it', async () => {
    const { found, image, services } = await refusing('secrets');
    expect(found).toMatchObject({ reason: 'InvalidSpec', message: expect.stringContaining('(Secret)') });
    expect(image).not.toMatch(/:2$/);
    expect(services).toHaveLength(1);
  });
});

describe('an immutable field', () => {
  test('is changed by creating the Deployment again', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const client = clientOf(server);
    const labels = { ...deployment.manifest().objects[0]?.metadata?.labels, track: 'a' };
    const template = deploymentOf(deployment.manifest().objects).template;
    const other = altered(deployment.manifest(), 'Deployment', {
      selector: { matchLabels: labels },
      template: { ...template, metadata: { ...template.metadata, labels } },
    });
    await reconcile(client, running(other), deployment.fence());
    const { uid } = server.object('deployments', deployment.name).metadata;
    const found = await reconcileTo(client, {
      wanted: running(deployment.manifest()),
      fence: deployment.fence(),
      phase: 'running',
    });
    expect(found.actions).toEqual([
      `removed ${deployment.name} (Deployment): it must be replaced, because an immutable field has changed`,
      `created ${deployment.name} (Deployment)`,
    ]);
    expect(server.object('deployments', deployment.name).metadata.uid).not.toBe(uid);
  });

  test('of a volume cannot be changed, and the volume is never created again', async () => {
    const server = await anApiServer();
    const deployment = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    const before = server.objects('persistentvolumeclaims');
    const other = altered(deployment.manifest(), 'PersistentVolumeClaim', { storageClassName: 'fast' });
    const found = await reconcile(client, running(other), deployment.fence());
    expect(found).toMatchObject({ phase: 'degraded', reason: 'InvalidSpec', next: 'settled', actions: [] });
    expect(server.objects('persistentvolumeclaims')).toEqual(before);
  });
});
