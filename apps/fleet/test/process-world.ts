import { randomBytes } from 'node:crypto';
import path from 'node:path';
import {
  createEmptyDatabase,
  createTestDatabase,
  freePort,
  type StartedProcess,
  startProcess,
  untilReady,
} from '@svc/testing';
import { patientUrl } from '@svc/testing/faults';
import pg from 'pg';
import type { FleetTimings } from '../src/app.ts';

const MAIN = path.resolve(import.meta.dirname, '../dist/main.js');
const WITH_TIMINGS = path.resolve(import.meta.dirname, 'fleet-with-timings.mjs');

/** A new encryption key in the format of the environment variable. */
export const aKey = (kid: string) => `${kid}:${randomBytes(32).toString('base64')}`;

/** Settings of every fleet in a test file. */
export const ENCRYPTION_KEYS = aKey('first');

interface Options {
  /** The default is the timings of production. */
  readonly timings?: FleetTimings | undefined;
  /**
   * Whether the database is migrated already. If not, it is empty, and the first process migrates
   * it.
   */
  readonly isMigrated?: boolean;
}

/** Processes of the built fleet on one database. */
export async function startProcessWorld({ timings, isMigrated = false }: Options = {}) {
  const { url, drop } = await (isMigrated ? createTestDatabase() : createEmptyDatabase());
  const databaseUrl = patientUrl(url);
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined); // a test may terminate connections
  const database = {
    url,
    drop: async () => {
      await pool.end();
      await drop();
    },
  };
  const started: StartedProcess[] = [];

  const start = (file: string, args: readonly string[], environment: Readonly<Record<string, string>>) => {
    const running = startProcess(file, args, environment);
    started.push(running);
    return running;
  };
  const run = (args: readonly string[], environment: Readonly<Record<string, string>>) =>
    start(MAIN, args, environment);
  const serve = (environment: Readonly<Record<string, string>>) =>
    timings ? start(WITH_TIMINGS, [JSON.stringify(timings)], environment) : run([], environment);

  /** Starts a fleet, and waits until it is ready. */
  const startFleet = async (environment: Readonly<Record<string, string>> = {}) => {
    const port = await freePort();
    const running = serve({ DATABASE_URL: databaseUrl, ENCRYPTION_KEYS, PORT: `${port}`, ...environment });
    const url = `http://127.0.0.1:${port}`;
    await untilReady(url, running);
    const get = (address: string, token: string) =>
      fetch(`${url}${address}`, { headers: { Authorization: `Bearer ${token}` } });
    return { ...running, url, get };
  };

  /** Runs the command that prints a token. */
  const createToken = async (role: string, ...more: string[]) => {
    const args = ['create-token', '--name', `the ${role}`, '--role', role, ...more];
    const { ended, output } = run(args, { DATABASE_URL: databaseUrl });
    if ((await ended) !== 0) throw new Error(`create-token failed:\n${output()}`);
    return JSON.parse(output());
  };

  const query = async (sql: string) => (await pool.query(sql)).rows;

  return {
    database,
    run,
    startFleet,
    createToken,
    query,
    /** Signals a fleet to stop. */
    stop: async ({ child, ended }: StartedProcess) => {
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    },
    /** Ends processes that a failed test left running. */
    endAll: async () => {
      for (const { child, ended } of started.splice(0)) {
        child.kill('SIGKILL');
        await ended;
      }
    },
  };
}
