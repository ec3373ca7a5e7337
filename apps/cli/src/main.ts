// The command line client: svc <command>
import { run } from './program.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(); // such as svc logs -f | head
  throw error;
});
process.exitCode = await run(process.argv.slice(2));
