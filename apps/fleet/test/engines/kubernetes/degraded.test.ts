import { afterEach, describe, expect, test } from '@jest/globals';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import * as podStatuses from './api-server/controller/pod-status.ts';
import { aDeployment, anApiServer, clientOf, endAll, reconcileTo, running } from './world.ts';

afterEach(endAll);

const OOM = { exitCode: 137, reason: 'OOMKilled' };

describe('a deployment on a cluster', () => {
  test('is degraded if one of its pods crashes', async () => {
    const server = await anApiServer();
    const deployment = aDeployment({}, { replicas: 2 });
    const client = clientOf(server);
    await reconcileTo(client, { wanted: running(deployment.manifest()), fence: deployment.fence(), phase: 'running' });
    const [name = ''] = server
      .objects('pods')
      .map(({ metadata }) => metadata.name)
      .sort();
    server.setPodStatus(podStatuses.crashing(OOM), name);
    const found = await reconcile(client, running(deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ phase: 'degraded', reason: 'OOMKilled', next: 'retry' });
    expect(found.message).toMatch(/1 of 2 up\.$/);
    expect(found.instances.map(({ phase }) => phase)).toEqual(['crashed', 'running']);
  });

  test('is degraded if the pods of its next template crash, and the earlier pods continue', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    server.controls.podStatus = podStatuses.crashing({ exitCode: 1 });
    const next = running(deployment.manifest({ generation: 8 }, { command: ['no'] }));
    const found = await reconcile(client, next, deployment.fence(8));
    expect(found).toMatchObject({ phase: 'degraded', reason: 'CrashLoop' });
    expect(found.message).toMatch(/0 of 1 up, 1 still to be replaced\.$/);
  });

  test('reports why a volume is not bound', async () => {
    const server = await anApiServer();
    server.controls.bindsClaims = false;
    server.controls.podStatus = podStatuses.unschedulable(
      '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.',
    );
    const deployment = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const [volume = ''] = deployment.volumes;
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    server.warn(server.object('persistentvolumeclaims', volume), 'storageclass.storage.k8s.io "fast" not found');
    const found = await reconcile(client, running(deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ phase: 'retrying', reason: 'Unschedulable', volumes: [] });
    expect(found.message).toMatch(`The volume ${volume} is pending: storageclass.storage.k8s.io "fast" not found`);
  });

  test('reports a deleted volume as lost, and does not create it again', async () => {
    const server = await anApiServer();
    const deployment = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const [volume = ''] = deployment.volumes;
    const client = clientOf(server);
    const wanted = running(deployment.manifest(), { bound: [volume] });
    expect(await reconcile(client, running(deployment.manifest()), deployment.fence())).toMatchObject({
      volumes: [volume],
    });
    server.drop('persistentvolumeclaims', volume);
    const found = await reconcile(client, wanted, deployment.fence());
    expect(found).toMatchObject({ phase: 'degraded', reason: 'VolumeLost', next: 'settled', volumes: [], actions: [] });
    expect(found.message).toBe(`The volume ${volume} no longer exists in its cluster. Its data is lost.`);
    expect(server.objects('persistentvolumeclaims')).toEqual([]);
  });

  test('reports a volume as lost if its claim has the phase Lost', async () => {
    const server = await anApiServer();
    const deployment = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const [volume = ''] = deployment.volumes;
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    server.put('persistentvolumeclaims', {
      ...server.object('persistentvolumeclaims', volume),
      status: { phase: 'Lost' },
    });
    expect(await reconcile(client, running(deployment.manifest()), deployment.fence())).toMatchObject({
      reason: 'VolumeLost',
      volumes: [],
    });
  });
});
