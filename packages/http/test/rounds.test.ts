import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { inRounds } from '../src/rounds.ts';

test('works again and again, until it is stopped', async () => {
  let rounds = 0;
  const work = inRounds(1, async () => {
    rounds += 1;
    return 1;
  });
  while (rounds < 3) await pause(1);
  await work.stop();
  const done = rounds;
  await pause(20);
  expect(rounds).toBe(done);
});

test('stopping waits for the round that is running, and none begins after it', async () => {
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
  await pause(20);
  expect(seen).toEqual(['round', 'stopped']);
});

test('a round that is running hears that it is to end', async () => {
  const doors = new EventEmitter();
  const work = inRounds(0, async (ending) => {
    doors.emit('begun', ending.aborted);
    await once(ending, 'abort');
    return 0;
  });
  const [wasOver] = await once(doors, 'begun');
  await work.stop();
  expect(wasOver).toBe(false);
});
