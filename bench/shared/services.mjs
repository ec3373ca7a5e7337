// The hub and the fleet as in production: built, and in processes of their own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@svc/database/embedded';
import { sendOnce } from './client.mjs';
import { startServer } from './processes.mjs';

export const repository = path.resolve(import.meta.dirname, '../..');
const READY_TIMEOUT_MS = 60_000;

/**
 * A service with its settings. Its processes write their log to a file, which is removed at the
 * end.
 * @param app `hub` or `fleet`
 * @param environment its settings, without the port
 * @param root a checkout whose services are built. The default is this one
 */
export function createService({ app, environment, root = repository }) {
  const main = path.join(root, 'apps', app, 'dist', 'main.js');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
  const log = fs.openSync(path.join(folder, `${app}.log`), 'w');
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', ...environment };
  const running = [];
  return {
    /** Runs a command. @returns what it prints. @throws if it fails */
    command: async (...args) => {
      const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      const closed = once(child, 'close');
      const output = await text(child.stdout);
      const [code] = await closed;
      if (code !== 0) throw new Error(`${app} ${args.join(' ')} failed`);
      return output;
    },
    /** Starts a process, and waits until it is ready. @returns as `startServer`, and its `url` */
    start: async () => {
      const port = await freePort();
      const server = startServer([main], { env: { ...env, PORT: `${port}` }, stdio: ['ignore', log, 'inherit'] });
      running.push(server);
      const url = `http://127.0.0.1:${port}`;
      await untilReady(url, server.child);
      return { ...server, url };
    },
    stop: async () => {
      await Promise.all(running.map((server) => server.stop()));
      fs.closeSync(log);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @throws if the process ends before it is ready, or is not ready in time */
async function untilReady(url, child) {
  for (
    const deadline = Date.now() + READY_TIMEOUT_MS;
    Date.now() < deadline && child.exitCode === null;
    await delay(50)
  ) {
    const isReady = await sendOnce(url, { path: '/readyz' }).catch(() => false); // not listening yet
    if (isReady) return;
  }
  throw new Error(`${url} did not become ready`);
}
