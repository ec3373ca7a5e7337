import { afterEach, describe, expect, test } from '@jest/globals';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import * as podStatuses from './api-server/controller/pod-status.ts';
import { aDeployment, anApiServer, clientOf, endAll, reconcileTo, running } from './world.ts';

afterEach(endAll);

const job = { kind: 'job' as const };

/** A job that was applied, whose pods have the status. */
async function aJob(podStatus = podStatuses.running(), replicas = 1) {
  const server = await anApiServer();
  server.controls.podStatus = podStatus;
  const deployment = aDeployment(job, { replicas });
  const client = clientOf(server);
  const look = (generation = 7, more: Parameters<typeof deployment.manifest>[0] = {}) =>
    reconcile(client, running(deployment.manifest({ generation, ...more })), deployment.fence(generation));
  return { server, client, deployment, look, first: await look() };
}

describe('a job on a cluster', () => {
  test('runs, and is stopped when it has completed', async () => {
    const { server, look, first, deployment } = await aJob();
    expect(first).toMatchObject({
      phase: 'running',
      message: '1 of 1 up.',
      actions: [`created ${deployment.name}-7 (Job)`],
    });
    server.setPodStatus(podStatuses.ended({ exitCode: 0 }));
    const done = await look();
    expect(done).toMatchObject({
      phase: 'stopped',
      reason: null,
      message: 'It has completed.',
      next: 'settled',
      actions: [],
    });
    expect(done.instances).toMatchObject([{ phase: 'completed', message: 'has completed' }]);
  });

  test('with several pods runs until all have completed', async () => {
    const { server, look } = await aJob(podStatuses.running(), 3);
    const [name = ''] = server.objects('pods').map(({ metadata }) => metadata.name);
    server.setPodStatus(podStatuses.ended({ exitCode: 0 }), name);
    expect(await look()).toMatchObject({ phase: 'running', message: '2 of 3 up, 1 completed.' });
    server.setPodStatus(podStatuses.ended({ exitCode: 0 }));
    expect(await look()).toMatchObject({ phase: 'stopped' });
  });

  test.each([
    ['a failure of its program', podStatuses.ended({ exitCode: 3 }), 'JobFailed', /has failed \(exit code 3\)\.$/],
    [
      'exceeding its memory limit',
      podStatuses.ended({ exitCode: 137, reason: 'OOMKilled' }),
      'OOMKilled',
      /exceeded its memory limit of 2048 MiB/,
    ],
    [
      'an eviction by its node',
      podStatuses.evicted('The node was low on memory.'),
      'JobFailed',
      /was terminated by the cluster: The node was low/,
    ],
  ])('has failed permanently after %s', async (_by, podStatus, reason, message) => {
    const { first, look } = await aJob(podStatus);
    expect(first).toMatchObject({ phase: 'failed', reason, next: 'settled' });
    expect(first.message).toMatch(message);
    expect(await look()).toMatchObject({ phase: 'failed', actions: [] });
  });

  test('has failed when its deadline is exceeded', async () => {
    const { server, look, deployment } = await aJob();
    const conditions = [{ type: 'Failed', status: 'True', reason: 'DeadlineExceeded' }];
    server.put('jobs', { ...server.object('jobs', `${deployment.name}-7`), status: { conditions } });
    expect(await look()).toMatchObject({ phase: 'failed', reason: 'DeadlineExceeded', next: 'settled' });
  });

  test('waits for its image as other workloads do', async () => {
    const { first } = await aJob(podStatuses.waiting('ErrImagePull', 'manifest unknown'));
    expect(first).toMatchObject({ phase: 'retrying', reason: 'ImageNotFound', next: 'retry' });
  });

  test('whose pods the cluster rejects states why', async () => {
    const server = await anApiServer();
    server.controls.refusesPods = 'no';
    const deployment = aDeployment(job);
    const client = clientOf(server);
    const look = () => reconcile(client, running(deployment.manifest()), deployment.fence());
    expect(await look()).toMatchObject({ phase: 'starting', message: '0 of 1 up.' });
    const warning = 'Error creating: pods "web" is forbidden: exceeded quota: compute';
    server.warn(server.object('jobs', `${deployment.name}-7`), warning);
    expect(await look()).toMatchObject({
      phase: 'retrying',
      reason: 'Unschedulable',
      message: `The cluster rejects its pods: ${warning} 0 of 1 up.`,
      next: 'retry',
    });
  });

  test('of the next generation starts after the previous job and its pods are gone', async () => {
    const { server, look, deployment } = await aJob();
    server.controls.delaysPodDeletion = true;
    const found = await look(8);
    expect(found.actions).toEqual([`removed ${deployment.name}-7 (Job)`]);
    expect(found).toMatchObject({
      phase: 'starting',
      next: 'soon',
      message: `Waiting for ${deployment.name}-7 (Job) to be deleted.`,
    });
    expect(await look(8)).toMatchObject({ phase: 'starting', actions: [] });
    server.controls.delaysPodDeletion = false;
    server.settle();
    expect(await look(8)).toMatchObject({ phase: 'running', actions: [`created ${deployment.name}-8 (Job)`] });
    expect(server.objects('pods')).toHaveLength(1);
  });

  test('that exists for its generation is not run again, also if its manifest would differ', async () => {
    const { server, client, deployment } = await aJob();
    server.setPodStatus(podStatuses.ended({ exitCode: 0 }));
    const other = running(deployment.manifest({}, { command: ['other'] }));
    expect(await reconcile(client, other, deployment.fence())).toMatchObject({
      phase: 'stopped',
      reason: null,
      actions: [],
    });
    expect(server.objects('jobs')).toHaveLength(1);
  });

  test('without replicas is suspended, and is stopped', async () => {
    const { server, look, deployment } = await aJob(podStatuses.running(), 0);
    expect(await look(7, { replicas: 0 })).toMatchObject({ phase: 'stopped', message: 'It is scaled to 0 replicas.' });
    expect(server.object('jobs', `${deployment.name}-7`).spec).toMatchObject({ suspend: true });
    expect(server.objects('pods')).toEqual([]);
  });

  test('replaces a Deployment, and a Deployment replaces a job', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    const asJob = running(deployment.manifest({ generation: 8 }, job));
    const turned = await reconcileTo(client, { wanted: asJob, fence: deployment.fence(8), phase: 'running' });
    expect(turned.actions).toEqual([`removed ${deployment.name} (Deployment)`, `created ${deployment.name}-8 (Job)`]);
    const back = running(deployment.manifest({ generation: 9 }));
    const again = await reconcileTo(client, { wanted: back, fence: deployment.fence(9), phase: 'running' });
    expect(again.actions).toEqual([`removed ${deployment.name}-8 (Job)`, `created ${deployment.name} (Deployment)`]);
  });
});
