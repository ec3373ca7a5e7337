import { afterEach, describe, expect, test } from '@jest/globals';
import { removeVolume } from '../../../src/engines/kubernetes/cleanup.ts';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import { moment } from './api-server/objects.ts';
import { aDeployment, anApiServer, clientOf, endAll, running } from './world.ts';

afterEach(endAll);

/** A job that is running. */
async function aJob() {
  const server = await anApiServer();
  const deployment = aDeployment({ kind: 'job' });
  const client = clientOf(server);
  await reconcile(client, running(deployment.manifest()), deployment.fence());
  return { server, client, deployment };
}

describe('a deployment that is removed from a cluster', () => {
  test('is stopping until its pods are gone, and is checked less often when that takes too long', async () => {
    const { server, client, deployment } = await aJob();
    server.controls.delaysPodDeletion = true;
    const found = await reconcile(client, { kind: 'stopped' }, deployment.fence(8));
    const [pod] = server.objects('pods');
    expect(found).toMatchObject({ phase: 'stopping', next: 'soon', actions: [`removed ${deployment.name}-7 (Job)`] });
    expect(found.instances).toEqual([
      { name: pod?.metadata.name, phase: 'stopping', message: 'is being stopped', restarts: 0 },
    ]);
    expect(await reconcile(client, { kind: 'stopped' }, deployment.fence(8))).toMatchObject({
      phase: 'stopping',
      actions: [],
    });
    if (pod) server.put('pods', { ...pod, metadata: { ...pod.metadata, deletionTimestamp: moment(0) } });
    const late = await reconcile(client, { kind: 'stopped' }, deployment.fence(8));
    expect(late).toMatchObject({ phase: 'stopping', next: 'retry' });
    expect(late.message).toMatch(
      `The removal of ${pod?.metadata.name} is overdue: check its finalizers, and for a pod also its node. 2 still to be removed: `,
    );
    server.controls.delaysPodDeletion = false;
    server.settle();
    expect(await reconcile(client, { kind: 'stopped' }, deployment.fence(8))).toMatchObject({
      phase: 'stopped',
      next: 'settled',
    });
  });

  test('is deleting until all its objects are gone, its volumes last', async () => {
    const server = await anApiServer();
    const deployment = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const [volume = ''] = deployment.volumes;
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    server.controls.delaysPodDeletion = true;
    const gone = () => reconcile(client, { kind: 'gone', volumes: [volume] }, deployment.fence(8));
    expect((await gone()).actions).toEqual([`removed ${deployment.name} (Deployment)`, `removed the volume ${volume}`]);
    expect(await gone()).toMatchObject({ phase: 'deleting', next: 'soon', actions: [] });
    expect(server.objects('persistentvolumeclaims')).toHaveLength(1);
    server.controls.delaysPodDeletion = false;
    server.settle();
    expect(await gone()).toMatchObject({ phase: 'gone', next: 'settled', actions: [] });
    expect(server.objects('persistentvolumeclaims')).toEqual([]);
  });

  test('is not gone while one of its volumes exists', async () => {
    const server = await anApiServer();
    const deployment = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const [volume = ''] = deployment.volumes;
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    const { metadata, ...claim } = server.object('persistentvolumeclaims', volume);
    server.put('persistentvolumeclaims', { ...claim, metadata: { ...metadata, finalizers: ['a/backup'] } });
    const gone = { kind: 'gone' as const, volumes: [volume] };
    await reconcile(client, gone, deployment.fence(8));
    const found = await reconcile(client, gone, deployment.fence(8));
    expect(found).toMatchObject({ phase: 'deleting', next: 'soon', actions: [] });
    expect(found.message).toBe(`1 still to be removed: ${volume} (PersistentVolumeClaim).`);
    await expect(removeVolume(client, volume)).rejects.toThrow('is still in use, or its cluster is still removing it');
    server.drop('persistentvolumeclaims', volume);
    expect(await reconcile(client, gone, deployment.fence(8))).toMatchObject({ phase: 'gone' });
    expect(await removeVolume(client, volume)).toEqual([]);
  });

  test('and started again waits until the previous objects are gone', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    server.controls.delaysPodDeletion = true;
    await reconcile(client, { kind: 'stopped' }, deployment.fence(8));
    const again = () => reconcile(client, running(deployment.manifest({ generation: 9 })), deployment.fence(9));
    const waits = {
      phase: 'starting',
      next: 'soon',
      message: `Waiting for ${deployment.name} (Deployment) to be deleted.`,
      actions: [],
    };
    expect(await again()).toMatchObject(waits);
    server.controls.delaysPodDeletion = false;
    server.settle();
    expect(await again()).toMatchObject({ phase: 'running', actions: [`created ${deployment.name} (Deployment)`] });
  });

  test('reports the permission that its removal lacks', async () => {
    const { server, client, deployment } = await aJob();
    server.forbidden.add('delete jobs');
    const found = await reconcile(client, { kind: 'stopped' }, deployment.fence(8));
    expect(found).toMatchObject({ phase: 'stopping', reason: 'AuthFailed', next: 'retry' });
    expect(found.message).toBe('The credentials lack permission to delete jobs in the namespace fleet.');
  });
});
