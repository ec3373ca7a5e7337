import { waitingProcesses } from './waiting-processes.ts';

/** How long the product runs: until it is asked to stop, or a part of it fails. */
export type Lifetime = {
  /** Aborted at the end. Its reason is a StopRequest, or the error of the part that failed. */
  signal: AbortSignal;
  fail(error: Error): void;
  /** What to do at the end; the last one named is done first. */
  atEnd(cleanUp: () => void | Promise<void>): void;
  end(): Promise<void>;
};

/** Somebody wants it to stop: no failure. */
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
          console.error(error); // the other parts must be stopped all the same
        }
      }
    },
  };
}

/** Ends the lifetime on a signal, when the terminal is gone, or when the process that waits for us is. */
export function watchForStop(lifetime: Lifetime, { watchParents }: { watchParents: boolean }): void {
  const stop = (why: string) => lifetime.fail(new StopRequest(why));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
  if (process.connected) process.once('disconnect', () => stop('the process that started it is gone'));
  // A terminal that was closed refuses output; there is nobody to tell, and the services have to be stopped first.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  if (!watchParents) return;
  const waiting = waitingProcesses().join();
  setInterval(() => {
    if (waitingProcesses().join() !== waiting) stop('npm is gone');
  }, 1000).unref();
}
