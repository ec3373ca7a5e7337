import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Account } from './account.ts';
import { type Storage, serverEnvironment } from './data-folder.ts';
import { ownerArguments } from './orphan.ts';

type Start = {
  bin: string;
  dataDir: string;
  port: number;
  storage: Storage;
  account: Account;
  log: (line: string) => void;
};

const commonSettings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];
const temporarySettings = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'jit=off',
  'shared_buffers=32MB', // creating and dropping a database searches all of it
  'wal_level=minimal',
  'max_wal_senders=0',
];
const STOP_TIMEOUT_MS = 10_000;

/**
 * Starts the server and waits until it accepts connections. Resolves to a function that stops it. A
 * temporary server writes its data completely only if it stops in mode `clean`.
 */
export async function startServer(start: Start): Promise<(mode?: 'clean') => Promise<void>> {
  const { storage } = start;
  const durable = storage.kind === 'durable';
  const settings = durable
    ? commonSettings
    : [...commonSettings, ...temporarySettings, `autovacuum=${storage.autovacuum ? 'on' : 'off'}`];
  const flags = ['-p', String(start.port), ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(path.join(start.bin, 'postgres'), [...ownerArguments(start.dataDir), ...flags], {
    ...start.account,
    cwd: '/',
    env: serverEnvironment,
    stdio: ['ignore', 'ignore', 'pipe'],
    // Ctrl-C stops a temporary server at once, and a durable one only after its clients.
    detached: durable,
  });
  const signal = durable ? 'SIGINT' : 'SIGQUIT';
  const stopAtExit = () => child.kill(signal);
  process.once('exit', stopAtExit);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));

  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (lines.length > 50) lines.shift();
      start.log(line);
      if (line.includes('database system is ready to accept connections')) resolve();
    });
    child.once('error', (cause) => reject(new Error(`PostgreSQL could not be started: ${cause.message}.`, { cause })));
    child.once('close', () => reject(new Error(`PostgreSQL did not start: ${reason(lines)}`)));
  }).catch((error: unknown) => {
    process.off('exit', stopAtExit);
    throw error;
  });

  // A server that is not stopped must not keep this process alive.
  child.unref();
  (child.stderr as Socket).unref(); // the stream of a pipe is a socket, but has another type

  return async (mode) => {
    process.off('exit', stopAtExit);
    child.ref();
    child.kill(mode === 'clean' ? 'SIGINT' : signal);
    const timeout = setTimeout(() => child.kill('SIGQUIT'), STOP_TIMEOUT_MS);
    await closed;
    clearTimeout(timeout);
  };
}

function reason(lines: string[]): string {
  const relevant = lines.filter((line) => /\b(FATAL|HINT|DETAIL):/.test(line));
  return (relevant.length > 0 ? relevant : lines.slice(-3))
    .map((line) => line.replace(/^.*?\b[A-Z]+: +/, ''))
    .join(' ');
}
