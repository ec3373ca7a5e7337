import { jest } from '@jest/globals';
import { APART_MS, createSharedRun, MANY } from '../../src/revision/shared-run.ts';

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

describe('callers that can wait', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const someTurns = async () => {
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Work of which one run has just ended. */
  const afterRun = async () => {
    const { shared, started, end, runs } = controlled();
    const first = shared.run(true);
    await started(1); // the first run does not wait
    end(1);
    await first;
    return { shared, end, runs, started };
  };

  test('wait together until some time after the start of the run before', async () => {
    const { shared, end, runs } = await afterRun();
    const later = [shared.run(true), shared.run(true)];
    await someTurns();
    jest.advanceTimersByTime(APART_MS - 1);
    later.push(shared.run(true));
    await someTurns();
    expect(runs()).toBe(1);
    jest.advanceTimersByTime(1);
    await someTurns();
    expect(runs()).toBe(2);
    end(2);
    expect(await Promise.all(later)).toEqual([2, 2, 2]);
  });

  test('do not wait if many of them wait', async () => {
    const { shared, end, runs } = await afterRun();
    const later = Array.from({ length: MANY - 1 }, () => shared.run(true));
    await someTurns();
    expect(runs()).toBe(1);
    later.push(shared.run(true));
    await someTurns();
    expect(runs()).toBe(2);
    end(2);
    expect(new Set(await Promise.all(later))).toEqual(new Set([2]));
  });

  test.each(['before', 'while'])('do not wait if a caller cannot wait that calls %s they wait', async (when) => {
    const { shared, end, runs } = await afterRun();
    const other = when === 'before' ? [shared.run()] : [];
    const later = shared.run(true);
    if (when === 'while') {
      await someTurns();
      expect(runs()).toBe(1);
      other.push(shared.run());
    }
    await someTurns();
    expect(runs()).toBe(2);
    end(2);
    expect(await Promise.all([later, ...other])).toEqual([2, 2]);
  });

  test('wait again after a run of callers that cannot wait', async () => {
    const { shared, end, runs } = await afterRun();
    const urgent = shared.run();
    await someTurns();
    end(2);
    await urgent;
    const later = shared.run(true);
    await someTurns();
    expect(runs()).toBe(2);
    jest.advanceTimersByTime(APART_MS);
    await someTurns();
    end(3);
    expect(await later).toBe(3);
  });
});
