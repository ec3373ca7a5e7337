import { createRequire } from 'node:module';
import path from 'node:path';
import { readFullRun } from '../local/bootstrap/full-run.mjs';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');
const repository = path.resolve(import.meta.dirname, '../..');
const { seconds } = readFullRun(repository);

/** Runs that end with the first failure start the fastest files first, after those that failed in the last run. */
const isFastestFirst = process.env.TEST_ORDER === 'fastest';

/**
 * Starts the slowest files first, so that no worker ends long after the others. The durations are those of the last run
 * on this machine, or of the last complete run at depth full. Files without a duration start first.
 */
export default class ByDuration extends Sequencer {
  time(test) {
    const recorded = seconds[path.relative(repository, test.path)];
    const time = super.time(test) ?? (recorded === undefined ? undefined : recorded * 1000);
    return isFastestFirst && time !== undefined ? -time : time;
  }
}
