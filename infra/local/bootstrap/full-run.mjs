// The record of the last complete run at depth full, infra/ci/full-run.json, which is committed.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The number of commits after which a complete run at depth full must be repeated. */
const MAX_COMMITS = 60;

const fileIn = (root) => path.join(root, 'infra', 'ci', 'full-run.json');

/**
 * @returns `date` and `commit` of the run, the sums of its tests, and `seconds` by test file; only an empty `seconds` if no
 * run is recorded
 */
export function readFullRun(root) {
  return existsSync(fileIn(root)) ? JSON.parse(readFileSync(fileIn(root), 'utf8')) : { seconds: {} };
}

/** Records a complete run of the commit in the work tree. @returns why it is not recorded, or undefined */
export function writeFullRun(root, { passed, skipped, seconds }) {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  if (git('status', '--porcelain', '--untracked-files=no') !== '') return 'the work tree contains changes';
  const date = new Date().toISOString().slice(0, 10);
  const run = { date, commit: git('rev-parse', 'HEAD'), passed, skipped, seconds };
  writeFileSync(fileIn(root), `${JSON.stringify(run, null, 2)}\n`);
  return undefined;
}

/**
 * States when the last complete run at depth full was.
 * @returns `text` for a person, and whether the run `isDue` because of the commits since then
 */
export function fullRunStatus(root) {
  const { date, commit } = readFullRun(root);
  if (commit === undefined) return { text: 'warning: no complete run at depth full is recorded', isDue: false };
  const run = `the last complete run at depth full was on ${date} at ${commit.slice(0, 12)}`;
  const commits = commitsSince(root, commit);
  if (commits === undefined) return { text: `warning: ${run}, which this history does not contain`, isDue: false };
  const isDue = commits > MAX_COMMITS;
  const advice = isDue
    ? `; at most ${MAX_COMMITS} are allowed: run TEST_DEPTH=full npm test, and commit its record`
    : '';
  return { text: `${run}, ${commits} commits ago${advice}`, isDue };
}

function commitsSince(root, commit) {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    execFileSync('git', ['merge-base', '--is-ancestor', commit, 'HEAD'], options);
    return Number(execFileSync('git', ['rev-list', '--count', `${commit}..HEAD`], options));
  } catch {
    return undefined; // a shallow clone, or another branch
  }
}
