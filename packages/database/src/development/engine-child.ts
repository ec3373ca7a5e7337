// The process that runs the schema engine: it receives one request from `engine-process.ts` and sends one response.
import fs from 'node:fs';
import path from 'node:path';
import { migrationsFolder, readMigrations } from '../migrations/files.ts';
import { createEngine } from './engine.ts';
import type { EngineRequest, EngineResponse } from './engine-process.ts';

const filters = { externalTables: [], externalEnums: [] };

process.once('disconnect', () => process.exit(1)); // the parent process has exited
process.once('message', async (request: EngineRequest) => {
  const response = await run(request).catch(
    (error: unknown): EngineResponse => ({ kind: 'failed', reason: messageOf(error) }),
  );
  process.send?.(response, () => process.exit(0)); // connections and timers of the engine would keep the process alive
});

if (!process.connected) process.exit(1); // the parent process exited while this module was loading

async function run(request: EngineRequest): Promise<EngineResponse> {
  const schemaPath = path.join(request.prismaDir, 'schema.prisma');
  const content = fs.readFileSync(schemaPath, 'utf8');
  const engine = await createEngine({ schema: [schemaPath, content], databaseUrl: request.databaseUrl });
  if (request.kind === 'diagnose') {
    const history = await engine.diagnoseMigrationHistory({
      migrationsList: migrationsList(request.prismaDir),
      optInToShadowDatabase: false,
      filters,
    });
    return { kind: 'diagnosed', history };
  }
  const files = [{ path: schemaPath, content }];
  const difference = await engine.diff({
    from: { tag: 'schemaDatasource', files, configDir: request.prismaDir },
    to: { tag: 'schemaDatamodel', files },
    script: true,
    exitCode: true,
    filters,
  });
  return { kind: 'compared', sql: difference.exitCode === 0 ? '' : (difference.stdout ?? '') };
}

function migrationsList(prismaDir: string) {
  const baseDir = migrationsFolder(prismaDir);
  const lockfile = path.join(baseDir, 'migration_lock.toml');
  return {
    baseDir,
    lockfile: {
      path: path.basename(lockfile),
      content: fs.existsSync(lockfile) ? fs.readFileSync(lockfile, 'utf8') : null,
    },
    shadowDbInitScript: '',
    migrationDirectories: readMigrations(prismaDir).map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value: sql } },
    })),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
