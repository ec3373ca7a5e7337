import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Target } from './delivery.ts';

/** Written at once. More would fill the buffer that the lines of the log share. */
const PART_BYTES = 64 * 1024;

interface Options {
  readonly stream: Writable;
  /** The members that each line begins with, after the time. */
  readonly base: Readonly<Record<string, string>>;
  /** The member that contains a row. */
  readonly member: string;
}

/**
 * Writes a line of JSON for each row. Rows are confirmed when the operating system has accepted them,
 * so a reader that is too slow delays the delivery.
 */
export function stdoutTarget({ stream, base, member }: Options): Target {
  let unfinished: Promise<unknown> = Promise.resolve();
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      stream.write(text, (error) => (error ? reject(error) : resolve()));
    });
  return {
    format: ({ at, data }) => `${JSON.stringify({ time: at.toISOString(), ...base, [member]: data })}\n`,
    send: async (rows, signal) => {
      await unlessAborted(unfinished, signal); // of an attempt that was aborted
      for (const part of partsOf(rows)) {
        const written = write(part);
        unfinished = written.catch(() => undefined);
        await unlessAborted(written, signal);
      }
    },
  };
}

function* partsOf(rows: readonly string[]): Generator<string> {
  let part = '';
  for (const row of rows) {
    if (part !== '' && part.length + row.length > PART_BYTES) {
      yield part;
      part = '';
    }
    part += row;
  }
  if (part !== '') yield part;
}

async function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const settled = new AbortController();
  const aborted = once(signal, 'abort', { signal: settled.signal }).then(() => {
    throw new Error('Standard output is not read.');
  });
  aborted.catch(() => undefined); // also if `settled` ends it
  await Promise.race([work, aborted]).finally(() => settled.abort());
}
