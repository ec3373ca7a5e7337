// svc-migrate: see `usage`.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { migrate, migrationDrift, newMigration } from './migrate.ts';

const usage = `svc-migrate new <name> --prisma-dir <folder>   write the next migration from schema.prisma
svc-migrate drift --prisma-dir <folder>        compare the database with schema.prisma
Without DATABASE_URL: on a throw-away PostgreSQL that has every migration.`;

/** Runs the command of these arguments; answers with the exit code: 0 done, 1 wrong usage, 2 drift. */
export async function runCommand(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { 'prisma-dir': { type: 'string', default: 'prisma' } },
  });
  const [command, name] = positionals;
  const prismaDir = path.resolve(values['prisma-dir']);
  if (command === 'drift') return withDatabase(prismaDir, (databaseUrl) => drift({ prismaDir, databaseUrl }));
  if (command === 'new' && name) {
    return withDatabase(prismaDir, async (databaseUrl) => {
      const written = await newMigration({ prismaDir, databaseUrl, name });
      console.log(written ? `Wrote ${written}: read it before you commit it.` : 'Nothing to change.');
      return 0;
    });
  }
  console.error(usage);
  return 1;
}

async function drift(place: { prismaDir: string; databaseUrl: string }): Promise<number> {
  const sql = await migrationDrift(place);
  console.log(sql || 'The database fits its schema.');
  return sql ? 2 : 0;
}

async function withDatabase(prismaDir: string, work: (databaseUrl: string) => Promise<number>): Promise<number> {
  const given = process.env.DATABASE_URL;
  if (given) return work(given);
  const { startEmbeddedPostgres } = await import('../embedded.ts'); // not installed where a service runs
  const server = await startEmbeddedPostgres();
  try {
    await migrate({ prismaDir, databaseUrl: server.url('postgres') });
    return await work(server.url('postgres'));
  } finally {
    await server.stop();
  }
}
