import { waitingProcesses } from './waiting-processes.ts';

/** The lifetime of the product: until it is stopped or a part of it fails. */
export type Lifetime = {
  /** Aborted at the end. Its reason is a StopRequest, or the error of the part that failed. */
  signal: AbortSignal;
  fail(error: Error): void;
  /** Registers a cleanup. Cleanups run at the end in reverse order. */
  atEnd(cleanUp: () => void | Promise<void>): void;
  end(): Promise<void>;
};

/** The product is stopped. This is not a failure. */
export class StopRequest extends Error {}

export function openLifetime(): Lifetime {
  const controller = new AbortController();
  const cleanUps: (() => void | Promise<void>)[] = [];
  return {
    signal: controller.signal,
    fail: (error) => controller.abort(error),
    atEnd: (cleanUp) => cleanUps.push(cleanUp),
    async end() {
      controller.abort(new StopRequest('ended'));
      for (const cleanUp of cleanUps.reverse()) {
        try {
          await cleanUp();
        } catch (error) {
          console.error(error); // the other parts must still be stopped
        }
      }
    },
  };
}

/**
 * Ends the lifetime on a signal, or when the terminal is closed, the parent process exits, or (`watchParents`) npm
 * exits.
 */
export function watchForStop(lifetime: Lifetime, { watchParents }: { watchParents: boolean }): void {
  const stop = (why: string) => lifetime.fail(new StopRequest(why));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
  if (process.connected) process.once('disconnect', () => stop('the parent process has exited'));
  // Writing to a closed terminal fails. The error is ignored, because the services must be stopped first.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  if (!watchParents) return;
  const waiting = waitingProcesses().join();
  setInterval(() => {
    if (waitingProcesses().join() !== waiting) stop('npm has exited');
  }, 1000).unref();
}
