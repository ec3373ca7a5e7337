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

const always = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];
const withoutDurability = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'autovacuum=off',
  'wal_level=minimal',
  'max_wal_senders=0',
];
const patience = 10_000; // milliseconds for an orderly stop

/** Starts the server and waits until it takes connections. Answers with what stops it again. */
export async function startServer(start: Start): Promise<() => Promise<void>> {
  const durable = start.storage.kind === 'durable';
  const settings = durable ? always : [...always, ...withoutDurability];
  const flags = ['-p', String(start.port), ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(path.join(start.bin, 'postgres'), [...ownerArguments(start.dataDir), ...flags], {
    ...start.account,
    cwd: '/',
    env: serverEnvironment,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: durable, // Ctrl-C in a terminal reaches a throw-away server at once, a durable one when its users are done
  });
  const signal = durable ? 'SIGINT' : 'SIGQUIT';
  const stopAtExit = () => child.kill(signal);
  process.once('exit', stopAtExit);
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));

  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (lines.length > 50) lines.shift();
      start.log(line);
      if (line.includes('database system is ready to accept connections')) resolve();
    });
    child.once('error', (cause) => reject(new Error(`PostgreSQL can't be started: ${cause.message}.`, { cause })));
    child.once('close', () => reject(new Error(`PostgreSQL did not start: ${reason(lines)}`)));
  }).catch((error: unknown) => {
    process.off('exit', stopAtExit);
    throw error;
  });

  // Forgetting to stop it must not hold the process.
  child.unref();
  (child.stderr as Socket).unref(); // the stream of a pipe is a socket, which the types don't say

  return async () => {
    process.off('exit', stopAtExit);
    child.ref();
    child.kill(signal);
    const impatient = setTimeout(() => child.kill('SIGQUIT'), patience);
    await gone;
    clearTimeout(impatient);
  };
}

function reason(lines: string[]): string {
  const told = lines.filter((line) => /\b(FATAL|HINT|DETAIL):/.test(line));
  return (told.length > 0 ? told : lines.slice(-3)).map((line) => line.replace(/^.*?\b[A-Z]+: +/, '')).join(' ');
}
