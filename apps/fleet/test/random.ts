/** Random numbers that are the same each time for the same seed (mulberry32). */
export function randomFrom(seed: number) {
  let state = seed;
  /** From 0, below 1. */
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    /** A whole number from 0, below the limit. */
    below: (limit: number) => Math.floor(next() * limit),
    isOneIn: (count: number) => next() * count < 1,
    oneOf: <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T, // there is one
    /** About that share of the items. */
    some: <T>(items: readonly T[], share: number): T[] => items.filter(() => next() < share),
  };
}

export type Random = ReturnType<typeof randomFrom>;
