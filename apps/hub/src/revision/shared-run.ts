import { setImmediate as turn } from 'node:timers/promises';

/** Work that callers share. */
export interface SharedRun<Result> {
  /**
   * Resolves to the result of a run that starts after the call. Rejects with the error of this run.
   * @param canWait whether the run may wait for more callers: at most until `APART_MS` after the start of the run before.
   * It does not wait for a caller that cannot wait, or if `MANY` callers wait. Default: false
   */
  run(canWait?: boolean): Promise<Result>;
  /** The number of calls whose run has not ended. */
  waiting(): number;
}

/**
 * The number of callers of a run that continue in the same turn of the event loop. After a restart, thousands wait.
 */
const MAX_TOGETHER = 100;

/** The time between the starts of two runs whose callers can wait, in milliseconds. */
export const APART_MS = 15;
/** The number of callers for which a run starts at once, although all of them can wait. */
export const MANY = 8;

/** Callers that continue together. */
interface Group<Result> {
  readonly result: Promise<Result>;
  size: number;
}

/**
 * Runs work for all callers that wait, one run at a time. A caller never joins the run in progress:
 * that run can have read the database before a change of which the caller already knows.
 */
export function createSharedRun<Result>(work: () => Promise<Result>): SharedRun<Result> {
  let current: Promise<unknown> = Promise.resolve();
  /** The last group of the next run. */
  let next: Group<Result> | undefined;
  /** The number of callers of the run in progress. */
  let callers = 0;
  /** The number of callers of the next run. */
  let nextCallers = 0;
  let startedAt = Number.NEGATIVE_INFINITY;
  /** Whether the next run starts as soon as possible. */
  let isUrgent = false;
  /** Ends the wait of the next run. */
  let endWait = (): void => undefined;
  const untilDue = async () => {
    const rest = startedAt + APART_MS - performance.now();
    if (isUrgent || rest <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, rest);
    endWait = resolve;
    await promise;
    clearTimeout(timer);
  };
  const runAfter = async (previous: Promise<unknown>): Promise<Result> => {
    await previous.catch(() => undefined); // its callers received the error
    await untilDue();
    await turn(); // the other requests of this turn of the event loop share the run
    next = undefined;
    callers = nextCallers;
    nextCallers = 0;
    isUrgent = false;
    startedAt = performance.now();
    const run = work().finally(() => {
      callers = 0;
    });
    current = run;
    return run;
  };
  return {
    run(canWait = false) {
      nextCallers += 1;
      if (!canWait || nextCallers >= MANY) {
        isUrgent = true;
        endWait();
      }
      if (!next || next.size === MAX_TOGETHER) {
        next = { result: next ? aTurnAfter(next.result) : runAfter(current), size: 0 };
      }
      next.size += 1;
      return next.result;
    },
    waiting: () => callers + nextCallers,
  };
}

/** The same result, a turn of the event loop later. */
async function aTurnAfter<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } finally {
    await turn();
  }
}
