// npm start and npm test, on a machine that has Node and npm and nothing else.
// An old Node must still be able to read this file and say what is wrong: no newer syntax and no node: imports here;
// everything else is imported only once the version is known to be good.
import { nodeProblem } from './bootstrap/node-version.mjs';

const problem = nodeProblem(process.versions.node);
if (problem) {
  console.error(problem);
  process.exitCode = 1;
} else {
  import('./bootstrap/commands.mjs').then((commands) => commands.main(process.argv.slice(2)));
}
