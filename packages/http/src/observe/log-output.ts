import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { Counter } from 'prom-client';
import { processMetrics } from './process-metrics.ts';

/** The length of the lines that can wait until stdout is read: 1 MiB, about 5,000 lines. */
const MAX_BUFFERED = 1024 * 1024;
/** Maximum wait for the reader of the output before the process exits. */
const FLUSH_LIMIT_MS = 2000;

const droppedLogLines = new Counter({
  name: 'log_lines_dropped_total',
  help: 'Number of log lines that were dropped because stdout was not read or could not be written',
  registers: [processMetrics],
});

export interface LogOutput {
  write(line: string): void;
}

/** Write what the outputs of this process have collected. */
const writers = new Set<() => void>();

/**
 * Writes lines to a stream without waiting for its reader. The lines of one turn of the event loop
 * are written together, because a write to a file or pipe costs more than a line. Lines that exceed
 * the buffer are dropped and counted. `onRecovered` receives their number when the buffer has been
 * written.
 */
export function createLogOutput(stream: Writable, onRecovered: (dropped: number) => void): LogOutput {
  let dropped = 0;
  let collected: string[] = [];
  let length = 0;
  const drop = (count: number) => {
    dropped += count;
    droppedLogLines.inc(count);
  };
  const written = (lines: number, error: Error | null | undefined) => {
    if (error) return drop(lines);
    if (dropped === 0 || stream.writableLength > 0) return;
    const count = dropped;
    dropped = 0;
    onRecovered(count);
  };
  const writeCollected = () => {
    const lines = collected;
    if (lines.length === 0) return;
    collected = [];
    length = 0;
    stream.write(lines.join(''), (error) => written(lines.length, error));
  };
  writers.add(writeCollected);
  ignoreErrors(stream); // `written` receives them
  return {
    write(line) {
      if (stream.writableLength + length + line.length > MAX_BUFFERED) return drop(1);
      if (collected.length === 0) setImmediate(writeCollected);
      collected.push(line);
      length += line.length;
    },
  };
}

const writeAll = () => {
  for (const write of writers) write();
};
process.on('exit', writeAll); // an uncaught exception ends the process before its next turn

/** Waits until the output of this process has been written, but not longer than the limit. */
export async function flushOutput(): Promise<void> {
  writeAll();
  const done = new AbortController();
  // Aborted below.
  const limit = wait(FLUSH_LIMIT_MS, undefined, { signal: done.signal }).catch(() => undefined);
  await Promise.race([Promise.all([process.stdout, process.stderr].map(flushed)), limit]);
  done.abort();
}

function flushed(stream: Writable): Promise<void> {
  ignoreErrors(stream); // the process exits next
  return new Promise((resolve) => {
    if (stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}

/** Adds one listener, however often it is called. */
function ignoreErrors(stream: Writable): void {
  stream.off('error', ignore).on('error', ignore);
}

const ignore = () => undefined;
