// The command line of the fleet: node dist/main.js <command>
import { fileURLToPath } from 'node:url';
import { COMMAND_TIMEOUTS, createSealer, migrateDatabase, prepareDatabase } from '@svc/database';
import { acceptHangUps, doctorUsage, type Program, preparationOf, printing, runProgram } from '@svc/http';
import { readDatabaseSettings, readKeySettings } from './config.ts';
import { type Database, openDatabase } from './database/client.ts';
import { version } from './version.ts';

const prismaDir = fileURLToPath(new URL('../../../prisma/fleet', import.meta.url));

/** Each command loads its own modules when it runs, so that the others start faster. */
const program: Program = {
  service: 'fleet',
  version,
  commands: {
    serve: {
      summary: 'run the service',
      run: async () => {
        acceptHangUps();
        await (await import('./start.ts')).startFleet(prismaDir);
        return undefined;
      },
    },
    migrate: printing('apply pending database migrations', async () => {
      const applied = await migrateDatabase({ prismaDir, ...preparationOf(readDatabaseSettings(process.env)) });
      return applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`;
    }),
    doctor: {
      ...doctorUsage,
      run: async (input) => (await import('./commands/doctor.ts')).doctor(prismaDir).run(input),
    },
    'rotate-keys': printing('encrypt all values again with the first of ENCRYPTION_KEYS', async () => {
      const { ENCRYPTION_KEYS: keys, ...settings } = readKeySettings(process.env);
      const { rotateKeys } = await import('./commands/rotate-keys.ts');
      return (await withDatabase(settings, (database) => rotateKeys(database, createSealer(keys)))).join('\n');
    }),
    'create-token': {
      ...printing('create an MCP token and print it; it is not shown again', async ({ options }) => {
        const { createToken } = await import('./commands/tokens.ts');
        const create = createToken(options);
        return JSON.stringify(await withDatabase(readDatabaseSettings(process.env), create));
      }),
      options: {
        name: { value: '<name>', help: 'required' },
        role: { value: 'admin|operator|viewer', help: 'required' },
        'expires-in-days': { value: '<days>', help: '1 to 365; default: the token does not expire' },
        approval: { value: 'none|deletions|all', help: 'which of its changes a person must approve; default: none' },
      },
    },
  },
};

async function withDatabase<T>(
  settings: ReturnType<typeof readDatabaseSettings>,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  await prepareDatabase({ prismaDir, ...preparationOf(settings) });
  // A statement reports the loss of its connection.
  const database = openDatabase(settings.DATABASE_URL, () => undefined, COMMAND_TIMEOUTS);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

await runProgram(program);
