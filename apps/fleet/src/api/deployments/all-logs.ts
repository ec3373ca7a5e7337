import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { EngineFailure, Unreachable } from '../../engines/errors.ts';

/** The lines of a log. */
export type Lines = AsyncGenerator<string, void, void>;

interface Logs {
  /** The names of the instances at the start. */
  readonly names: readonly string[];
  /** Opens the log of an instance. */
  open(name: string): Promise<Lines>;
}

const withName = (name: string, line: string) => `${name} | ${line}`;

/**
 * The logs of all instances, one after the other. Instances without a log are left out.
 *
 * @throws EngineFailure if the target is unreachable, or no instance has a log
 */
export async function* allLogs({ names, open }: Logs): Lines {
  let failure: EngineFailure | undefined;
  let hasLog = false;
  for (const name of names) {
    try {
      for await (const line of await open(name)) yield withName(name, line);
      hasLog = true;
    } catch (error) {
      if (!(error instanceof EngineFailure) || error instanceof Unreachable) throw error;
      failure ??= error;
    }
  }
  if (failure && !hasLog) throw failure;
}

interface FollowedLogs extends Logs {
  /** The names of the instances now; undefined if the deployment does not run any more. */
  present(): Promise<readonly string[] | undefined>;
  /** The maximum number of logs at the same time. */
  readonly limit: number;
  /** The time between two reads of the instances, in milliseconds. */
  readonly pollMs: number;
  readonly signal: AbortSignal;
}

/** The logs of all instances as they are written, also of instances that are created later. */
export async function* followedLogs({ names, open, present, limit, pollMs, signal }: FollowedLogs): Lines {
  const lines = new PassThrough({ objectMode: true });
  const followed = new Map<string, Promise<void>>();
  const follow = async (name: string) => {
    try {
      for await (const line of await open(name)) {
        if (!lines.write(withName(name, line))) await once(lines, 'drain', { signal });
      }
    } catch (error) {
      // An instance that has not started, or that has ended meanwhile, has no log.
      if (!(error instanceof EngineFailure) || error instanceof Unreachable) throw error;
    } finally {
      followed.delete(name);
    }
  };
  const known = new Set<string>();
  const followAll = async () => {
    for (let current: readonly string[] | undefined = names; current; current = await present()) {
      for (const name of current.filter((each) => !known.has(each)).slice(0, limit - followed.size)) {
        known.add(name);
        followed.set(
          name,
          follow(name).catch((error: Error) => void lines.destroy(error)),
        );
      }
      await pause(pollMs, undefined, { signal });
    }
    await Promise.all(followed.values());
    lines.end();
  };
  followAll().catch((error: Error) => lines.destroy(error));
  yield* lines;
}
