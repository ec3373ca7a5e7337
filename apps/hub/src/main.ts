// The hub's program: node dist/main.js <command>
import { runCommand } from '@svc/http';
import { commands, usage } from './commands.ts';

await runCommand(commands, usage);
