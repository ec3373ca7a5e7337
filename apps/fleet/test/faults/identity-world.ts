import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { hashSecretToken, newSecretToken, shownPrefix } from '@svc/auth';
import { createTestDatabase, freePort, startProcess, untilReady } from '@svc/testing';
import pg from 'pg';
import { aKey } from '../process-world.ts';
import { ask } from './identity-load.ts';
import { type OwnPostgres, startOwnPostgres } from './identity-postgres.ts';

const MAIN = path.resolve(import.meta.dirname, '../../dist/main.js');

/** Prints a measurement when FAULT_FIGURES is set: figures are read by people, never asserted. */
export function figure(line: string): void {
  if (process.env.FAULT_FIGURES) process.stderr.write(`${line}\n`);
}

interface FleetSettings {
  readonly databaseUrl: string;
  /** Default: any free port. */
  readonly port?: number;
}

type Faults = ReturnType<typeof prepareFaults>;
export type RunningFleet = Awaited<ReturnType<Faults['aFleet']>>;

/** Starts what a test of faults needs; after the last test of the file all of it is ended, whatever failed before. */
export function prepareFaults() {
  const ENCRYPTION_KEYS = aKey('of-the-test');
  const closers: (() => Promise<unknown>)[] = [];
  afterAll(async () => {
    const failures: unknown[] = [];
    for (const close of closers.reverse()) await close().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, 'not everything could be ended');
  }, 60_000);

  const aDatabase = async (): Promise<string> => {
    const { url, drop } = await createTestDatabase();
    closers.push(drop);
    return url;
  };
  /** A PostgreSQL of its own, in a folder that its user can enter. */
  const aPostgres = async (): Promise<OwnPostgres> => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fleet-faults-'));
    fs.chmodSync(folder, 0o755);
    closers.push(async () => fs.rmSync(folder, { recursive: true, force: true }));
    const server = await startOwnPostgres(folder);
    closers.push(server.stop);
    return server;
  };
  /** A fleet in a process of its own, ready to serve. */
  const aFleet = async ({ databaseUrl, port: wanted }: FleetSettings) => {
    const port = wanted ?? (await freePort());
    const started = performance.now();
    const running = startProcess(MAIN, [], {
      DATABASE_URL: databaseUrl,
      ENCRYPTION_KEYS,
      PORT: `${port}`,
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'error',
    });
    closers.push(() => {
      running.child.kill('SIGKILL');
      return running.ended;
    });
    const url = `http://127.0.0.1:${port}`;
    await untilReady(url, running);
    return { ...running, url, port, readyAfterMs: Math.round(performance.now() - started) };
  };
  return { aDatabase, aPostgres, aFleet };
}

/** Statements on connections of the test's own. */
export const queryOn =
  (connectionString: string) =>
  async (sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5000 });
    await client.connect();
    try {
      return (await client.query(sql, [...values])).rows;
    } finally {
      await client.end();
    }
  };

/** Holds a lock in a transaction of the test while `work` runs. */
export async function holding<T>(databaseUrl: string, lock: string, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    await client.query(`BEGIN; ${lock}`);
    return await work();
  } finally {
    await client.end(); // and with it the transaction
  }
}

/** An MCP token of an admin, made in the database. @returns its secret */
export async function anAdminToken(databaseUrl: string): Promise<string> {
  const secret = newSecretToken('svcm_');
  await queryOn(databaseUrl)(
    `INSERT INTO tokens (id, name, role, token_hash, token_prefix, created_by)
     VALUES (gen_random_uuid(), 'of the test', 'admin', $1, $2, 'test')`,
    [hashSecretToken(secret), shownPrefix(secret)],
  );
  return secret;
}

export const isReady = async ({ url }: { readonly url: string }): Promise<boolean> =>
  (await ask(`${url}/readyz`)).status === 200;
