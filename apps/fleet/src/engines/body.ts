import type { Streaming } from '@svc/http';
import { Unreachable } from './errors.ts';

/** What ends the work that a view of a client is for. */
export interface Bounds {
  readonly signal?: AbortSignal | undefined;
  /** Throws where the lease of the work is over: a process that was frozen goes on before it hears of anything. */
  readonly mustHold?: () => void;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** All of an answer, as text. @throws Unreachable for one that is longer than any of an engine */
export async function wholeOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Unreachable('Its answer is longer than any that is expected of an engine.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** What JSON says; undefined for what is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What says of a failure of a connection what it means. */
type Guard = <T>(work: () => Promise<T>) => Promise<T>;

/** An answer as it comes: whoever stops reading ends it. */
export async function* chunksOf(body: Streaming['body'], guarded: Guard): AsyncGenerator<Buffer, void, void> {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await guarded(() => chunks.next());
      if (done) return;
      yield value;
    }
  } finally {
    body.destroy();
  }
}
