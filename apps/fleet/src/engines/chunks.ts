import type { Streaming } from '@svc/http';

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
