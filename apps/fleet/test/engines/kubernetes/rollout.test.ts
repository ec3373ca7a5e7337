import { afterEach, describe, expect, test } from '@jest/globals';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import * as podStatuses from './api-server/controller/pod-status.ts';
import { moment } from './api-server/objects.ts';
import { aDeployment, anApiServer, clientOf, endAll, reconcileTo, running } from './world.ts';

afterEach(endAll);

/** A deployment that is running. */
async function aRunningDeployment(spec: Parameters<typeof aDeployment>[0] = {}, replicas = 2) {
  const server = await anApiServer();
  const deployment = aDeployment(spec, { replicas });
  const client = clientOf(server);
  await reconcileTo(client, { wanted: running(deployment.manifest()), fence: deployment.fence(), phase: 'running' });
  const next = (more: Parameters<typeof deployment.manifest>[0] = {}) =>
    reconcile(client, running(deployment.manifest({ generation: 8, ...more })), deployment.fence(8));
  return { server, client, deployment, next };
}

const restarted = { restarted_at: '2026-01-01T00:00:00Z' };

describe('a deployment on a cluster is starting', () => {
  test('while its controller has not observed the change', async () => {
    const { server, next } = await aRunningDeployment();
    server.controls.isFrozen = true;
    expect(await next(restarted)).toMatchObject({ phase: 'starting', next: 'soon' });
    expect(await next(restarted)).toMatchObject({ phase: 'starting', next: 'soon' });
    server.controls.isFrozen = false;
    server.settle();
    expect(await next(restarted)).toMatchObject({ phase: 'running', next: 'settled' });
  });

  test('while no controller observes it, which it states after a while', async () => {
    const server = await anApiServer();
    server.controls.isFrozen = true;
    const deployment = aDeployment();
    const look = (overdue: number) =>
      reconcile(clientOf(server, {}, { overdue }), running(deployment.manifest()), deployment.fence());
    expect(await look(60_000)).toMatchObject({ phase: 'starting', message: '0 of 1 up.' });
    expect(await look(-5000)).toMatchObject({
      phase: 'starting',
      message: 'The controllers of the cluster have not observed its last change: check that they run. 0 of 1 up.',
    });
  });

  test('while its controller has not observed the change, although its pods crash and its deadline was exceeded', async () => {
    const { server, deployment: reconciled, next } = await aRunningDeployment();
    const { status, ...deployment } = server.object('deployments', reconciled.name);
    const late = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
    server.put('deployments', { ...deployment, status: { ...status, conditions: late } });
    server.setPodStatus(podStatuses.crashing({ exitCode: 1 }));
    server.controls.isFrozen = true;
    expect(await next(restarted)).toMatchObject({ phase: 'starting', reason: null, next: 'soon' });
    const patient = clientOf(server, {}, { overdue: -5000 });
    const wanted = running(reconciled.manifest({ generation: 8, replicas: 2, ...restarted }));
    expect(await reconcile(patient, wanted, reconciled.fence(8))).toMatchObject({ phase: 'starting', next: 'soon' });
  });

  test('while a pod of an older template exists', async () => {
    const { server, next } = await aRunningDeployment();
    server.controls.delaysPodDeletion = true;
    const found = await next(restarted);
    expect(found).toMatchObject({ phase: 'starting', next: 'soon', message: '2 of 2 up.' });
    expect(found.instances.map(({ phase }) => phase).sort()).toEqual(['running', 'running', 'stopping', 'stopping']);
    server.controls.delaysPodDeletion = false;
    server.settle();
    expect(await next(restarted)).toMatchObject({ phase: 'running' });
  });

  test('shortly after its pods became ready again', async () => {
    const { server, next } = await aRunningDeployment();
    await next();
    server.setPodStatus(podStatuses.running(-60_000), ...server.objects('pods').map(({ metadata }) => metadata.name));
    expect(await next()).toMatchObject({ phase: 'starting', next: 'soon', message: '0 of 2 up.' });
  });

  test('while its pods are not ready for long enough by the clock of the cluster', async () => {
    const { server, next } = await aRunningDeployment();
    server.aheadMs = -3_600_000;
    server.setPodStatus(podStatuses.running(3_500_000));
    expect(await next()).toMatchObject({ phase: 'starting', message: '0 of 2 up.' });
  });

  test('while its status reports more available pods than exist', async () => {
    const { server, deployment, next } = await aRunningDeployment();
    await next();
    server.controls.isFrozen = true;
    const [pod] = server.objects('pods');
    if (pod) server.drop('pods', pod.metadata.name);
    expect(server.object('deployments', deployment.name).status).toMatchObject({ availableReplicas: 2 });
    expect(await next()).toMatchObject({ phase: 'starting', next: 'soon', message: '1 of 2 up.' });
  });
});

describe('a rollout', () => {
  test('with a volume for one node ends the old pod before the new one starts', async () => {
    const { server, next } = await aRunningDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] }, 1);
    server.controls.delaysPodDeletion = true;
    expect(await next(restarted)).toMatchObject({ phase: 'starting' });
    expect(server.objects('pods')).toHaveLength(1);
    server.controls.delaysPodDeletion = false;
    server.settle();
    expect(await next(restarted)).toMatchObject({ phase: 'running' });
    expect(server.objects('pods')).toHaveLength(1);
  });

  test('waits for surplus pods to end', async () => {
    const { server, deployment, next } = await aRunningDeployment({}, 3);
    server.controls.delaysPodDeletion = true;
    expect(await next({ replicas: 1 })).toMatchObject({ phase: 'starting', message: '1 of 1 up.', next: 'soon' });
    server.controls.delaysPodDeletion = false;
    server.settle();
    expect(await next({ replicas: 1 })).toMatchObject({ phase: 'running' });
    expect(server.object('deployments', deployment.name).spec).toMatchObject({ replicas: 1 });
  });

  test('to no replicas stops the deployment', async () => {
    const { server, next } = await aRunningDeployment();
    server.controls.delaysPodDeletion = true;
    expect(await next({ replicas: 0 })).toMatchObject({ phase: 'stopping', next: 'soon' });
    server.controls.delaysPodDeletion = false;
    server.settle();
    expect(await next({ replicas: 0 })).toMatchObject({
      phase: 'stopped',
      message: 'It is scaled to 0 replicas.',
      instances: [],
    });
  });

  test('does not wait indefinitely for a pod whose node is gone', async () => {
    const { server, next } = await aRunningDeployment();
    server.controls.delaysPodDeletion = true;
    await next(restarted);
    for (const pod of server.objects('pods').filter(({ metadata }) => metadata.deletionTimestamp)) {
      server.put('pods', { ...pod, metadata: { ...pod.metadata, deletionTimestamp: moment(0) } });
    }
    const found = await next(restarted);
    expect(found).toMatchObject({ phase: 'degraded', reason: null, next: 'settled' });
    expect(found.message).toMatch(
      /^The termination of \S+ is overdue, and its node worker-1 has not confirmed it\. 2 of 2 up\.$/,
    );
  });

  test('does not count an evicted pod', async () => {
    const { server, next } = await aRunningDeployment();
    await next();
    const [pod] = server.objects('pods');
    server.setPodStatus(podStatuses.evicted('The node was low on resource: memory.'), pod?.metadata.name ?? '');
    const found = await next();
    expect(found).toMatchObject({ phase: 'running', message: '2 of 2 up.' });
    expect(found.instances.map(({ phase }) => phase).sort()).toEqual(['failed', 'running', 'running']);
  });

  test('back to an earlier template completes like any other', async () => {
    const { client, deployment, next } = await aRunningDeployment();
    await next(restarted);
    const back = await reconcile(client, running(deployment.manifest({ generation: 9 })), deployment.fence(9));
    expect(back).toMatchObject({ phase: 'running', message: '2 of 2 up.' });
  });
});
