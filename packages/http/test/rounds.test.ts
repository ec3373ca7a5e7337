import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { inRounds } from '../src/rounds.ts';

/** Waits until other work at the same pace has done some rounds. */
async function someRounds(): Promise<void> {
  let rounds = 0;
  const other = inRounds(1, async () => {
    rounds += 1;
    return 1;
  });
  while (rounds < 3) await pause(1);
  await other.stop();
}

test('works again and again, until it is stopped', async () => {
  let rounds = 0;
  const work = inRounds(1, async () => {
    rounds += 1;
    return 1;
  });
  while (rounds < 3) await pause(1);
  await work.stop();
  const done = rounds;
  await someRounds();
  expect(rounds).toBe(done);
});

test('a stop waits for the current round, and no other begins', async () => {
  const doors = new EventEmitter();
  const seen: string[] = [];
  const work = inRounds(0, async () => {
    doors.emit('begun');
    await once(doors, 'may end');
    seen.push('round');
    return 0;
  });
  await once(doors, 'begun');
  const stopped = work.stop().then(() => seen.push('stopped'));
  doors.emit('may end');
  await stopped;
  await someRounds();
  expect(seen).toEqual(['round', 'stopped']);
});

test('a stop aborts the signal of the current round', async () => {
  const doors = new EventEmitter();
  const work = inRounds(0, async (ending) => {
    doors.emit('begun', ending.aborted);
    await once(ending, 'abort');
    return 0;
  });
  const [wasAborted] = await once(doors, 'begun');
  await work.stop();
  expect(wasAborted).toBe(false);
});
