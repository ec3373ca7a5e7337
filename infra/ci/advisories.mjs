// Asks the registry for known vulnerabilities of the dependencies. Exit codes: 0: none, 1: at least one, 2: the registry did not answer
// the question, so nothing is known.
import { spawnSync } from 'node:child_process';
import { root } from './sources.mjs';

const { status, stdout, stderr } = spawnSync('pnpm', ['audit', '--prod'], { cwd: root, encoding: 'utf8' });
console.log(stdout.trim());
if (status !== 0 && stdout.trim() !== '')
  process.exitCode = 1; // pnpm prints a report only for an answer of the registry
else if (status !== 0) {
  console.error(`The registry provides no advisories, so nothing is known about vulnerabilities.\n${stderr.trim()}`);
  console.error('Repeat the command with a registry that does: PNPM_CONFIG_REGISTRY=<url> pnpm advisories');
  process.exitCode = 2;
}
