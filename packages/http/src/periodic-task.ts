/** A periodic task. */
export interface PeriodicTask {
  /** Stops the task, and aborts the signal of a run in progress. Resolves at the end of this run. */
  stop(): Promise<void>;
}

/**
 * Runs a task after `firstMs` milliseconds, and then repeatedly. Each run resolves to the delay before the next one.
 * The timer does not keep the process alive. The task must handle its failures: a rejection is unhandled and ends the
 * process.
 */
export function runPeriodically(firstMs: number, task: (stopped: AbortSignal) => Promise<number>): PeriodicTask {
  const stopped = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const wait = (milliseconds: number) => {
    if (stopped.signal.aborted) return;
    timer = setTimeout(() => {
      running = task(stopped.signal).then(wait);
    }, milliseconds).unref();
  };
  wait(firstMs);
  return {
    stop: () => {
      stopped.abort();
      clearTimeout(timer);
      return running;
    },
  };
}
