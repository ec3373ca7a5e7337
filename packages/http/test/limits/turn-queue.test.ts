import { setTimeout as wait } from 'node:timers/promises';
import { createTurnQueue } from '../../src/limits/turn-queue.ts';

const what = 'requests for pages';

/** A function that runs until the test ends it, and records its start. */
function runs() {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const run = (name: string) => () => {
    started.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const endOne = async () => {
    ends.shift()?.();
    await wait(0);
  };
  return { started, run, endOne };
}

test('callers take turns', async () => {
  const { started, run, endOne } = runs();
  const queue = createTurnQueue({ what, running: 1, waitingPerCaller: 10, waitMs: 600_000 });
  const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'];
  const all = names.map((name) => queue.run(name.slice(0, 1), run(name)));
  for (const _ of names) {
    await wait(0);
    await endOne();
  }
  await Promise.all(all);
  expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('the light requests of a caller overtake the heavy ones of others, also those that began to wait before', async () => {
  const { started, run, endOne } = runs();
  const queue = createTurnQueue({ what, running: 1, waitingPerCaller: 10, waitMs: 600_000 });
  const heavy = ['a1', 'a2', 'a3'].map((name) => queue.run('a', run(name), 1000));
  const light = ['b1', 'b2', 'b3', 'b4'].map((name) => queue.run('b', run(name), 10));
  const other = queue.run('c', run('c1'), 1000);
  for (const _ of [...heavy, ...light, other]) {
    await wait(0);
    await endOne();
  }
  await Promise.all([...heavy, ...light, other]);
  expect(started).toEqual(['a1', 'b1', 'c1', 'b2', 'b3', 'b4', 'a2', 'a3']);
});

test('a caller who was idle has no claim to the turns of that time', async () => {
  const { started, run, endOne } = runs();
  const queue = createTurnQueue({ what, running: 1, waitingPerCaller: 10, waitMs: 600_000 });
  const first = ['a1', 'a2', 'a3'].map((name) => queue.run('a', run(name)));
  for (const _ of ['a1', 'a2']) {
    await wait(0);
    await endOne();
  }
  const later = ['b1', 'b2', 'a4'].map((name) => queue.run(name.slice(0, 1), run(name)));
  for (const _ of ['a3', 'b1', 'a4', 'b2']) {
    await wait(0);
    await endOne();
  }
  await Promise.all([...first, ...later]);
  expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'b2']);
});

test('a run stands for its weight in time, also if its work is done earlier', async () => {
  const queue = createTurnQueue({ what, running: 1, waitingPerCaller: 10, waitMs: 20, weightPerSecond: 1e-6 });
  await queue.run('a', async () => undefined);
  await expect(queue.run('b', async () => undefined)).rejects.toMatchObject({ code: 'overloaded' });
});

test('a run is rejected with the bound if its caller has too many waiting, or if it waits too long', async () => {
  const { run, endOne } = runs();
  const queue = createTurnQueue({ what, running: 1, waitingPerCaller: 1, waitMs: 20 });
  const running = queue.run('a', run('running'));
  const late = queue.run('a', run('late'));
  await expect(queue.run('a', run('refused'))).rejects.toMatchObject({
    code: 'overloaded',
    status: 503,
    message: expect.stringContaining('At most 1 requests for pages of a caller wait at the same time.'),
  });
  await expect(late).rejects.toMatchObject({ code: 'overloaded', status: 503 });
  await wait(0);
  await endOne();
  await running;
  const next = queue.run('a', run('next'));
  await wait(0);
  await endOne();
  await next;
});
