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
  expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
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
