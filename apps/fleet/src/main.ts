// The fleet's process: node dist/main.js [serve | migrate | create-token]
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { migrate } from '@svc/database';
import { createToken } from './commands/tokens.ts';
import { readDatabaseUrl } from './config.ts';
import { openDatabase } from './database/client.ts';
import { startFleet } from './start.ts';

const prismaDir = fileURLToPath(new URL('../../../prisma/fleet', import.meta.url));

const USAGE = `node dist/main.js <command>
  serve                                                       run the service (the default)
  migrate                                                     bring the database up to date, and do nothing else
  create-token --name <name> --role admin|operator|viewer [--expires-in-days 1..365]
                                                              prints the token, once`;

type Command = (args: readonly string[]) => Promise<void>;

const commands: Readonly<Record<string, Command>> = {
  serve: () => startFleet(prismaDir),
  migrate: async () => {
    const applied = await migrate({ prismaDir, databaseUrl: readDatabaseUrl(process.env) });
    console.log(applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`);
  },
  'create-token': async (args) => {
    const options = {
      name: { type: 'string' },
      role: { type: 'string' },
      'expires-in-days': { type: 'string' },
    } as const;
    const { values } = parseArgs({ args: [...args], options });
    const databaseUrl = readDatabaseUrl(process.env);
    await migrate({ prismaDir, databaseUrl });
    const database = openDatabase(databaseUrl, () => undefined); // a command hears of a lost connection by its statement
    try {
      console.log(JSON.stringify(await createToken(database, values)));
    } finally {
      await database.close();
    }
  },
};

const [name = 'serve', ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
try {
  if (!command) throw new Error(`There is no command ${name}.\n${USAGE}`);
  await command(args);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
