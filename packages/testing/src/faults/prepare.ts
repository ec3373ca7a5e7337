import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from '@jest/globals';
import { freePort } from '@svc/database/embedded';
import { createTestDatabase } from '../database/databases.ts';
import { scaled } from '../run/deadlines.ts';
import { type StartedProcess, startProcess, untilReady } from '../servers/processes.ts';
import { mountDisk } from './disk.ts';
import { type OwnPostgres, startOwnPostgres } from './own-postgres.ts';

export interface ServiceSettings {
  /** The built main file. */
  readonly main: string;
  /** Default: a free port. */
  readonly port?: number | undefined;
  readonly environment: Readonly<Record<string, string>>;
}

/** The timeouts of services for their databases, in milliseconds. */
const DATABASE_TIMEOUTS = { lock_timeout: 2000, statement_timeout: 2500, query_timeout: 2750 };

/**
 * The URL for a service that must not refuse requests because the machine is busy: with longer
 * timeouts then.
 */
export function patientUrl(databaseUrl: string): string {
  const connectSeconds = Math.ceil(scaled(1000) / 1000);
  if (connectSeconds === 1) return databaseUrl;
  const url = new URL(databaseUrl);
  url.searchParams.set('connect_timeout', `${connectSeconds}`);
  for (const [name, milliseconds] of Object.entries(DATABASE_TIMEOUTS))
    url.searchParams.set(name, `${scaled(milliseconds)}`);
  return url.href;
}

export interface RunningService extends StartedProcess {
  readonly url: string;
  readonly port: number;
  readonly readyAfterMs: number;
}

/**
 * Functions that start what tests of faults need. After the last test of the file, everything is
 * stopped, also after failures.
 */
export function prepareFaults() {
  const closers: (() => unknown)[] = [];
  afterAll(async () => {
    const failures: unknown[] = [];
    for (const close of closers.reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'cleanup failed');
  });

  const aDatabase = async (): Promise<string> => {
    const { url, drop } = await createTestDatabase();
    closers.push(drop);
    return url;
  };
  /** A folder that the user of PostgreSQL can enter. */
  const aFolder = (): string => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'faults-'));
    fs.chmodSync(folder, 0o755);
    closers.push(() => fs.rmSync(folder, { recursive: true, force: true }));
    return folder;
  };
  /** A small disk; undefined if mounting is not permitted. */
  const aDisk = (size: string): string | undefined => {
    const folder = aFolder();
    const unmount = mountDisk(folder, size);
    if (unmount) closers.push(unmount);
    else fs.rmdirSync(folder); // afterAll does not run if all tests of the file are skipped
    return unmount && folder;
  };
  const aPostgres = async (folder = aFolder()): Promise<OwnPostgres> => {
    const server = await startOwnPostgres(folder);
    closers.push(server.stop);
    return server;
  };
  /** A ready service in its own process. */
  const aService = async ({ main, port: requestedPort, environment }: ServiceSettings): Promise<RunningService> => {
    const port = requestedPort ?? (await freePort());
    const started = performance.now();
    const running = startProcess(main, [], { PORT: `${port}`, RATE_LIMIT: 'off', LOG_LEVEL: 'error', ...environment });
    closers.push(() => {
      running.child.kill('SIGKILL');
      return running.ended;
    });
    const url = `http://127.0.0.1:${port}`;
    await untilReady(url, running);
    return { ...running, url, port, readyAfterMs: Math.round(performance.now() - started) };
  };
  return { closers, aDatabase, aFolder, aDisk, aPostgres, aService };
}
