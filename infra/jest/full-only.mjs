/** Whether this run leaves out the test files of depth full: it has depth `short`, the default. */
export const isShort = (process.env.TEST_DEPTH ?? 'short') === 'short';

/** Whether a test file runs at depths full and long only, because it starts and kills many processes. */
export const isFullOnly = (file) => file.endsWith('.full.test.ts');
