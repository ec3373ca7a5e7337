import { once } from 'node:events';
import type { Response } from 'express';
import { closeConnectionOf } from './close-connection.ts';
import type { Pace, Streamed } from './special-reply.ts';

/**
 * Sends the chunks, with backpressure. If the client disconnects, the iteration ends at once. An
 * error closes the connection, so that the client detects the incomplete response, and is logged
 * with the request.
 */
export async function sendStream(res: Response, streamed: Streamed): Promise<void> {
  const { pace, onEnd } = streamed.options;
  const deadline = pace && setTimeout(() => closeConnectionOf(res, 'too_slow'), pace.durationMs);
  try {
    await sendChunks(res, streamed);
  } finally {
    clearTimeout(deadline);
    onEnd?.();
  }
}

async function sendChunks(res: Response, streamed: Streamed): Promise<void> {
  const disconnected = new AbortController();
  let iterator: AsyncIterator<string | Buffer> | undefined;
  const onClose = () => {
    disconnected.abort();
    void close(iterator);
  };
  res.once('close', onClose);
  res.flushHeaders(); // the first chunk can take long
  try {
    iterator = iteratorOf(streamed, disconnected.signal);
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      if (disconnected.signal.aborted) return;
      if (!res.write(next.value)) await drained(res, next.value, { pace: streamed.options.pace, disconnected });
    }
    res.off('close', onClose).end();
  } catch (error) {
    if (disconnected.signal.aborted) return; // the disconnection is the cause
    res.locals.failure = error;
    res.destroy();
  }
}

interface Sending {
  readonly pace: Pace | undefined;
  readonly disconnected: AbortController;
}

/** Resolves when the operating system has accepted a chunk. */
async function drained(res: Response, chunk: string | Buffer, { pace, disconnected }: Sending): Promise<void> {
  const timer =
    pace &&
    setTimeout(
      () => closeConnectionOf(res, 'too_slow'),
      pace.allowanceMs + (Buffer.byteLength(chunk) / pace.bytesPerSecond) * 1000,
    );
  try {
    await once(res, 'drain', { signal: disconnected.signal });
  } finally {
    clearTimeout(timer);
  }
}

/** Releases the resources of a stream that is not sent. */
export async function cancelStream({ chunks, options }: Streamed): Promise<void> {
  options.onEnd?.();
  if (typeof chunks !== 'function') await close(chunks[Symbol.asyncIterator]());
}

const iteratorOf = ({ chunks }: Streamed, disconnected: AbortSignal) =>
  (typeof chunks === 'function' ? chunks(disconnected) : chunks)[Symbol.asyncIterator]();

async function close(iterator: AsyncIterator<string | Buffer> | undefined): Promise<void> {
  try {
    await iterator?.return?.();
  } catch {
    // The response has ended, so the error has no effect.
  }
}
