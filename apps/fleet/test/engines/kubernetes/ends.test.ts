import { afterEach, describe, expect, test } from '@jest/globals';
import { removeVolume } from '../../../src/engines/kubernetes/cleanup.ts';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import { moment } from './api-server/objects.ts';
import { aDeployment, anApiServer, clientOf, endAll, running } from './world.ts';

afterEach(endAll);

/** A job that runs. */
async function aJob() {
  const server = await anApiServer();
  const it = aDeployment({ kind: 'job' });
  const client = clientOf(server);
  await pass(client, running(it.manifest()), it.fence());
  return { server, client, it };
}

describe('what is to end', () => {
  test('is stopping until its pods are gone, and looked at less often when that takes too long', async () => {
    const { server, client, it } = await aJob();
    server.hands.keepsDying = true;
    const found = await pass(client, { kind: 'stopped' }, it.fence(8));
    const [pod] = server.objects('pods');
    expect(found).toMatchObject({ phase: 'stopping', next: 'soon', actions: [`removed ${it.name}-7 (Job)`] });
    expect(found.instances).toEqual([
      { name: pod?.metadata.name, phase: 'stopping', message: 'is being stopped', restarts: 0 },
    ]);
    expect(await pass(client, { kind: 'stopped' }, it.fence(8))).toMatchObject({ phase: 'stopping', actions: [] });
    if (pod) server.put('pods', { ...pod, metadata: { ...pod.metadata, deletionTimestamp: moment(0) } });
    const late = await pass(client, { kind: 'stopped' }, it.fence(8));
    expect(late).toMatchObject({ phase: 'stopping', next: 'retry' });
    expect(late.message).toMatch(`${pod?.metadata.name} should be gone by now. 2 still to be gone: `);
    server.hands.keepsDying = false;
    server.move();
    expect(await pass(client, { kind: 'stopped' }, it.fence(8))).toMatchObject({ phase: 'stopped', next: 'settled' });
  });

  test('for good is deleting until everything is gone, its volumes last', async () => {
    const server = await anApiServer();
    const it = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const [volume = ''] = it.volumes;
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    server.hands.keepsDying = true;
    const gone = () => pass(client, { kind: 'gone', volumes: [volume] }, it.fence(8));
    expect((await gone()).actions).toEqual([`removed ${it.name} (Deployment)`, `removed the volume ${volume}`]);
    expect(await gone()).toMatchObject({ phase: 'deleting', next: 'soon', actions: [] });
    expect(server.objects('persistentvolumeclaims')).toHaveLength(1);
    server.hands.keepsDying = false;
    server.move();
    expect(await gone()).toMatchObject({ phase: 'gone', next: 'settled', actions: [] });
    expect(server.objects('persistentvolumeclaims')).toEqual([]);
  });

  test('is not gone while one of its volumes is there', async () => {
    const server = await anApiServer();
    const it = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const [volume = ''] = it.volumes;
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    const { metadata, ...claim } = server.object('persistentvolumeclaims', volume);
    server.put('persistentvolumeclaims', { ...claim, metadata: { ...metadata, finalizers: ['a/backup'] } });
    const gone = { kind: 'gone' as const, volumes: [volume] };
    await pass(client, gone, it.fence(8));
    const found = await pass(client, gone, it.fence(8));
    expect(found).toMatchObject({ phase: 'deleting', next: 'soon', actions: [] });
    expect(found.message).toBe(`1 still to be gone: ${volume} (PersistentVolumeClaim).`);
    await expect(removeVolume(client, volume)).rejects.toThrow('is still in use, or its cluster is still removing it');
    server.drop('persistentvolumeclaims', volume);
    expect(await pass(client, gone, it.fence(8))).toMatchObject({ phase: 'gone' });
    expect(await removeVolume(client, volume)).toEqual([]);
  });

  test('and is to run again after all is waited for until it is gone', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    server.hands.keepsDying = true;
    await pass(client, { kind: 'stopped' }, it.fence(8));
    const again = () => pass(client, running(it.manifest({ generation: 9 })), it.fence(9));
    const waits = {
      phase: 'starting',
      next: 'soon',
      message: `Waits for ${it.name} (Deployment) to be gone.`,
      actions: [],
    };
    expect(await again()).toMatchObject(waits);
    server.hands.keepsDying = false;
    server.move();
    expect(await again()).toMatchObject({ phase: 'running', actions: [`created ${it.name} (Deployment)`] });
  });

  test('and may not be removed says what is not allowed', async () => {
    const { server, client, it } = await aJob();
    server.forbidden.add('delete jobs');
    const found = await pass(client, { kind: 'stopped' }, it.fence(8));
    expect(found).toMatchObject({ phase: 'stopping', reason: 'AuthFailed', next: 'retry' });
    expect(found.message).toBe('The credentials that were given may not delete jobs in the namespace fleet.');
  });
});
