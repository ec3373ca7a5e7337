import { readBody, type Streaming } from '@svc/http';
import { Unreachable } from './errors.ts';

/** Conditions that end the work of a view of a client. */
export interface Bounds {
  readonly signal?: AbortSignal | undefined;
  /**
   * Throws if the lease of the work has expired: a suspended process can resume before it is
   * notified of anything.
   */
  readonly assertLease?: () => void;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** Reads a response body as UTF-8 text. @throws Unreachable if it is longer than `MAX_BYTES` */
export async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const tooLong = () => new Unreachable(`Its response is longer than ${MAX_BYTES / 2 ** 20} MiB.`);
  return (await readBody(body, { maxBytes: MAX_BYTES, tooLong })).toString('utf8');
}

/** Parses JSON. @returns undefined if the text is not valid JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Runs work, and converts connection errors to `EngineFailure`. */
type ErrorTranslator = <T>(work: () => Promise<T>) => Promise<T>;

/** Yields the chunks of a response body. The connection is closed when the consumer stops. */
export async function* readChunks(
  body: Streaming['body'],
  guarded: ErrorTranslator,
): AsyncGenerator<Buffer, void, void> {
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

const EMPTY = Buffer.alloc(0);

/** Splits a stream of bytes into lines. Lines are truncated to `maxBytes` bytes. */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string, void, void> {
  const textOf = (rest: Buffer, last: Buffer) => Buffer.concat([rest, last]).subarray(0, maxBytes).toString('utf8');
  let rest = EMPTY;
  for await (const bytes of chunks) {
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      yield textOf(rest, bytes.subarray(from, end));
      rest = EMPTY;
      from = end + 1;
    }
    rest = Buffer.concat([rest, bytes.subarray(from)]).subarray(0, maxBytes);
  }
  if (rest.length > 0) yield textOf(rest, EMPTY);
}
