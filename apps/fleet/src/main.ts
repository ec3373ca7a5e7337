// The fleet's process: node dist/main.js [serve | migrate | rotate-keys | create-token]
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { migrateDatabase, prepareDatabase } from '@svc/database';
import { type Commands, preparationOf, runCommand } from '@svc/http';
import { rotateKeys } from './commands/rotate-keys.ts';
import { createToken } from './commands/tokens.ts';
import { readDatabaseSettings, readKeySettings } from './config.ts';
import { openDatabase } from './database/client.ts';
import { createSealer } from './sealing.ts';

const prismaDir = fileURLToPath(new URL('../../../prisma/fleet', import.meta.url));

const USAGE = `node dist/main.js <command>
  serve                                                       run the service (default)
  migrate                                                     apply migrations to the database, and exit
  rotate-keys                                                 encrypt all values again with the first of ENCRYPTION_KEYS
  create-token --name <name> --role admin|operator|viewer [--expires-in-days 1..365]
                                                              create an MCP token and print it once
  --help                                                      print this text`;

const commands: Commands = {
  // The modules of the service are loaded only here, so that the other commands start faster.
  serve: async () => (await import('./start.ts')).startFleet(prismaDir),
  migrate: async () => {
    const applied = await migrateDatabase({ prismaDir, ...preparationOf(readDatabaseSettings(process.env)) });
    console.log(applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`);
  },
  'rotate-keys': async () => {
    const { ENCRYPTION_KEYS: keys, ...settings } = readKeySettings(process.env);
    await prepareDatabase({ prismaDir, ...preparationOf(settings) });
    const database = openDatabase(settings.DATABASE_URL, () => undefined);
    try {
      console.log((await rotateKeys(database, createSealer(keys))).join('\n'));
    } finally {
      await database.close();
    }
  },
  'create-token': async (args) => {
    const options = {
      name: { type: 'string' },
      role: { type: 'string' },
      'expires-in-days': { type: 'string' },
    } as const;
    const { values } = parseArgs({ args: [...args], options });
    const create = createToken(values);
    const settings = readDatabaseSettings(process.env);
    await prepareDatabase({ prismaDir, ...preparationOf(settings) });
    const database = openDatabase(settings.DATABASE_URL, () => undefined); // a statement reports the loss of its connection
    try {
      console.log(JSON.stringify(await create(database)));
    } finally {
      await database.close();
    }
  },
};

await runCommand(commands, USAGE);
