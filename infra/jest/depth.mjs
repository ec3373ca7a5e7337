const depth = process.env.TEST_DEPTH ?? 'short';

/** Whether scalable tests do the least work, which is the default. */
export const isShort = depth === 'short' || depth === 'ci';

/** The kinds of test files that this run leaves out, each with the depths at which such a file runs. */
const leftOut = [
  { kind: 'full', depths: ['full', 'long'] }, // it starts and kills many processes
  { kind: 'ci', depths: ['ci', 'full', 'long'] }, // a landing needs it
].filter(({ depths }) => !depths.includes(depth));

/** A pattern for the paths of the files that this run leaves out. */
export const leftOutPattern =
  leftOut.length > 0 ? `\\.(${leftOut.map(({ kind }) => kind).join('|')})\\.test\\.ts$` : '^$';

/** Whether this run leaves out a test file. */
export const isLeftOut = (file) => new RegExp(leftOutPattern).test(file);
