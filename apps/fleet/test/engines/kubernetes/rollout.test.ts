import { afterEach, describe, expect, test } from '@jest/globals';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import * as fates from './api-server/fates.ts';
import { moment } from './api-server/objects.ts';
import { aDeployment, anApiServer, clientOf, endAll, passTo, running } from './world.ts';

afterEach(endAll);

/** A deployment that runs. */
async function aRunningOne(spec: Parameters<typeof aDeployment>[0] = {}, replicas = 2) {
  const server = await anApiServer();
  const it = aDeployment(spec, { replicas });
  const client = clientOf(server);
  await passTo(client, { wanted: running(it.manifest()), fence: it.fence(), phase: 'running' });
  const next = (more: Parameters<typeof it.manifest>[0] = {}) =>
    pass(client, running(it.manifest({ generation: 8, ...more })), it.fence(8));
  return { server, client, it, next };
}

const restarted = { restarted_at: '2026-01-01T00:00:00Z' };

describe('what is green', () => {
  test('before its controller has seen the change proves nothing', async () => {
    const { server, next } = await aRunningOne();
    server.hands.isFrozen = true;
    expect(await next(restarted)).toMatchObject({ phase: 'starting', next: 'soon' });
    expect(await next(restarted)).toMatchObject({ phase: 'starting', next: 'soon' });
    server.hands.isFrozen = false;
    server.move();
    expect(await next(restarted)).toMatchObject({ phase: 'running', next: 'settled' });
  });

  test('or red before its controller has seen the change proves nothing, however long it has been so', async () => {
    const { server, it, next } = await aRunningOne();
    const { status, ...deployment } = server.object('deployments', it.name);
    const late = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
    server.put('deployments', { ...deployment, status: { ...status, conditions: late } });
    server.become(fates.crashing({ exitCode: 1 }));
    server.hands.isFrozen = true;
    expect(await next(restarted)).toMatchObject({ phase: 'starting', reason: null, next: 'soon' });
    const patient = clientOf(server, {}, { overdue: -5000 });
    const wanted = running(it.manifest({ generation: 8, replicas: 2, ...restarted }));
    expect(await pass(patient, wanted, it.fence(8))).toMatchObject({ phase: 'starting', next: 'soon' });
  });

  test('while a pod of an older template is there proves nothing', async () => {
    const { server, next } = await aRunningOne();
    server.hands.keepsDying = true;
    const found = await next(restarted);
    expect(found).toMatchObject({ phase: 'starting', next: 'soon', message: '2 of 2 up.' });
    expect(found.instances.map(({ phase }) => phase).sort()).toEqual(['running', 'running', 'stopping', 'stopping']);
    server.hands.keepsDying = false;
    server.move();
    expect(await next(restarted)).toMatchObject({ phase: 'running' });
  });

  test('for a moment after a disturbance proves nothing', async () => {
    const { server, next } = await aRunningOne();
    await next();
    server.become(fates.running(0), ...server.objects('pods').map(({ metadata }) => metadata.name));
    expect(await next()).toMatchObject({ phase: 'starting', next: 'soon', message: '0 of 2 up.' });
  });

  test('is green for as long as the clock of the cluster says, not ours', async () => {
    const { server, next } = await aRunningOne();
    server.aheadMs = -3_600_000;
    server.become(fates.running(3_500_000));
    expect(await next()).toMatchObject({ phase: 'starting', message: '0 of 2 up.' });
  });

  test('in the words of the controller alone proves nothing', async () => {
    const { server, it, next } = await aRunningOne();
    await next();
    server.hands.isFrozen = true;
    const [pod] = server.objects('pods');
    if (pod) server.drop('pods', pod.metadata.name);
    expect(server.object('deployments', it.name).status).toMatchObject({ availableReplicas: 2 });
    expect(await next()).toMatchObject({ phase: 'starting', next: 'soon', message: '1 of 2 up.' });
  });
});

describe('a rollout', () => {
  test('of a volume for one node has the old pod gone before the new one starts', async () => {
    const { server, next } = await aRunningOne({ volume_mounts: [{ name: 'data', mountPath: '/data' }] }, 1);
    server.hands.keepsDying = true;
    expect(await next(restarted)).toMatchObject({ phase: 'starting' });
    expect(server.objects('pods')).toHaveLength(1);
    server.hands.keepsDying = false;
    server.move();
    expect(await next(restarted)).toMatchObject({ phase: 'running' });
    expect(server.objects('pods')).toHaveLength(1);
  });

  test('waits for the pods that are too many', async () => {
    const { server, it, next } = await aRunningOne({}, 3);
    server.hands.keepsDying = true;
    expect(await next({ replicas: 1 })).toMatchObject({ phase: 'starting', message: '1 of 1 up.', next: 'soon' });
    server.hands.keepsDying = false;
    server.move();
    expect(await next({ replicas: 1 })).toMatchObject({ phase: 'running' });
    expect(server.object('deployments', it.name).spec).toMatchObject({ replicas: 1 });
  });

  test('to none at all stops', async () => {
    const { server, next } = await aRunningOne();
    server.hands.keepsDying = true;
    expect(await next({ replicas: 0 })).toMatchObject({ phase: 'stopping', next: 'soon' });
    server.hands.keepsDying = false;
    server.move();
    expect(await next({ replicas: 0 })).toMatchObject({
      phase: 'stopped',
      message: 'Nothing of it is to run.',
      instances: [],
    });
  });

  test('does not wait for ever for a pod whose node is gone', async () => {
    const { server, next } = await aRunningOne();
    server.hands.keepsDying = true;
    await next(restarted);
    for (const pod of server.objects('pods').filter(({ metadata }) => metadata.deletionTimestamp)) {
      server.put('pods', { ...pod, metadata: { ...pod.metadata, deletionTimestamp: moment(0) } });
    }
    const found = await next(restarted);
    expect(found).toMatchObject({ phase: 'degraded', reason: null, next: 'settled' });
    expect(found.message).toMatch(/should be gone, and its node does not say that it is\. 2 of 2 up\.$/);
  });

  test('counts no pod that its node has thrown out', async () => {
    const { server, next } = await aRunningOne();
    await next();
    const [pod] = server.objects('pods');
    server.become(fates.evicted('The node was low on resource: memory.'), pod?.metadata.name ?? '');
    const found = await next();
    expect(found).toMatchObject({ phase: 'running', message: '2 of 2 up.' });
    expect(found.instances.map(({ phase }) => phase).sort()).toEqual(['failed', 'running', 'running']);
  });

  test('back to an earlier template is one like any other', async () => {
    const { client, it, next } = await aRunningOne();
    await next(restarted);
    const back = await pass(client, running(it.manifest({ generation: 9 })), it.fence(9));
    expect(back).toMatchObject({ phase: 'running', message: '2 of 2 up.' });
  });
});
