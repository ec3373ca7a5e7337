// npm start, npm test and npm run check, on a machine with only Node and npm. Old versions of Node must be able to run
// this file and report their version, so it uses no newer syntax and no node: imports. Other modules are imported only
// after the version was checked.
import { bootstrapProblem } from './bootstrap/node-version.mjs';

const problem = bootstrapProblem(process.versions.node);
if (problem) {
  console.error(problem);
  process.exitCode = 1;
} else {
  import('./bootstrap/install.mjs').then((install) => install.main(process.argv.slice(2)));
}
