// Installs the lowest supported version of Node for Linux into npm's cache, and prints the path of its program.
import { execFileSync } from 'node:child_process';
import { FLOOR } from '../local/bootstrap/node-version.mjs';

const npx = ['--yes', '--prefer-offline', `--package=node-${process.platform}-${process.arch}@${FLOOR}`, '--'];
const program = execFileSync('npx', [...npx, 'node', '-p', 'process.execPath'], { encoding: 'utf8' }).trim();
const version = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
if (version !== `v${FLOOR}`) throw new Error(`${program} is Node ${version}, not ${FLOOR}`);
console.log(program);
