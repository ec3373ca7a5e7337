// A fleet with its database and simulated hosts, as separate processes.
import { fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '@svc/database/embedded';
import { cpuOf, end, startDatabase } from '../hub/processes.mjs';
import { peakMemoryOf, untilReady } from '../shared/processes.mjs';

const MAIN = path.resolve(import.meta.dirname, '../../apps/fleet/dist/main.js');
/** The options of Node in the container image of the fleet. */
const NODE_OPTIONS = '--max-old-space-size=1024';
const PROFILER = new URL('profiler.mjs', import.meta.url).href;

/** Starts simulated hosts. `ask` sends a request to their control port. */
export async function startEngines({ hosts, cpus }) {
  const file = path.join(import.meta.dirname, 'engines.mjs');
  const child = fork(file, ['--hosts', `${hosts}`, '--cpus', `${cpus}`], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let output = '';
  while (!output.endsWith('\n')) output += (await once(child.stdout, 'data'))[0];
  const { control, endpoints } = JSON.parse(output);
  const ask = async (method, at, body) => {
    const response = await fetch(control + at, { method, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${at}: ${response.status}`);
    return response.json();
  };
  return { endpoints, ask, stop: () => end(child) };
}

/**
 * Starts a fleet as in production, with its log in a file. `startReplica` starts a further process on the same database. With `profiled`,
 * `profile(work)` returns the CPU profile of a replica during some work.
 */
export async function startFleet({ profiled = false } = {}) {
  const database = await startDatabase('fleet');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
  const log = fs.openSync(path.join(folder, 'fleet.log'), 'w');
  const running = [];
  const environment = {
    ...{ DATABASE_URL: database.url, RATE_LIMIT: 'off', HUB_SYNC_INTERVAL: '0', OUTBOUND_ALLOW: 'http,loopback' },
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  };
  const run = (args, { stdout = log, more = {}, options = [] } = {}) =>
    spawn(process.execPath, [...options, MAIN, ...args], {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', NODE_OPTIONS, ...environment, ...more },
      stdio: ['ignore', stdout, 'inherit'],
    });

  const startReplica = async () => {
    const port = await freePort();
    const profiles = path.join(folder, `${port}`);
    const options = profiled ? ['--import', PROFILER] : [];
    const child = run([], { options, more: { PORT: `${port}`, ...(profiled && { PROFILES: profiles }) } });
    running.push(child);
    const url = `http://127.0.0.1:${port}`;
    await untilReady(url, child);
    const { pid } = child;
    return {
      ...{ url, cpu: () => cpuOf(pid), memory: () => peakMemoryOf(pid) },
      kill: async () => {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      },
      profile: async (work) => {
        child.kill('SIGUSR2');
        const result = await work();
        child.kill('SIGUSR2');
        return { result, profile: await readWhenWritten(profiles) };
      },
    };
  };
  const tokenOf = async (role) => {
    const child = run(['create-token', '--name', role, '--role', role], { stdout: 'pipe' });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error('create-token failed');
    return JSON.parse(output).secret;
  };
  const stop = async () => {
    await Promise.all(running.map(end));
    await database.stop();
    fs.closeSync(log);
    fs.rmSync(folder, { recursive: true, force: true });
  };
  try {
    const replica = await startReplica();
    const tokens = { admin: await tokenOf('admin'), viewer: await tokenOf('viewer') };
    return { replica, tokens, databaseUrl: database.url, databaseCpu: database.cpu, startReplica, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function readWhenWritten(file) {
  for (;;) {
    if (fs.existsSync(file)) {
      const text = fs.readFileSync(file, 'utf8');
      fs.rmSync(file);
      return JSON.parse(text);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
