/** Random numbers that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number) {
  let state = seed;
  /** At least 0, less than 1. */
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    /** An integer at least 0, less than the limit. */
    below: (limit: number) => Math.floor(next() * limit),
    isOneIn: (count: number) => next() * count < 1,
    // The index is in range.
    oneOf: <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T,
    /** About this share of the items. */
    some: <T>(items: readonly T[], share: number): T[] => items.filter(() => next() < share),
  };
}

export type Random = ReturnType<typeof randomFrom>;
