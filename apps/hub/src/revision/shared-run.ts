import { setImmediate as turn } from 'node:timers/promises';

/** Work that callers share. */
export interface SharedRun<Result> {
  /**
   * Resolves to the result of a run that starts after the call. Rejects with the error of this run.
   */
  run(): Promise<Result>;
  /** The number of calls whose run has not ended. */
  waiting(): number;
}

/**
 * The number of callers of a run that continue in the same turn of the event loop. After a restart, thousands wait.
 */
const MAX_TOGETHER = 100;

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
  const runAfter = async (previous: Promise<unknown>): Promise<Result> => {
    await previous.catch(() => undefined); // its callers received the error
    await turn(); // the other requests of this turn of the event loop share the run
    next = undefined;
    callers = nextCallers;
    nextCallers = 0;
    const run = work().finally(() => {
      callers = 0;
    });
    current = run;
    return run;
  };
  return {
    run() {
      nextCallers += 1;
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
