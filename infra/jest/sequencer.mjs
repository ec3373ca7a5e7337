import { createRequire } from 'node:module';
import path from 'node:path';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

/**
 * Starts the test files of `globals.slowestFirst` (paths from the package's folder, longest first), then all others in
 * Jest's order. Without durations of an earlier run Jest sorts by file size, and a small file that waits for processes or
 * an engine would start last.
 */
export default class SlowestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ path: file, context: { config } }) {
  const { slowestFirst = [] } = config.globals;
  const rank = slowestFirst.indexOf(path.relative(config.rootDir, file));
  return rank === -1 ? slowestFirst.length : rank;
}
