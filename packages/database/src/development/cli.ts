// The command svc-migrate.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../embedded.ts';
import { withConnection } from '../migrations/connection.ts';
import { migrate } from '../migrations/migrate.ts';
import { readObjects, writeExpectedObjects } from '../migrations/objects.ts';
import { migrationDrift, newMigration } from './drift.ts';

const usage = `svc-migrate new <name> --prisma-dir <folder>   write the next migration from schema.prisma
svc-migrate drift --prisma-dir <folder>        compare the database with schema.prisma
svc-migrate objects --prisma-dir <folder>      write the objects of the database to objects.json, for the command doctor
Without DATABASE_URL, the commands use a temporary PostgreSQL server with all migrations.`;

/** Runs a command. Resolves to the exit code: 0 success, 1 invalid usage, 2 drift. */
export async function runCommand(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { 'prisma-dir': { type: 'string', default: 'prisma' } },
  });
  const [command, name] = positionals;
  const prismaDir = path.resolve(values['prisma-dir']);
  if (command === 'drift') return withDatabase(prismaDir, (databaseUrl) => drift({ prismaDir, databaseUrl }));
  if (command === 'objects') {
    return withDatabase(prismaDir, async (databaseUrl) => {
      writeExpectedObjects(prismaDir, await objectsOf(databaseUrl));
      return 0;
    });
  }
  if (command === 'new' && name) {
    return withDatabase(prismaDir, async (databaseUrl) => {
      const written = await newMigration({ prismaDir, databaseUrl, name });
      console.log(written ? `Wrote ${written}. Review it before you commit it.` : 'No changes.');
      return 0;
    });
  }
  console.error(usage);
  return 1;
}

const objectsOf = (databaseUrl: string) =>
  withConnection(databaseUrl, (client) => readObjects(async (sql) => (await client.query(sql)).rows));

async function drift(options: { prismaDir: string; databaseUrl: string }): Promise<number> {
  const sql = await migrationDrift(options);
  console.log(sql || 'The database matches the schema.');
  return sql ? 2 : 0;
}

async function withDatabase(prismaDir: string, work: (databaseUrl: string) => Promise<number>): Promise<number> {
  const given = process.env.DATABASE_URL;
  if (given) return work(given);
  const server = await startEmbeddedPostgres();
  try {
    await migrate({ prismaDir, databaseUrl: server.url('postgres') });
    return await work(server.url('postgres'));
  } finally {
    await server.stop();
  }
}
