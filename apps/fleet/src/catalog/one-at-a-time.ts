/** Work that never overlaps itself, done for everybody who wished it before it began. */
export interface OneAtATime<Wish> {
  /** Does the work. Called while it runs, it waits for a run that starts afterwards, together with all who wait. */
  run(wish: Wish): Promise<void>;
  /** Resolves when nothing runs and nobody waits. */
  idle(): Promise<void>;
}

export function oneAtATime<Wish>(work: (wishes: readonly Wish[]) => Promise<void>): OneAtATime<Wish> {
  let running: Promise<void> | undefined;
  let next: { readonly wishes: Wish[]; readonly done: Promise<void> } | undefined;
  const start = (wishes: readonly Wish[]): Promise<void> => {
    running = work(wishes).finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    run: (wish) => {
      if (next) {
        next.wishes.push(wish);
        return next.done;
      }
      if (!running) return start([wish]);
      const wishes = [wish];
      const done = running
        .catch(() => undefined) // those who asked for it hear of it
        .then(() => {
          next = undefined;
          return start(wishes);
        });
      next = { wishes, done };
      return done;
    },
    idle: async () => {
      while (running) await (next?.done ?? running).catch(() => undefined);
    },
  };
}
