/** A periodic task. */
export interface PeriodicTask {
  /**
   * Stops the task, and aborts the signal of a run in progress. Resolves at the end of this run.
   */
  stop(): Promise<void>;
}

/** A periodic task that can also be run at once. */
export interface WakeableTask extends PeriodicTask {
  /** Runs the task now, or after the run in progress. */
  wake(): void;
}

/**
 * Runs a task after `firstMs` milliseconds, and then repeatedly. Each run resolves to the delay
 * before the next one. The timer does not keep the process alive. The task must handle its
 * failures: a rejection is unhandled and ends the process.
 */
export function runPeriodically(firstMs: number, task: (stopped: AbortSignal) => Promise<number>): WakeableTask {
  const stopped = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;
  let isWoken = false;
  const wait = (milliseconds: number) => {
    if (!stopped.signal.aborted) timer = setTimeout(run, milliseconds).unref();
  };
  const run = () => {
    isRunning = true;
    running = task(stopped.signal).then((milliseconds) => {
      isRunning = false;
      wait(isWoken ? 0 : milliseconds);
      isWoken = false;
    });
  };
  wait(firstMs);
  return {
    wake: () => {
      if (isRunning) isWoken = true;
      else {
        clearTimeout(timer);
        wait(0);
      }
    },
    stop: () => {
      stopped.abort();
      clearTimeout(timer);
      return running;
    },
  };
}
