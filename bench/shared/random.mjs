// Random numbers that depend only on their seed.

/** Random numbers from 0 to 1 (mulberry32). */
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Ranks from 1 to `count`. The probability of a rank is proportional to `1 / (rank + shift)`; a
 * shift of 0 is Zipf's law.
 */
export function skewedRanks(count, shift = 0) {
  const sums = new Float64Array(count + 1);
  for (let rank = 1; rank <= count; rank += 1) sums[rank] = sums[rank - 1] + 1 / (rank + shift);
  return (random) => {
    const target = random() * sums[count];
    let [low, high] = [1, count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] > target) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
