import { once } from 'node:events';
import type { Response } from 'express';

/**
 * The parts of a stream. A function is called only when the response is sent; `disconnected` aborts when the client
 * disconnects.
 */
export type Chunks = AsyncIterable<string> | ((disconnected: AbortSignal) => AsyncIterable<string>);

/**
 * Returned instead of a reply: a response that is sent while it is generated. The handler must format the chunks
 * itself.
 */
export class Streamed {
  readonly contentType: string;
  readonly chunks: Chunks;
  constructor(contentType: string, chunks: Chunks) {
    this.contentType = contentType;
    this.chunks = chunks;
  }
}

/**
 * Sends the chunks, with backpressure. If the client disconnects, the iteration ends at once. An error closes the
 * connection, so that the client detects the incomplete response, and is logged with the request.
 */
export async function sendStream(res: Response, streamed: Streamed): Promise<void> {
  const disconnected = new AbortController();
  let iterator: AsyncIterator<string> | undefined;
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
      if (!res.write(next.value)) await once(res, 'drain', { signal: disconnected.signal });
    }
    res.off('close', onClose).end();
  } catch (error) {
    if (disconnected.signal.aborted) return; // the disconnection is the cause
    res.locals.failure = error;
    res.destroy();
  }
}

/** Releases the resources of a stream that is not sent. */
export const cancelStream = ({ chunks }: Streamed): Promise<void> =>
  typeof chunks === 'function' ? Promise.resolve() : close(chunks[Symbol.asyncIterator]());

const iteratorOf = ({ chunks }: Streamed, disconnected: AbortSignal) =>
  (typeof chunks === 'function' ? chunks(disconnected) : chunks)[Symbol.asyncIterator]();

async function close(iterator: AsyncIterator<string> | undefined): Promise<void> {
  try {
    await iterator?.return?.();
  } catch {
    // The response has ended, so the error has no effect.
  }
}
