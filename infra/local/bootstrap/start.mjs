// Builds the product and runs it in this process. install.mjs has installed the dependencies and set PATH.
import path from 'node:path';
import { CommandFailed, commandLine, Interrupted } from './processes.mjs';
import { step } from './steps.mjs';

const shell = commandLine(path.resolve(import.meta.dirname, '..', '..', '..'));
try {
  const build = ['run', 'build', '--filter=@svc/local...', '--output-logs=errors-only'];
  await step('building the services', () => shell.run('turbo', build, { env: process.env, output: 'captured' }));
} catch (error) {
  console.error(error instanceof CommandFailed || error instanceof Interrupted ? error.message : error);
  process.exit(error.exitCode ?? 1);
}
shell.close();
await import('../dist/main.js');
