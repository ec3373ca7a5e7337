import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import type { Settings } from './program.ts';

export interface Started {
  /** Of its API: `unix:///…`. */
  readonly endpoint: string;
  byHand(...args: readonly string[]): Promise<string>;
  /** Ends containers at once, and removes them. */
  discard(...names: readonly string[]): Promise<void>;
  /** Removes what is left in it, and ends it. */
  stop(): Promise<void>;
}

interface Service extends Settings {
  readonly file: string;
  readonly args: readonly string[];
  readonly socket: string;
}

/** Starts a program that serves the API of an engine at a socket. @returns what ends it */
export async function startService({ file, args, socket, ...settings }: Service): Promise<() => Promise<void>> {
  const service = spawn(file, args, { ...settings, stdio: 'ignore' });
  const ended = once(service, 'exit');
  const stop = async () => {
    service.kill();
    await ended;
  };
  await answers(service, socket).catch(async (error) => {
    await stop();
    throw error;
  });
  return stop;
}

async function answers(service: ChildProcess, socket: string): Promise<void> {
  for (let left = 300; !(await answersAt(socket)); left -= 1) {
    if (service.exitCode !== null || left === 0) throw new Error(`${service.spawnfile} did not start to serve its API`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A socket that is there tells nothing yet: it has been seen to be asked before anybody listened. */
const answersAt = (socketPath: string) =>
  new Promise<boolean>((resolve) => {
    const request = get({ socketPath, path: '/_ping', timeout: 5000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });

/** One that its engine starts again just now can't be removed: the next time it can. */
export async function persistently(work: () => Promise<unknown>, tries = 5): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (tries === 1) throw error;
    await persistently(work, tries - 1);
  }
}
