import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../../testing/src/run/eventually.ts';
import { runPeriodically } from '../../src/process/periodic-task.ts';

/** Waits until another task with the same interval has run several times. */
async function severalRuns(): Promise<void> {
  let runs = 0;
  const other = runPeriodically(1, async () => {
    runs += 1;
    return 1;
  });
  await eventually('the task has run three times', () => runs >= 3);
  await other.stop();
}

test('a task runs repeatedly until it is stopped', async () => {
  let runs = 0;
  const work = runPeriodically(1, async () => {
    runs += 1;
    return 1;
  });
  await eventually('the task has run three times', () => runs >= 3);
  await work.stop();
  const before = runs;
  await severalRuns();
  expect(runs).toBe(before);
});

test('stop waits for the run in progress, and prevents other runs', async () => {
  const events = new EventEmitter();
  const seen: string[] = [];
  const work = runPeriodically(0, async () => {
    events.emit('started');
    await once(events, 'finish');
    seen.push('run');
    return 0;
  });
  await once(events, 'started');
  const stopped = work.stop().then(() => seen.push('stopped'));
  events.emit('finish');
  await stopped;
  await severalRuns();
  expect(seen).toEqual(['run', 'stopped']);
});

test('stop aborts the signal of the run in progress', async () => {
  const events = new EventEmitter();
  const work = runPeriodically(0, async (stopSignal) => {
    events.emit('started', stopSignal.aborted);
    await once(stopSignal, 'abort');
    return 0;
  });
  const [wasAborted] = await once(events, 'started');
  await work.stop();
  expect(wasAborted).toBe(false);
});

const NEVER_MS = 3_600_000;

test('a task that is woken runs at once, or again after the run in progress', async () => {
  const events = new EventEmitter();
  let runs = 0;
  const work = runPeriodically(NEVER_MS, async () => {
    runs += 1;
    events.emit('run');
    await pause(5);
    return NEVER_MS;
  });
  const first = once(events, 'run');
  work.wake();
  await first;
  const second = once(events, 'run');
  work.wake();
  work.wake();
  await second;
  await work.stop();
  expect(runs).toBe(2);
  work.wake();
  await severalRuns();
  expect(runs).toBe(2);
});
