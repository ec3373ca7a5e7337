import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { Options } from '@node-rs/argon2';
import { Piscina } from 'piscina';

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
  const { dirname, filename } = import.meta;
  const pool = new Piscina({
    filename: path.join(dirname, `hashing-thread${path.extname(filename)}`),
    minThreads: 0,
    maxThreads: HASHING_THREADS,
    idleTimeout: IDLE_MS,
    niceIncrement: NICE,
  });
  return {
    hash: (password, cost) => pool.run({ password, cost }, { name: 'hash' }),
    verify: (hash, password) => pool.run({ hash, password }, { name: 'verify' }),
    stop: () => pool.destroy(),
  };
}
