import { unavailable } from '@svc/http';

export interface Bounds {
  /** How many run at once. */
  readonly concurrent: number;
  /** How many wait for their turn at most. */
  readonly waiting: number;
}

/** Runs some work at a time; the rest waits in order. @throws 503 unavailable where too many wait already */
export function fewAtOnce({ concurrent, waiting }: Bounds): <T>(work: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = [];
  let free = concurrent;
  const enter = async () => {
    if (free > 0) {
      free -= 1;
      return;
    }
    if (queue.length >= waiting) throw unavailable('Too many people sign in at this moment: try again.');
    await new Promise<void>((resolve) => queue.push(resolve));
  };
  const leave = () => {
    const next = queue.shift(); // it gets the place of the one who leaves
    if (next) next();
    else free += 1;
  };
  return async (work) => {
    await enter();
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
