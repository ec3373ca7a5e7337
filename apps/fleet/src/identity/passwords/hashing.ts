import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { Options } from '@node-rs/argon2';
import type { Piscina } from 'piscina';

/** Argon2id hashes of passwords, in the PHC string format. */
export interface Hashing {
  hash(password: string, cost: Options): Promise<string>;
  verify(hash: string, password: string): Promise<boolean>;
}

export interface HashingThreads extends Hashing {
  /** Ends the threads. Calls in progress reject. */
  stop(): Promise<void>;
}

/** The number of threads. Hashing leaves a processor to the other work of the machine. */
export const HASHING_THREADS = Math.max(1, Math.min(2, availableParallelism() - 1));

/**
 * The nice value of the threads on Linux. If the machine is busy, they receive a thirtieth of the
 * time of a thread with 0.
 */
const NICE = 15;

/** A thread needs 50 ms to start, so it stays for a while after its last call. */
const IDLE_MS = 60_000;

/**
 * Threads with a low priority. A password takes tens of milliseconds of CPU time and anybody can
 * send one, so that the other requests go first if the machine is busy.
 */
export function createHashingThreads(): HashingThreads {
  let created: Promise<Piscina> | undefined;
  const run = async (input: object, name: string) => {
    created ??= createPool(); // at the first password, because many starts see none
    return (await created).run(input, { name });
  };
  return {
    hash: (password, cost) => run({ password, cost }, 'hash'),
    verify: (hash, password) => run({ hash, password }, 'verify'),
    stop: async () => (await created)?.destroy(),
  };
}

async function createPool(): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  const { dirname, filename } = import.meta;
  return new Piscina({
    filename: path.join(dirname, `hashing-thread${path.extname(filename)}`),
    minThreads: 0,
    maxThreads: HASHING_THREADS,
    idleTimeout: IDLE_MS,
    niceIncrement: NICE,
  });
}
