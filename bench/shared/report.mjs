// The results of a bench: lines with a verdict, and the file with the machine and the commit.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const repository = path.resolve(import.meta.dirname, '../..');

const verdict = (isReached, noisy) => (noisy ? 'inconclusive' : isReached ? 'pass' : 'fail');
export const atMost = (value, goal, noisy = false) => verdict(value <= goal, noisy);
export const atLeast = (value, goal, noisy = false) => verdict(value >= goal, noisy);

/**
 * Prints results. `end` prints the number of failures, sets the exit code, and with `file` writes
 * all to `bench/results`.
 */
export function createReport() {
  const lines = [];
  let failures = 0;
  const report = (text, verdict = '') => {
    const line = verdict === '' ? text : `${text}: ${verdict}`;
    if (verdict === 'fail') failures += 1;
    lines.push(line);
    console.log(line);
  };
  const end = (file, settings) => {
    console.log(failures === 0 ? 'passed' : `${failures} goals were not reached`);
    if (file !== undefined) console.log(write(file, settings, lines));
    process.exitCode = failures === 0 ? 0 : 1;
  };
  return { report, end };
}

/** Names are `<what>-<date>-<commit>[-<variant>].txt`. @returns the path of the file */
function write({ what, variant }, settings, lines) {
  const folder = path.join(repository, 'bench', 'results');
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: repository, encoding: 'utf8' }).trim();
  const date = new Date().toISOString();
  const facts = {
    commit,
    date,
    machine: `${os.availableParallelism()} × ${os.cpus()[0]?.model}, ${Math.round(os.totalmem() / 2 ** 30)} GB`,
    Node: process.version,
    ...settings,
  };
  const head = Object.entries(facts).map(([name, value]) => `${name}: ${value}`);
  const name = [what, date.slice(0, 10), commit, variant].filter((part) => part !== undefined).join('-');
  const file = path.join(folder, `${name}.txt`);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(file, `${[...head, '', ...lines].join('\n')}\n`);
  return file;
}
