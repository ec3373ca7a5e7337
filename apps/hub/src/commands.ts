import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { migrateDatabase, prepareDatabase } from '@svc/database';
import { type Commands, preparationOf } from '@svc/http';
import { exportCatalog } from './commands/export.ts';
import { importCatalog } from './commands/import.ts';
import { createApiKey, createOrganization } from './commands/organizations.ts';
import { readDatabaseSettings } from './config.ts';
import { type Database, openDatabase } from './database/client.ts';
import { startHub } from './start.ts';

const prismaDir = fileURLToPath(new URL('../../../prisma/hub', import.meta.url));

/** The usage text of the command line. */
export const usage = `node dist/main.js <command>
  serve                                                       run the service (the default)
  migrate                                                     apply pending database migrations and exit
  import <folder> [--dry-run]                                 apply a folder of YAML files to the catalog
  export <folder>                                             write the catalog to an empty or new folder
  create-organization --name <name> --slug <slug> [--tier free|pro|enterprise]
  create-api-key --organization <slug> --name <name>          create an API key and print it; it is not shown again
  --help                                                      print this text`;

/** The commands of the command line. They read the environment of the process. */
export const commands: Commands = {
  serve: () => startHub(prismaDir),
  migrate: async () => {
    const applied = await migrateDatabase({ prismaDir, ...preparationOf(readDatabaseSettings(process.env)) });
    console.log(applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`);
  },
  import: async (args) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { 'dry-run': { type: 'boolean' } },
    });
    const [folder] = positionals;
    if (folder === undefined || positionals.length > 1) throw new Error(`Specify exactly one folder.\n${usage}`);
    const report = await withDatabase((database) =>
      importCatalog(database, { folder, dryRun: values['dry-run'] ?? false }),
    );
    console.log(report.join('\n'));
  },
  export: async ([folder, ...rest]) => {
    if (folder === undefined || rest.length > 0) throw new Error(`Specify exactly one folder.\n${usage}`);
    console.log((await withDatabase((database) => exportCatalog(database, folder))).join('\n'));
  },
  'create-organization': async (args) => {
    const options = { name: { type: 'string' }, slug: { type: 'string' }, tier: { type: 'string' } } as const;
    const { values } = parseArgs({ args: [...args], options });
    console.log(JSON.stringify(await withDatabase(createOrganization(values))));
  },
  'create-api-key': async (args) => {
    const options = { organization: { type: 'string' }, name: { type: 'string' } } as const;
    const { values } = parseArgs({ args: [...args], options });
    console.log(JSON.stringify(await withDatabase(createApiKey(values))));
  },
};

async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const preparation = preparationOf(readDatabaseSettings(process.env));
  await prepareDatabase({ prismaDir, ...preparation });
  const database = openDatabase(preparation.databaseUrl, () => undefined); // if a connection is lost, the statement of the command fails
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
