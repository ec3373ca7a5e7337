import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { createEmptyDatabase, freePort, type StartedProcess, startProcess, untilReady } from '@svc/testing';
import pg from 'pg';

const MAIN = path.resolve(import.meta.dirname, '../dist/main.js');

/** A new encryption key as the environment has it. */
export const aKey = (kid: string) => `${kid}:${randomBytes(32).toString('base64')}`;

/** Those of every fleet in a test file. */
export const ENCRYPTION_KEYS = aKey('first');

/** The fleet as processes of the built program, on a database that was empty. */
export async function startProcessWorld() {
  const database = await createEmptyDatabase();
  const started: StartedProcess[] = [];

  const run = (args: readonly string[], environment: Readonly<Record<string, string>>) => {
    const running = startProcess(MAIN, args, environment);
    started.push(running);
    return running;
  };

  /** A fleet that is ready. */
  const startFleet = async (environment: Readonly<Record<string, string>> = {}) => {
    const port = await freePort();
    const running = run([], { DATABASE_URL: database.url, ENCRYPTION_KEYS, PORT: `${port}`, ...environment });
    const url = `http://127.0.0.1:${port}`;
    await untilReady(url, running);
    const get = (address: string, token: string) =>
      fetch(`${url}${address}`, { headers: { Authorization: `Bearer ${token}` } });
    return { ...running, url, get };
  };

  /** A token of the command line, as it is printed. */
  const createToken = async (role: string, ...more: string[]) => {
    const args = ['create-token', '--name', `the ${role}`, '--role', role, ...more];
    const { ended, output } = run(args, { DATABASE_URL: database.url });
    if ((await ended) !== 0) throw new Error(`create-token failed:\n${output()}`);
    return JSON.parse(output());
  };

  const query = async (sql: string) => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return rows;
  };

  return {
    database,
    run,
    startFleet,
    createToken,
    query,
    /** Tells a fleet to stop. */
    stop: async ({ child, ended }: StartedProcess) => {
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    },
    /** Ends what a failed test left. */
    endAll: async () => {
      for (const { child, ended } of started.splice(0)) {
        child.kill('SIGKILL');
        await ended;
      }
    },
  };
}
