/** The kinds of test files with the depths at which such a file runs. */
const KINDS = [
  { kind: 'full', depths: ['full', 'long'] }, // it starts and kills many processes
  { kind: 'ci', depths: ['ci', 'full', 'long'] }, // a landing needs it
];

/**
 * Test files of the services with broad and slow checks. If `TEST_ROTATION` is set, a run at depth short contains one of
 * the names, which this number selects.
 */
const ROTATED = ['process', 'hostile', 'refusals'];

const depthOf = ({ TEST_DEPTH = 'short' }) => TEST_DEPTH;

/** Whether only the files without a kind run, which is the default. */
export const isShort = depthOf(process.env) === 'short';

/** A pattern for the paths of the files that a run with these variables leaves out. */
export function leftOutPattern(env = process.env) {
  const kinds = KINDS.filter(({ depths }) => !depths.includes(depthOf(env)));
  const patterns = [...kinds.map(({ kind }) => `\\.${kind}\\.test\\.ts$`), ...rotatedPatterns(env)];
  return patterns.length > 0 ? patterns.join('|') : '^$';
}

/** `TEST_ROTATION` of a run without this variable: the number of the day, so that results are reused until tomorrow. */
export function rotationOfToday(env = process.env) {
  return depthOf(env) === 'short' ? String(Math.floor(Date.now() / 86_400_000)) : undefined;
}

function rotatedPatterns({ TEST_ROTATION, ...env }) {
  if (depthOf(env) !== 'short' || !TEST_ROTATION) return [];
  if (!/^\d{1,9}$/.test(TEST_ROTATION)) {
    throw new RangeError(`TEST_ROTATION must be an integer from 0 to 999999999, not ${TEST_ROTATION}`);
  }
  const selected = ROTATED[Number(TEST_ROTATION) % ROTATED.length];
  return ROTATED.filter((name) => name !== selected).map((name) => `/apps/\\w+/test/${name}\\.test\\.ts$`);
}
