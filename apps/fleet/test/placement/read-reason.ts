/** What a reason says, as the facts of the oracle: a person reads the same in it. */
const readings: readonly (readonly [RegExp, (...groups: string[]) => string[]])[] = [
  [/^was never reached yet$/, () => ['never checked']],
  [/^is unreachable$/, () => ['unreachable']],
  [/^its CPU and memory are not known before it is reached$/, () => ['size unknown']],
  [/^has no network type ([^(]+) \(has.+\)$/, (types = '') => types.split(', ').map((type) => `no network ${type}`)],
  [/^needs [\d.]+ CPUs?( \(\d+ replicas with [\d.]+ each\))?, [\d.]+ of [\d.]+ (is|are) free$/, () => ['too few CPUs']],
  [
    /^needs [\d.]+ (bytes|KiB) of memory.*, [\d.]+( bytes)? of [\d.]+ (bytes|KiB) is free$/,
    () => ['too little memory'],
  ],
  [/^needs \d+ GPUs?.*(it has none|free|in use, \d+ too small\))$/, () => ['too few GPUs']],
  [/^is closed to new deployments/, () => ['closed']],
  [/^(?:has no )?label (\w+)(?: is ".*")?, ".*" is asked for$/, (key) => [`label ${key}`]],
  [/^taint (\S+) is not tolerated$/, (taint) => [`taint ${taint}`]],
  [/^volume (\w+) lives on (host|cluster) (red|blue|id-\d)$/, (volume) => [`elsewhere ${volume}`]],
  [/^volume (\w+) is ReadWriteOnce and attached to deployment other$/, (volume) => [`taken ${volume}`]],
  [/^none of \d+ nodes? can run a replica: \d/, () => ['no node']],
  [/^needs room for \d+ replicas, .* even when nothing else runs there$/, () => ['nodes too small for all']],
];

/** The facts that a reason states. @throws where it is a sentence that nobody knows, or one of two meanings */
export function factsOf(reason: string): string[] {
  const read = readings.flatMap(([pattern, facts]) => {
    const found = pattern.exec(reason);
    return found ? [facts(...found.slice(1))] : [];
  });
  const [facts] = read;
  if (!facts || read.length > 1) throw new Error(`a reason with ${read.length} meanings: ${reason}`);
  return facts;
}

/** The two numbers of a reason that says what is needed and what is free, in thousandths of CPUs or as a count of GPUs. */
export function comparison(reason: string): { readonly needed: number; readonly free: number } | undefined {
  const found = /^needs ([\d.]+) (?:CPU|GPU)s?.*, ([\d.]+) of [\d.]+ (?:is|are) free/.exec(reason);
  return found ? { needed: Number(found[1]), free: Number(found[2]) } : undefined;
}
