/** Work that is done again and again. */
export interface Rounds {
  /** No more of it: a round that is running hears of it by its signal. Resolves when it is over. */
  stop(): Promise<void>;
}

/**
 * Works after `firstMs`, and then each time as many milliseconds later as the round before says. Keeps no process alive.
 * A round handles its own failures: one that rejects ends the process, as any rejection that nobody handles.
 */
export function inRounds(firstMs: number, round: (ending: AbortSignal) => Promise<number>): Rounds {
  const ending = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const wait = (milliseconds: number) => {
    if (ending.signal.aborted) return;
    timer = setTimeout(() => {
      running = round(ending.signal).then(wait);
    }, milliseconds).unref();
  };
  wait(firstMs);
  return {
    stop: () => {
      ending.abort();
      clearTimeout(timer);
      return running;
    },
  };
}
