import { afterEach, describe, expect, test } from '@jest/globals';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import * as fates from './api-server/fates.ts';
import { aDeployment, anApiServer, clientOf, endAll, passTo, running } from './world.ts';

afterEach(endAll);

const job = { kind: 'job' as const };

/** A job that was applied, with what became of its pods. */
async function aJob(fate = fates.running(), replicas = 1) {
  const server = await anApiServer();
  server.hands.fate = fate;
  const it = aDeployment(job, { replicas });
  const client = clientOf(server);
  const look = (generation = 7, more: Parameters<typeof it.manifest>[0] = {}) =>
    pass(client, running(it.manifest({ generation, ...more })), it.fence(generation));
  return { server, client, it, look, first: await look() };
}

describe('a job', () => {
  test('runs, and is stopped when its work is done', async () => {
    const { server, look, first, it } = await aJob();
    expect(first).toMatchObject({ phase: 'running', message: '1 of 1 up.', actions: [`created ${it.name}-7 (Job)`] });
    server.become(fates.ended({ exitCode: 0 }));
    const done = await look();
    expect(done).toMatchObject({
      phase: 'stopped',
      reason: null,
      message: 'Its work is done.',
      next: 'settled',
      actions: [],
    });
    expect(done.instances).toMatchObject([{ phase: 'completed', message: 'has done its work' }]);
  });

  test('of several pods runs until all are done', async () => {
    const { server, look } = await aJob(fates.running(), 3);
    const [name = ''] = server.objects('pods').map(({ metadata }) => metadata.name);
    server.become(fates.ended({ exitCode: 0 }), name);
    expect(await look()).toMatchObject({ phase: 'running', message: '2 of 3 up, 1 done.' });
    server.become(fates.ended({ exitCode: 0 }));
    expect(await look()).toMatchObject({ phase: 'stopped' });
  });

  test.each([
    ['its program', fates.ended({ exitCode: 3 }), 'JobFailed', /has failed \(exit code 3\)\.$/],
    ['its memory', fates.ended({ exitCode: 137, reason: 'OOMKilled' }), 'OOMKilled', /needed more than its/],
    [
      'its node',
      fates.evicted('The node was low on memory.'),
      'JobFailed',
      /was ended by its cluster: The node was low/,
    ],
  ])('has failed for good by %s', async (_by, fate, reason, message) => {
    const { first, look } = await aJob(fate);
    expect(first).toMatchObject({ phase: 'failed', reason, next: 'settled' });
    expect(first.message).toMatch(message);
    expect(await look()).toMatchObject({ phase: 'failed', actions: [] });
  });

  test('has failed when its time is over', async () => {
    const { server, look, it } = await aJob();
    const conditions = [{ type: 'Failed', status: 'True', reason: 'DeadlineExceeded' }];
    server.put('jobs', { ...server.object('jobs', `${it.name}-7`), status: { conditions } });
    expect(await look()).toMatchObject({ phase: 'failed', reason: 'DeadlineExceeded', next: 'settled' });
  });

  test('waits for its image as anything does', async () => {
    const { first } = await aJob(fates.waiting('ErrImagePull', 'manifest unknown'));
    expect(first).toMatchObject({ phase: 'retrying', reason: 'ImageNotFound', next: 'retry' });
  });

  test('of the next generation starts when the one before is gone with its pods', async () => {
    const { server, look, it } = await aJob();
    server.hands.keepsDying = true;
    const found = await look(8);
    expect(found.actions).toEqual([`removed ${it.name}-7 (Job)`]);
    expect(found).toMatchObject({
      phase: 'starting',
      next: 'soon',
      message: `Waits for ${it.name}-7 (Job) to be gone.`,
    });
    expect(await look(8)).toMatchObject({ phase: 'starting', actions: [] });
    server.hands.keepsDying = false;
    server.move();
    expect(await look(8)).toMatchObject({ phase: 'running', actions: [`created ${it.name}-8 (Job)`] });
    expect(server.objects('pods')).toHaveLength(1);
  });

  test('that is there for its generation is not run again, whatever would be rendered today', async () => {
    const { server, client, it } = await aJob();
    server.become(fates.ended({ exitCode: 0 }));
    const other = running(it.manifest({}, { command: ['other'] }));
    expect(await pass(client, other, it.fence())).toMatchObject({ phase: 'stopped', reason: null, actions: [] });
    expect(server.objects('jobs')).toHaveLength(1);
  });

  test('of no pods is suspended, and has nothing to run', async () => {
    const { server, look, it } = await aJob(fates.running(), 0);
    expect(await look(7, { replicas: 0 })).toMatchObject({ phase: 'stopped', message: 'Nothing of it is to run.' });
    expect(server.object('jobs', `${it.name}-7`).spec).toMatchObject({ suspend: true });
    expect(server.objects('pods')).toEqual([]);
  });

  test('takes the place of what was none before, and the other way round', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    const asJob = running(it.manifest({ generation: 8 }, job));
    const turned = await passTo(client, { wanted: asJob, fence: it.fence(8), phase: 'running' });
    expect(turned.actions).toEqual([`removed ${it.name} (Deployment)`, `created ${it.name}-8 (Job)`]);
    const back = running(it.manifest({ generation: 9 }));
    const again = await passTo(client, { wanted: back, fence: it.fence(9), phase: 'running' });
    expect(again.actions).toEqual([`removed ${it.name}-8 (Job)`, `created ${it.name} (Deployment)`]);
  });
});
