/** Rounds that repeat while something uses them. */
export interface Rounds {
  /** Uses the rounds, and waits for the end of the one under way. @throws the error of the start */
  join(): Promise<void>;
  leave(): void;
  /** No further round begins. Resolves when the one under way has ended. */
  stop(): Promise<void>;
}

interface RoundsOptions {
  /** Milliseconds between two rounds. */
  readonly interval: number;
  /** Runs before the first round, whenever the rounds start. */
  start(): Promise<void>;
  /** One round; it must not throw. @returns whether the next one waits for the interval */
  next(): Promise<boolean>;
}

export function createRounds({ interval, start, next }: RoundsOptions): Rounds {
  let users = 0;
  /** The round under way or the last one; undefined while nothing uses the rounds. */
  let round: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopping = false;

  const begin = async () => {
    await start();
    schedule(interval);
  };
  const schedule = (milliseconds: number) => {
    timer = setTimeout(() => {
      if (users === 0 || isStopping) round = undefined;
      else round = next().then((waits) => schedule(waits ? interval : 0));
    }, milliseconds).unref();
  };

  return {
    join: async () => {
      users += 1;
      round ??= begin();
      const current = round;
      try {
        await current;
      } catch (error) {
        users -= 1;
        if (round === current) round = undefined; // the start failed; a later round never does
        throw error;
      }
    },
    leave: () => {
      users -= 1;
    },
    stop: async () => {
      isStopping = true;
      clearTimeout(timer);
      await round?.catch(() => undefined);
    },
  };
}
