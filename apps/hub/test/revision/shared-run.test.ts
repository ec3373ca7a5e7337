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
