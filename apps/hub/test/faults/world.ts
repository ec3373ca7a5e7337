import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  createTestDatabase,
  freePort,
  type LocalIssuer,
  startLocalIssuer,
  startProcess,
  untilReady,
} from '@svc/testing';
import { ask } from './load.ts';
import { type OwnPostgres, startOwnPostgres } from './own-postgres.ts';

const MAIN = path.resolve(import.meta.dirname, '../../dist/main.js');
const AUDIENCE = 'https://hub.example.test';
const ADMIN_EMAIL = 'root@example.test';

/** Prints a measurement when FAULT_FIGURES is set: figures are read by people, never asserted. */
export function figure(line: string): void {
  if (process.env.FAULT_FIGURES) process.stderr.write(`${line}\n`);
}

interface HubSettings {
  readonly databaseUrl: string;
  readonly issuer: string;
  /** Default: any free port. */
  readonly port?: number;
}

export type RunningHub = Awaited<ReturnType<Faults['aHub']>>;
type Faults = ReturnType<typeof prepareFaults>;

/** Starts what a test of faults needs; after the last test of the file all of it is ended, whatever failed before. */
export function prepareFaults() {
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
  /** A folder that the user of PostgreSQL can enter. */
  const aFolder = (): string => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hub-faults-'));
    fs.chmodSync(folder, 0o755);
    closers.push(async () => fs.rmSync(folder, { recursive: true, force: true }));
    return folder;
  };
  const aPostgres = async (folder: string): Promise<OwnPostgres> => {
    const server = await startOwnPostgres(folder);
    closers.push(server.stop);
    return server;
  };
  const anIssuer = async (): Promise<LocalIssuer> => {
    const issuer = await startLocalIssuer(AUDIENCE);
    closers.push(issuer.close);
    return issuer;
  };
  /** A hub in a process of its own, ready to serve. */
  const aHub = async ({ databaseUrl, issuer, port: wanted }: HubSettings) => {
    const port = wanted ?? (await freePort());
    const started = performance.now();
    const running = startProcess(MAIN, [], {
      DATABASE_URL: databaseUrl,
      PORT: `${port}`,
      OIDC_ISSUER: issuer,
      OIDC_AUDIENCE: AUDIENCE,
      SUPERADMIN_EMAILS: ADMIN_EMAIL,
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
  return { closers, aDatabase, aFolder, aPostgres, anIssuer, aHub };
}

/** The Authorization of an administrator. */
export const adminOf = async (issuer: LocalIssuer, claims: { readonly iss?: string } = {}): Promise<string> => {
  const exp = Math.floor(Date.now() / 1000) + 3600;
  return `Bearer ${await issuer.sign('root', { email: ADMIN_EMAIL, email_verified: true, exp, ...claims })}`;
};

/** Makes an open category for the templates of a test. @returns its id */
export async function makeCategory(hub: { readonly url: string }, admin: string): Promise<string> {
  const { status, body } = await ask(`${hub.url}/api/v1/admin/categories`, {
    method: 'POST',
    authorization: admin,
    body: { name: 'Faults' },
  });
  expect(status).toBe(201);
  return body.category.id;
}
