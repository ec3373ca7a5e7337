import { createRequire } from 'node:module';
import path from 'node:path';
import { isFullOnly } from './full-only.mjs';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

/**
 * Starts the files of depth full (`*.full.test.ts`), then the files in `globals.slowestFirst` (paths relative to the package,
 * slowest first), then all others. Without durations of an earlier run, Jest sorts by file size, so a small file that waits
 * for processes or an engine would start last.
 */
export default class SlowestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ path: file, context: { config } }) {
  if (isFullOnly(file)) return -1;
  const { slowestFirst = [] } = config.globals;
  const rank = slowestFirst.indexOf(path.relative(config.rootDir, file));
  return rank === -1 ? slowestFirst.length : rank;
}
