// npm start and npm test, on a machine with only Node and npm. Old versions of Node must be able to run this file and
// report their version, so it uses no newer syntax and no node: imports. Other modules are imported only after the
// version was checked.
import { nodeProblem } from './bootstrap/node-version.mjs';

const problem = nodeProblem(process.versions.node);
if (problem) {
  console.error(problem);
  process.exitCode = 1;
} else {
  import('./bootstrap/commands.mjs').then((commands) => commands.main(process.argv.slice(2)));
}
