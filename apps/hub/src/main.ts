// The command line of the hub: node dist/main.js <command>
import { runCommand } from '@svc/http';
import { commands, usage } from './commands.ts';

await runCommand(commands, usage);
