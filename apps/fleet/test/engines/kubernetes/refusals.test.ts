import { afterEach, describe, expect, test } from '@jest/globals';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import { deploymentOf } from '../../render/kubernetes-words.ts';
import { at } from './api-server/objects.ts';
import { aDeployment, altered, anApiServer, clientOf, endAll, passTo, running } from './world.ts';

afterEach(endAll);

describe('what somebody else has set', () => {
  const scaled = { manager: 'kubectl-edit', patch: { spec: { replicas: 5 } } };

  test('is left alone, and its owner and the field are named', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    server.edit('deployments', it.name, scaled);
    const found = await pass(client, running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'degraded', reason: 'FieldConflict', next: 'settled', actions: [] });
    expect(found.message).toBe(
      `Somebody else has set fields of ${it.name} (Deployment): .spec.replicas (kubectl-edit).`,
    );
    expect(at(server.object('deployments', it.name), 'spec.replicas')).toBe(5);
  });

  test('is taken over where that is asked for', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    server.edit('deployments', it.name, scaled);
    const wanted = running(it.manifest(), { takeOver: true });
    const found = await passTo(client, { wanted, fence: it.fence(), phase: 'running' });
    expect(found.actions).toEqual([`changed ${it.name} (Deployment)`]);
    expect(at(server.object('deployments', it.name), 'spec.replicas')).toBe(1);
  });

  test('beside what we say stays as it is', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    server.edit('deployments', it.name, { manager: 'kubectl-edit', patch: { spec: { paused: false } } });
    const next = running(it.manifest({ generation: 8, replicas: 2 }));
    expect(await pass(client, next, it.fence(8))).toMatchObject({ reason: null });
    expect(at(server.object('deployments', it.name), 'spec.paused')).toBe(false);
  });
});

describe('what no cluster takes', () => {
  test('is named by its fields', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const found = await pass(
      clientOf(server),
      running(altered(it.manifest(), 'Deployment', { replicas: -1 })),
      it.fence(),
    );
    expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', next: 'settled' });
    expect(found.message).toBe(
      `The cluster does not take ${it.name} (Deployment) as it is: spec.replicas. The engine says: ` +
        `deployments.apps "${it.name}" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`,
    );
  });

  test('and is no field at all is for good, whatever its status', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const found = await pass(
      clientOf(server),
      running(altered(it.manifest(), 'Deployment', { replica: 1 })),
      it.fence(),
    );
    expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', next: 'settled' });
    expect(found.message).toMatch(`The cluster knows no field .spec.replica of ${it.name} (Deployment).`);
  });

  test('since a rule of it forbids that is for good, and since a quota is used up is tried again', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const forbid = (why: string) =>
      server.meddle(({ method }) => {
        const body = {
          kind: 'Status',
          apiVersion: 'v1',
          reason: 'Forbidden',
          message: `deployments.apps "x" is forbidden: ${why}`,
        };
        return method === 'PATCH' ? { status: 403, body: JSON.stringify(body) } : undefined;
      });
    forbid('violates PodSecurity "restricted:latest"');
    const found = await pass(clientOf(server), running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', next: 'settled' });
    expect(found.message).toMatch(/^A rule of the cluster forbids .* violates PodSecurity/);
    forbid('exceeded quota: compute, requested: cpu=4');
    const full = await pass(clientOf(server), running(it.manifest()), it.fence());
    expect(full).toMatchObject({ phase: 'retrying', reason: 'Unschedulable', next: 'retry' });
  });
});

describe('what can never be changed', () => {
  test('is made anew where it is ours', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    const labels = { ...it.manifest().objects[0]?.metadata?.labels, track: 'a' };
    const template = deploymentOf(it.manifest().objects).template;
    const other = altered(it.manifest(), 'Deployment', {
      selector: { matchLabels: labels },
      template: { ...template, metadata: { ...template.metadata, labels } },
    });
    await pass(client, running(other), it.fence());
    const { uid } = server.object('deployments', it.name).metadata;
    const found = await passTo(client, { wanted: running(it.manifest()), fence: it.fence(), phase: 'running' });
    expect(found.actions).toEqual([
      `removed ${it.name} (Deployment): it is made anew, as it can't be changed`,
      `created ${it.name} (Deployment)`,
    ]);
    expect(server.object('deployments', it.name).metadata.uid).not.toBe(uid);
  });

  test('of a volume is for good: it is never made anew', async () => {
    const server = await anApiServer();
    const it = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    const before = server.objects('persistentvolumeclaims');
    const other = altered(it.manifest(), 'PersistentVolumeClaim', { storageClassName: 'fast' });
    const found = await pass(client, running(other), it.fence());
    expect(found).toMatchObject({ phase: 'degraded', reason: 'InvalidSpec', next: 'settled', actions: [] });
    expect(server.objects('persistentvolumeclaims')).toEqual(before);
  });
});
