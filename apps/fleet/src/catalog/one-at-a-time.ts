/** Work that never overlaps itself. */
export interface OneAtATime {
  /** Does the work. Called while it runs, it waits for a run that starts afterwards, together with all who wait. */
  run(): Promise<void>;
  /** Resolves when nothing runs and nobody waits. */
  idle(): Promise<void>;
}

export function oneAtATime(work: () => Promise<void>): OneAtATime {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    run: () => {
      if (next) return next;
      if (!running) return start();
      next = running
        .catch(() => undefined) // those who asked for it hear of it
        .then(() => {
          next = undefined;
          return start();
        });
      return next;
    },
    idle: async () => {
      while (running) await (next ?? running).catch(() => undefined);
    },
  };
}
