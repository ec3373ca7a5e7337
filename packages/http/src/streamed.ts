import { once } from 'node:events';
import type { Response } from 'express';

/** What is sent piece by piece. As a function it is called only when the answer leaves; `gone` tells it that nobody listens. */
export type Chunks = AsyncIterable<string> | ((gone: AbortSignal) => AsyncIterable<string>);

/** Instead of a reply: an answer that is sent as it comes into being. Its pieces are presented by whoever makes them. */
export class Streamed {
  readonly contentType: string;
  readonly chunks: Chunks;
  constructor(contentType: string, chunks: Chunks) {
    this.contentType = contentType;
    this.chunks = chunks;
  }
}

/**
 * Sends the pieces to a caller who is not sent more than is taken. A caller who leaves ends the iteration at once; an error
 * breaks the connection, so that half an answer is never taken for a whole one, and goes to the request's log line.
 */
export async function pour(res: Response, streamed: Streamed): Promise<void> {
  const gone = new AbortController();
  let iterator: AsyncIterator<string> | undefined;
  const leave = () => {
    gone.abort();
    void letGo(iterator);
  };
  res.once('close', leave);
  res.flushHeaders(); // the first piece may take its time
  try {
    iterator = iteratorOf(streamed, gone.signal);
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      if (gone.signal.aborted) return;
      if (!res.write(next.value)) await once(res, 'drain', { signal: gone.signal });
    }
    res.off('close', leave).end();
  } catch (error) {
    if (gone.signal.aborted) return; // what fails after the caller has left, fails because of it
    res.locals.failure = error;
    res.destroy();
  }
}

/** Of an answer that is not sent after all: nothing is read from it, and what it holds is set free. */
export const abandon = ({ chunks }: Streamed): Promise<void> =>
  typeof chunks === 'function' ? Promise.resolve() : letGo(chunks[Symbol.asyncIterator]());

const iteratorOf = ({ chunks }: Streamed, gone: AbortSignal) =>
  (typeof chunks === 'function' ? chunks(gone) : chunks)[Symbol.asyncIterator]();

async function letGo(iterator: AsyncIterator<string> | undefined): Promise<void> {
  try {
    await iterator?.return?.();
  } catch {
    // The answer is over: there is nobody left to hear of it.
  }
}
