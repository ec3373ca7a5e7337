import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { queryInteger } from '@svc/contract';
import { migrateDatabase, prepareDatabase } from '@svc/database';
import { type Commands, parseOptions, preparationOf } from '@svc/http';
import { z } from 'zod';
import { exportCatalog } from './commands/export.ts';
import { importCatalog } from './commands/import.ts';
import { createApiKey, createOrganization } from './commands/organizations.ts';
import { readDatabaseSettings } from './config.ts';
import { type Database, openDatabase } from './database/client.ts';

const prismaDir = fileURLToPath(new URL('../../../prisma/hub', import.meta.url));

/** The usage text of the command line. */
export const usage = `node dist/main.js <command>
  serve                                                       run the service (the default)
  migrate                                                     apply pending database migrations and exit
  import <folder> [--dry-run]                                 apply a folder of YAML files to the catalog
    [--prune --yes [--max-deletions 10]]                      also delete what no file describes
  export <folder> [--prune]                                   write the catalog to a folder: only the files that differ
                                                              --prune: also delete the files of what the hub does not have
  create-organization --name <name> --slug <slug> [--tier free|pro|enterprise]
  create-api-key --organization <slug> --name <name>          create an API key and print it; it is not shown again
  --help                                                      print this text`;

/** The commands of the command line. They read the environment of the process. */
export const commands: Commands = {
  // The modules of the service are loaded only here, so that the other commands start faster.
  serve: async () => (await import('./start.ts')).startHub(prismaDir),
  migrate: async () => {
    const applied = await migrateDatabase({ prismaDir, ...preparationOf(readDatabaseSettings(process.env)) });
    console.log(applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`);
  },
  import: async (args) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'dry-run': { type: 'boolean', default: false },
        prune: { type: 'boolean', default: false },
        yes: { type: 'boolean', default: false },
        'max-deletions': { type: 'string', default: '10' },
      },
    });
    const folder = onlyFolder(positionals);
    const { 'max-deletions': max } = parseOptions(importOptions, { 'max-deletions': values['max-deletions'] });
    const prune = values.prune ? { max, isConfirmed: values.yes } : undefined;
    const report = await withDatabase((database) =>
      importCatalog(database, { folder, dryRun: values['dry-run'], prune }),
    );
    console.log(report.join('\n'));
  },
  export: async (args) => {
    const options = { prune: { type: 'boolean', default: false } } as const;
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    const folder = onlyFolder(positionals);
    const report = await withDatabase((database) => exportCatalog(database, { folder, prune: values.prune }));
    console.log(report.join('\n'));
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

const importOptions = z.strictObject({ 'max-deletions': queryInteger(0, 1_000_000) });

function onlyFolder([folder, ...rest]: readonly string[]): string {
  if (folder === undefined || rest.length > 0) throw new Error(`Specify exactly one folder.\n${usage}`);
  return folder;
}

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
