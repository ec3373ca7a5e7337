import { byDepth } from '@svc/testing';
import { assertProperty } from '@svc/testing/properties';
import fc from 'fast-check';
import type { Observation, Process } from '../../src/engines/observation.ts';
import { stateAfter } from '../../src/reconciler/crash-loop.ts';

type Before = Parameters<typeof stateAfter>[0];

const START = Date.parse('2026-01-01T12:00:00Z');
const at = (ms: number) => new Date(START + ms);
const delayOf = (failures: number) => Math.min(300_000, 5000 * 2 ** failures);
const clockAt = (ms: number) => ({ now: at(ms), delayOf, resync: 60_000, progress: 1000 });

const NEW: Before = { instances: [], crash_loop: null, failures: 0 };
const FAILED = { exitCode: 3, reason: 'CrashLoop' } as const;

/** A process that runs, and is not stable yet. */
const aProcess = (given: Partial<Process> = {}): Process => ({
  instance: 'web-0',
  id: 'c1',
  body: 'b1',
  startedAt: START,
  restarts: 0,
  stableInMs: 100_000,
  ...given,
});

/** A process that has ended, and that the fleet starts again. */
function aFailure(given: Partial<Process> = {}): Process {
  const { stableInMs: _, ...process } = aProcess(given);
  const failure = { ...FAILED, startedAt: process.startedAt };
  return { ...process, failure, restart: { by: 'fleet' }, ...given };
}

/** What the driver of a host observes of the processes. */
function observationOf(processes: readonly Process[]): Observation {
  const down = processes.find(({ restart }) => restart !== undefined);
  const isStarting = processes.some(({ stableInMs = 0 }) => stableInMs > 90_000);
  return {
    phase: down ? 'degraded' : isStarting ? 'starting' : 'running',
    reason: down?.failure?.reason ?? null,
    message: down ? `${down.instance} has crashed (exit code 3). 0 of 1 up.` : '1 of 1 up.',
    next: down ? 'retry' : isStarting ? 'soon' : 'settled',
    instances: processes.map(({ instance, restarts, restart }) => ({
      name: instance,
      phase: restart ? 'crashed' : 'running',
      message: '',
      restarts,
    })),
    processes,
    endpoints: [],
    volumes: [],
    actions: [],
  };
}

/** Passes in a row, each at a time in milliseconds. @returns the state after each of them */
function passes(...given: readonly (readonly [ms: number, ...processes: Process[]])[]) {
  let before = NEW;
  return given.map(([ms, ...processes]) => {
    const after = stateAfter(before, observationOf(processes), clockAt(ms));
    const { observed, crashLoop, failures } = after;
    // The database stores JSON.
    before = JSON.parse(JSON.stringify({ instances: observed.instances, crash_loop: crashLoop, failures }));
    return after;
  });
}

test('a deployment that has never failed is in no crash loop', () => {
  const [starting, running] = passes([0, aProcess()], [20_000, aProcess({ stableInMs: 80_000 })]);
  expect(starting).toMatchObject({ crashLoop: null, observed: { phase: 'starting', reason: null } });
  expect(running).toMatchObject({ crashLoop: null, failures: 0, observed: { phase: 'running', next: 'settled' } });
});

test('a crash loop lasts from the first failure until an attempt is stable', () => {
  const again = { startedAt: START + 40_000 };
  const [, failed, waiting, attempt, up, stable] = passes(
    [0, aProcess()],
    [20_000, aFailure()],
    [25_000, aFailure()],
    [40_000, aProcess(again)],
    [60_000, aProcess({ ...again, stableInMs: 80_000 })],
    [160_000, aProcess({ ...again, stableInMs: 0 })],
  );
  const loop = { instance: 'web-0', exit_code: 3, reason: 'CrashLoop', since: at(20_000).toISOString() };
  const failed_start_at = at(0).toISOString();
  const next_try_at = at(20_000 + delayOf(1)).toISOString();
  expect(failed?.crashLoop).toEqual({ ...loop, attempt: 1, next_try_at, failed_start_at });
  expect(failed).toMatchObject({ failures: 1, observed: { phase: 'degraded', reason: 'CrashLoop', next: 'soon' } });
  expect(failed?.observed.changesInMs).toBe(delayOf(1));
  expect(waiting?.crashLoop).toEqual(failed?.crashLoop);
  expect(waiting).toMatchObject({ failures: 1, observed: { changesInMs: delayOf(1) - 5000 } });
  expect(attempt?.crashLoop).toEqual({ ...loop, attempt: 2, next_try_at: null, failed_start_at });
  expect(attempt?.observed).toMatchObject({
    phase: 'degraded',
    reason: 'CrashLoop',
    message: 'web-0 is in attempt 2 after a crash (exit code 3). 1 of 1 up.',
    instances: [{ restarts: 1 }],
  });
  expect(up?.observed).toMatchObject({ phase: 'degraded', next: 'soon', changesInMs: 60_000 });
  expect(stable).toMatchObject({ crashLoop: null, failures: 0, observed: { phase: 'running', reason: null } });
});

test('the delays grow with each wait for the fleet', () => {
  const states = passes(
    [0, aFailure()],
    [10_000, aFailure({ startedAt: START + 10_000 })],
    [30_000, aFailure({ startedAt: START + 30_000 })],
  );
  const expected = [0 + delayOf(1), 10_000 + delayOf(2), 30_000 + delayOf(3)].map((ms) => at(ms).toISOString());
  expect(states.map(({ crashLoop }) => crashLoop?.next_try_at)).toEqual(expected);
});

test('starts by the engine between two passes are counted, and begin a crash loop', () => {
  const [, restarted, givenUp] = passes(
    [0, aProcess()],
    [2000, aProcess({ restarts: 2, startedAt: START + 1500 })],
    [4000, aFailure({ restarts: 3, startedAt: START + 2500 })],
  );
  expect(restarted?.crashLoop).toMatchObject({ attempt: 3, exit_code: null, next_try_at: null });
  expect(restarted?.observed).toMatchObject({ phase: 'degraded', reason: 'CrashLoop', instances: [{ restarts: 2 }] });
  expect(givenUp?.crashLoop).toMatchObject({ attempt: 4, exit_code: 3 });
});

test('a start by the fleet continues the count, although the engine begins again', () => {
  const states = passes(
    [0, aFailure({ restarts: 3 })],
    [20_000, aProcess({ startedAt: START + 20_000 })],
    [24_000, aFailure({ restarts: 3, startedAt: START + 23_000 })],
    [60_000, aFailure({ restarts: 3, startedAt: START + 63_000 })],
  );
  expect(states.map(({ observed }) => observed.instances[0]?.restarts)).toEqual([3, 4, 7, 11]);
  expect(states.at(-1)?.crashLoop?.attempt).toBe(12);
});

test('starts by the engine that a pass finds before it starts the container again are counted', () => {
  const before = { instances: [], crash_loop: null, failures: 0 };
  const first = stateAfter(before, observationOf([aProcess()]), clockAt(0));
  const givenUp = aFailure({ restarts: 3, startedAt: START + 2000 });
  const again = aProcess({ startedAt: START + 20_000 });
  const { observed, crashLoop } = stateAfter(
    { instances: first.observed.instances, crash_loop: first.crashLoop, failures: first.failures },
    { ...observationOf([again]), processesBefore: [givenUp] },
    clockAt(20_000),
  );
  expect(observed.instances[0]?.restarts).toBe(4);
  expect(crashLoop).toMatchObject({ attempt: 5, exit_code: 3, next_try_at: null });
});

test('a container that was created again continues its counts, and one with another body does not', () => {
  const again = aProcess({ id: 'c2', startedAt: START + 5000 });
  const [, same] = passes([0, aFailure({ restarts: 3 })], [5000, again]);
  expect(same).toMatchObject({ crashLoop: { attempt: 5 }, observed: { instances: [{ restarts: 4 }] } });
  const [, other] = passes([0, aFailure({ restarts: 3 })], [5000, { ...again, body: 'b2' }]);
  expect(other).toMatchObject({ crashLoop: null, observed: { phase: 'starting', instances: [{ restarts: 0 }] } });
});

test('a start of a process that had not failed begins no crash loop', () => {
  const [, , started] = passes(
    [0, aProcess()],
    [200_000, aProcess({ stableInMs: 0 })],
    [210_000, aProcess({ startedAt: START + 209_000 })],
  );
  expect(started).toMatchObject({ crashLoop: null, observed: { phase: 'starting', instances: [{ restarts: 1 }] } });
});

test('the crash loop of an instance continues when another one is stable', () => {
  const second = { instance: 'web-1', id: 'c2' };
  const states = passes(
    [0, aFailure(), aFailure({ ...second, failure: { ...FAILED, exitCode: 4, startedAt: START } })],
    [20_000, aProcess({ startedAt: START + 20_000 }), aProcess({ ...second, startedAt: START + 20_000 })],
    [
      30_000,
      aProcess({ startedAt: START + 20_000, stableInMs: 0 }),
      aFailure({ ...second, startedAt: START + 20_000 }),
    ],
  );
  expect(states.map(({ crashLoop }) => crashLoop?.instance)).toEqual(['web-0', 'web-0', 'web-1']);
  expect(states.at(-1)?.crashLoop).toMatchObject({ attempt: 2, exit_code: 3, since: at(0).toISOString() });
});

test('a failure of another kind keeps its reason, and the crash loop', () => {
  const [failed] = passes([0, aFailure()]);
  const before = { instances: failed?.observed.instances ?? [], crash_loop: failed?.crashLoop ?? null, failures: 1 };
  const other = { ...observationOf([aFailure()]), reason: 'PortConflict' as const, message: 'A port is in use.' };
  const after = stateAfter(before, other, clockAt(1000));
  expect(after).toMatchObject({ failures: 2, crashLoop: { attempt: 1 }, observed: { reason: 'PortConflict' } });
});

test('the engine states when it starts a process again', () => {
  const { restart: _, ...failure } = aFailure();
  const [waiting] = passes([0, { ...failure, restart: { by: 'engine', inMs: 20_000 } }]);
  expect(waiting).toMatchObject({ failures: 0, crashLoop: { next_try_at: at(20_000).toISOString() } });
  expect(waiting?.observed).toMatchObject({ phase: 'degraded', next: 'soon', changesInMs: 20_000 });
});

test('instances of version 0.2.0 continue with the count of the engine', () => {
  const instances = [{ name: 'web-0', phase: 'running', message: '', restarts: 2 }];
  const running = aProcess({ restarts: 2, stableInMs: 0 });
  const after = stateAfter({ ...NEW, instances }, observationOf([running]), clockAt(0));
  expect(after).toMatchObject({ crashLoop: null, observed: { instances: [{ restarts: 2 }] } });
});

const MAX_RETRIES = 3;

/** An engine with one container, which restarts it `MAX_RETRIES` times after failures, as Podman does. */
function anEngine() {
  let process = aProcess();
  let starts = 1;
  let hasFailed = false;
  let endedAt: number | undefined;
  const start = (now: number, restarts: number) => {
    starts += 1;
    endedAt = undefined;
    process = { ...process, startedAt: START + now, restarts };
  };
  return {
    starts: () => starts,
    /** Whether a process has failed and none has been stable since. */
    hasFailed: () => hasFailed,
    isDown: () => endedAt !== undefined,
    /** The program ends. The engine starts it again at once, unless it has given up. */
    fail: (now: number) => {
      if (endedAt !== undefined) return;
      hasFailed = true;
      if (process.restarts < MAX_RETRIES) start(now, process.restarts + 1);
      else endedAt = now;
    },
    startOnRequest: (now: number) => start(now, 0),
    createAgain: (now: number) => {
      process = { ...process, id: `${process.id}+` };
      start(now, 0);
    },
    observe: (now: number): Process => {
      const { stableInMs: _, ...ended } = process;
      if (endedAt !== undefined) return aFailure(ended);
      const stableInMs = Math.max(0, 120_000 - (START + now - process.startedAt));
      if (stableInMs === 0) hasFailed = false;
      return { ...process, stableInMs };
    },
  };
}

const steps = fc.array(
  fc.record({
    waitMs: fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 150_000 })),
    failures: fc.integer({ min: 0, max: 6 }),
    isCreatedAgain: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40 },
);

test('in any history, the counts are exact, and a failure is a problem until an attempt is stable', () => {
  assertProperty(
    fc.property(steps, (history) => {
      const engine = anEngine();
      let now = 0;
      let before = NEW;
      const pass = () => {
        const { observed, crashLoop, failures } = stateAfter(
          before,
          observationOf([engine.observe(now)]),
          clockAt(now),
        );
        before = JSON.parse(JSON.stringify({ instances: observed.instances, crash_loop: crashLoop, failures }));
        expect(observed.instances[0]?.restarts).toBe(engine.starts() - 1);
        expect(crashLoop !== null).toBe(engine.hasFailed());
        expect(observed.phase === 'degraded').toBe(engine.hasFailed());
        if (crashLoop) expect(observed).toMatchObject({ reason: 'CrashLoop', next: 'soon' });
        expect(crashLoop?.next_try_at ?? null).toEqual(engine.isDown() ? expect.any(String) : null);
      };
      pass();
      for (const { waitMs, failures, isCreatedAgain } of history) {
        now += waitMs;
        for (let count = 0; count < failures; count += 1) {
          now += 1;
          engine.fail(now);
        }
        pass();
        // A pass starts what has ended at the time that an earlier one has stored.
        const next = before.crash_loop?.next_try_at;
        if (!engine.isDown() || !next) continue;
        now = Math.max(now, Date.parse(next) - START);
        if (isCreatedAgain) engine.createAgain(now);
        else engine.startOnRequest(now);
        pass();
      }
    }),
    byDepth({ short: 200, full: 2000, long: 20_000 }),
  );
});
