import { createSharedRun } from '../../src/revision/shared-run.ts';

/** Work whose runs the test ends. */
function controlled() {
  const ends: ((error?: Error) => void)[] = [];
  const shared = createSharedRun(
    () =>
      new Promise<number>((resolve, reject) => {
        const number = ends.length + 1;
        ends.push((error) => (error ? reject(error) : resolve(number)));
      }),
  );
  const started = async (count: number) => {
    while (ends.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    shared,
    started,
    end: (number: number, error?: Error) => ends[number - 1]?.(error),
    runs: () => ends.length,
  };
}

test('calls at the same time share a run', async () => {
  const { shared, started, end, runs } = controlled();
  const calls = [shared.run(), shared.run(), shared.run()];
  await started(1);
  end(1);
  expect(await Promise.all(calls)).toEqual([1, 1, 1]);
  expect(runs()).toBe(1);
});

test('calls during a run share the next one, which starts after it has ended', async () => {
  const { shared, started, end, runs } = controlled();
  const first = shared.run();
  await started(1);
  const later = [shared.run(), shared.run()];
  await new Promise((resolve) => setImmediate(resolve));
  expect(runs()).toBe(1);
  end(1);
  await started(2);
  end(2);
  expect(await Promise.all([first, ...later])).toEqual([1, 2, 2]);
});

test('a failed run rejects only its own calls', async () => {
  const { shared, started, end } = controlled();
  const failing = shared.run();
  await started(1);
  const later = shared.run();
  end(1, new Error('no connection'));
  await expect(failing).rejects.toThrow('no connection');
  await started(2);
  end(2);
  expect(await later).toBe(2);
});

test('the callers of a run continue in groups, between which other work of the process runs', async () => {
  let runs = 0;
  const shared = createSharedRun(async () => {
    runs += 1;
    return runs;
  });
  const order: ('caller' | 'turn')[] = [];
  const callers = Array.from({ length: 250 }, async () => {
    const run = await shared.run();
    order.push('caller');
    return run;
  });
  let isDone = false;
  const turns = (async () => {
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('turn');
    }
  })();
  expect(new Set(await Promise.all(callers))).toEqual(new Set([1]));
  isDone = true;
  await turns;
  const groups = order
    .join('')
    .split(/(?:turn)+/)
    .map((group) => group.length / 'caller'.length);
  expect(groups.filter((size) => size > 0)).toEqual([100, 100, 50]);
});

test('all groups of callers of a failed run receive its error', async () => {
  let runs = 0;
  const shared = createSharedRun(async () => {
    runs += 1;
    if (runs === 1) throw new Error('no connection');
    return runs;
  });
  const callers = await Promise.allSettled(Array.from({ length: 150 }, () => shared.run()));
  expect(callers.every(({ status }) => status === 'rejected')).toBe(true);
  expect(await shared.run()).toBe(2);
});
