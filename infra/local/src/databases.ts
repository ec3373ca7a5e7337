import fs from 'node:fs';
import path from 'node:path';
import { startEmbeddedPostgres } from '@svc/database/embedded';
import type { Lifetime } from './lifetime.ts';
import type { Secrets } from './secrets.ts';
import { logFile } from './services.ts';
import type { Settings } from './settings.ts';
import { StartError } from './start-error.ts';

export type Databases = { hub: string; fleet: string; dataDir: string };

/**
 * Starts PostgreSQL with a database and a role for each service. Resolves to the URLs of the databases and the data
 * folder.
 */
export async function startDatabases(settings: Settings, secrets: Secrets, lifetime: Lifetime): Promise<Databases> {
  const log = logFile(settings.dataDir, 'postgres');
  const server = await startEmbeddedPostgres({
    dataDir: path.join(settings.dataDir, 'postgres', secrets.databaseFolder),
    port: settings.ports.postgres,
    password: secrets.postgresPassword,
    log: (line) => fs.appendFileSync(log, `${line.trimEnd()}\n`, { mode: 0o600 }),
  });
  lifetime.atEnd(() => server.stop());
  watch(server.dataDir, () => lifetime.fail(new StartError(`PostgreSQL ended unexpectedly. Its log is ${log}.`)));
  const urlOf = async (name: 'hub' | 'fleet', password: string) =>
    withLongTimeouts(await server.ensureDatabase({ name, role: name, password }));
  return {
    hub: await urlOf('hub', secrets.hubPassword),
    fleet: await urlOf('fleet', secrets.fleetPassword),
    dataDir: server.dataDir,
  };
}

/** Timeouts of the database in the URL: `connect_timeout` in seconds, the others in milliseconds. */
const TIMEOUTS = { connect_timeout: 20, lock_timeout: 20_000, statement_timeout: 20_000, query_timeout: 21_000 };

/**
 * The product shares a development machine with other work. With the timeouts of production, a start on a busy machine
 * fails.
 */
function withLongTimeouts(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  for (const [name, value] of Object.entries(TIMEOUTS)) url.searchParams.set(name, `${value}`);
  return url.href;
}

/** Calls `onEnd` within a second after the server has ended. */
function watch(postgresData: string, onEnd: () => void) {
  const pid = Number.parseInt(fs.readFileSync(path.join(postgresData, 'postmaster.pid'), 'utf8'), 10);
  setInterval(() => {
    try {
      process.kill(pid, 0); // signal 0 only checks whether the process exists
    } catch {
      onEnd();
    }
  }, 1000).unref();
}
