import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { eventually } from '../run/eventually.ts';
import type { Settings } from './program.ts';

export interface Started {
  /** The endpoint of its API: `unix:///…`. */
  readonly endpoint: string;
  byHand(...args: readonly string[]): Promise<string>;
  /** Kills and removes containers. */
  discard(...names: readonly string[]): Promise<void>;
  /** Stops the program that serves the API, and starts it again. */
  restart(): Promise<void>;
  /** Removes all containers, and stops the engine. */
  stop(): Promise<void>;
}

interface Service extends Settings {
  readonly file: string;
  readonly args: readonly string[];
  readonly socket: string;
}

/** How long a service may take to end after SIGTERM. */
const GRACE_MS = 10_000;

/**
 * Starts a program that serves the API of an engine at a socket.
 * @returns a function that stops it
 */
export async function startService({ file, args, socket, ...settings }: Service): Promise<() => Promise<void>> {
  const service = spawn(file, args, { ...settings, stdio: 'ignore' });
  const ended = once(service, 'exit');
  const stop = async () => {
    service.kill();
    const escalation = setTimeout(() => service.kill('SIGKILL'), GRACE_MS);
    await ended;
    clearTimeout(escalation);
  };
  await waitUntilReady(service, socket).catch(async (error) => {
    await stop();
    throw error;
  });
  return stop;
}

async function waitUntilReady(service: ChildProcess, socket: string): Promise<void> {
  await eventually(`${service.spawnfile} is ready`, () => {
    if (service.exitCode !== null) throw new Error(`${service.spawnfile} ended with ${service.exitCode}`);
    return isReady(socket);
  });
}

/** Whether the API responds. The socket can exist before the engine listens on it. */
const isReady = (socketPath: string) =>
  new Promise<boolean>((resolve) => {
    const request = get({ socketPath, path: '/_ping', timeout: 5000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });

/**
 * Retries `work`. A container that the engine is restarting cannot be removed, but later it can.
 */
export async function retry(work: () => Promise<unknown>, tries = 5): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (tries === 1) throw error;
    await retry(work, tries - 1);
  }
}
