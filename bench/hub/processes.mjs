// The hub with its database, and the bare server that it is compared with.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort, startEmbeddedPostgres } from '@svc/database/embedded';
import { peakMemoryOf, untilReady } from '../shared/processes.mjs';
import { fillHub } from './data.mjs';

const MAIN = path.resolve(import.meta.dirname, '../../apps/hub/dist/main.js');
const BARE = path.join(import.meta.dirname, 'bare.mjs');
export const AUDIENCE = 'https://hub.example.test';
const TICK_MS = 10; // of the CPU times in /proc

const statOf = (pid) => fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');

/** The CPU time of a process so far in milliseconds, and with `children` that of its past and present children. */
export function cpuOf(pid, { children = false } = {}) {
  const fields = statOf(pid).map(Number);
  const own = fields[11] + fields[12];
  if (!children) return own * TICK_MS;
  const ofChildren = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        const stat = statOf(name);
        return Number(stat[1]) === pid ? Number(stat[11]) + Number(stat[12]) : 0;
      } catch {
        return 0; // the process has ended
      }
    });
  return (own + fields[13] + fields[14] + ofChildren.reduce((sum, ticks) => sum + ticks, 0)) * TICK_MS;
}

/** Starts a PostgreSQL server with a database. `cpu` is the CPU time of all its processes so far, in milliseconds. */
export async function startDatabase(name) {
  const postgres = await startEmbeddedPostgres();
  try {
    const url = await postgres.ensureDatabase({ name, role: name, password: randomBytes(12).toString('hex') });
    const postmaster = Number(fs.readFileSync(path.join(postgres.dataDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
    return { url, cpu: () => cpuOf(postmaster, { children: true }), stop: postgres.stop };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** Ends a process with SIGTERM, and waits for its end. */
export async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/**
 * Starts a hub as in production, with a catalog. Its log is written to a file. `provider` is the identity provider, with the subject of
 * an administrator; without it, only keys are accepted.
 */
export async function startHub(templates, provider = { issuer: 'http://127.0.0.1:1', subject: 'nobody' }) {
  const database = await startDatabase('hub');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
  const log = fs.openSync(path.join(folder, 'hub.log'), 'w');
  const port = await freePort();
  const environment = {
    ...{ DATABASE_URL: database.url, PORT: `${port}`, RATE_LIMIT: 'off' },
    ...{ OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: AUDIENCE, SUPERADMIN_SUBJECTS: provider.subject },
  };
  const run = (...args) =>
    spawn(process.execPath, [MAIN, ...args], {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
      stdio: ['ignore', log, 'inherit'],
    });
  let child;
  const stop = async () => {
    if (child) await end(child);
    await database.stop();
    fs.closeSync(log);
    fs.rmSync(folder, { recursive: true, force: true });
  };
  try {
    const migration = run('migrate');
    await once(migration, 'close');
    const keys = await fillHub(database.url, templates);
    child = run();
    const url = `http://127.0.0.1:${port}`;
    await untilReady(url, child);
    const { pid } = child;
    return {
      ...{ url, keys, templates, databaseUrl: database.url },
      cpu: () => cpuOf(pid),
      databaseCpu: database.cpu,
      memory: () => peakMemoryOf(pid),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts a bare `node:http` server that sends these responses, by path. */
export async function startBare(responses) {
  const child = spawn(process.execPath, [BARE], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(responses));
  const [port] = await once(child.stdout, 'data');
  return { url: `http://127.0.0.1:${String(port).trim()}`, cpu: () => cpuOf(child.pid), stop: () => end(child) };
}
