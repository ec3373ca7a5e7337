/** Work that is done again and again. */
export interface Rounds {
  /** No more of it; resolves when a round that is running is over. */
  stop(): Promise<void>;
}

/**
 * Works after `firstMs`, and then each time as many milliseconds later as the round before says. Keeps no process alive.
 * A round handles its own failures: one that rejects ends the process, as any rejection that nobody handles.
 */
export function inRounds(firstMs: number, round: () => Promise<number>): Rounds {
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const wait = (milliseconds: number) => {
    if (stopped) return;
    timer = setTimeout(() => {
      running = round().then(wait);
    }, milliseconds).unref();
  };
  wait(firstMs);
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}
