/** Patterns of reasons, with the facts of the oracle that they state. */
const readings: readonly (readonly [RegExp, (...groups: string[]) => string[]])[] = [
  [/^has not been checked yet$/, () => ['never checked']],
  [/^is unreachable$/, () => ['unreachable']],
  [/^its CPU and memory are not known yet$/, () => ['size unknown']],
  [/^has no network type ([^(]+) \(has.+\)$/, (types = '') => types.split(', ').map((type) => `no network ${type}`)],
  [/^needs [\d.]+ CPUs?( \(\d+ replicas with [\d.]+ each\))?, [\d.]+ of [\d.]+ (is|are) free$/, () => ['too few CPUs']],
  [
    /^needs [\d.]+ (bytes|KiB) of memory.*, [\d.]+( bytes)? of [\d.]+ (bytes|KiB) is free$/,
    () => ['too little memory'],
  ],
  [/^needs \d+ GPUs?.*(it has none|free|in use, \d+ too small\))$/, () => ['too few GPUs']],
  [/^does not accept new deployments/, () => ['closed']],
  [/^(?:has no )?label (\w+)(?: is ".*")?; the node selector requires ".*"$/, (key) => [`label ${key}`]],
  [/^taint (\S+) is not tolerated$/, (taint) => [`taint ${taint}`]],
  [/^volume (\w+) is bound to (host|cluster) (red|blue|id-\d)$/, (volume) => [`elsewhere ${volume}`]],
  [/^volume (\w+) is ReadWriteOnce and attached to deployment other$/, (volume) => [`taken ${volume}`]],
  [/^none of \d+ nodes? can run a replica: \d/, () => ['no node']],
  [/^(?:has no autoscaler; only clusters have one|is no cluster, which sets .*)$/, () => ['no cluster']],
  [/^does not permit the fleet to create horizontalpodautoscalers, /, () => ['not permitted']],
  [/^needs capacity for \d+ replicas, .* even without other pods$/, () => ['nodes too small for all']],
];

/**
 * The facts that a reason states. @throws if no pattern or more than one pattern matches the reason
 */
export function factsOf(reason: string): string[] {
  const read = readings.flatMap(([pattern, facts]) => {
    const found = pattern.exec(reason);
    return found ? [facts(...found.slice(1))] : [];
  });
  const [facts] = read;
  if (!facts || read.length > 1) throw new Error(`${read.length} patterns match the reason: ${reason}`);
  return facts;
}

/**
 * The two numbers of a reason that states what is needed and what is free, in CPUs or as a count of
 * GPUs.
 */
export function comparison(reason: string): { readonly needed: number; readonly free: number } | undefined {
  const found = /^needs ([\d.]+) (?:CPU|GPU)s?.*, ([\d.]+) of [\d.]+ (?:is|are) free/.exec(reason);
  return found ? { needed: Number(found[1]), free: Number(found[2]) } : undefined;
}
