// The command line of the hub: node dist/main.js <command>
import { runProgram } from '@svc/http';
import { program } from './commands.ts';

await runProgram(program);
