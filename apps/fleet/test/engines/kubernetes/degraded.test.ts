import { afterEach, describe, expect, test } from '@jest/globals';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import * as fates from './api-server/fates.ts';
import { aDeployment, anApiServer, clientOf, endAll, passTo, running } from './world.ts';

afterEach(endAll);

const OOM = { exitCode: 137, reason: 'OOMKilled' };

describe('a deployment of which something runs', () => {
  test('is degraded where one of its pods crashes', async () => {
    const server = await anApiServer();
    const it = aDeployment({}, { replicas: 2 });
    const client = clientOf(server);
    await passTo(client, { wanted: running(it.manifest()), fence: it.fence(), phase: 'running' });
    const [name = ''] = server
      .objects('pods')
      .map(({ metadata }) => metadata.name)
      .sort();
    server.become(fates.crashing(OOM), name);
    const found = await pass(client, running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'degraded', reason: 'OOMKilled', next: 'retry' });
    expect(found.message).toMatch(/1 of 2 up\.$/);
    expect(found.instances.map(({ phase }) => phase)).toEqual(['crashed', 'running']);
  });

  test('is degraded where the pods of its next template crash, and those before go on', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    server.hands.fate = fates.crashing({ exitCode: 1 });
    const next = running(it.manifest({ generation: 8 }, { command: ['no'] }));
    const found = await pass(client, next, it.fence(8));
    expect(found).toMatchObject({ phase: 'degraded', reason: 'CrashLoop' });
    expect(found.message).toMatch(/0 of 1 up, 1 still to be replaced\.$/);
  });

  test('of a volume that is not made tells why', async () => {
    const server = await anApiServer();
    server.hands.bindsClaims = false;
    server.hands.fate = fates.unschedulable(
      '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.',
    );
    const it = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const [volume = ''] = it.volumes;
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    server.warn(server.object('persistentvolumeclaims', volume), 'storageclass.storage.k8s.io "fast" not found');
    const found = await pass(client, running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'retrying', reason: 'Unschedulable', volumes: [] });
    expect(found.message).toMatch(`The volume ${volume} waits: storageclass.storage.k8s.io "fast" not found`);
  });

  test('of a volume that is lost says so, and does not make it anew', async () => {
    const server = await anApiServer();
    const it = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const [volume = ''] = it.volumes;
    const client = clientOf(server);
    const wanted = running(it.manifest(), { bound: [volume] });
    expect(await pass(client, running(it.manifest()), it.fence())).toMatchObject({ volumes: [volume] });
    server.drop('persistentvolumeclaims', volume);
    const found = await pass(client, wanted, it.fence());
    expect(found).toMatchObject({ phase: 'degraded', reason: 'VolumeLost', next: 'settled', volumes: [], actions: [] });
    expect(found.message).toBe(`The volume ${volume} is gone from its cluster, with what was in it.`);
    expect(server.objects('persistentvolumeclaims')).toEqual([]);
  });

  test('of a volume whose cluster has lost it says so', async () => {
    const server = await anApiServer();
    const it = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const [volume = ''] = it.volumes;
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    server.put('persistentvolumeclaims', {
      ...server.object('persistentvolumeclaims', volume),
      status: { phase: 'Lost' },
    });
    expect(await pass(client, running(it.manifest()), it.fence())).toMatchObject({ reason: 'VolumeLost', volumes: [] });
  });
});
