/** The bounds of what waits for a client: events, and characters. */
const MAX_EVENTS = 1000;
const MAX_LENGTH = 8 * 1024 * 1024;
/** Events are sent together up to about this length. */
const CHUNK_LENGTH = 64 * 1024;

/** The events that wait until a client has read the earlier ones. */
export interface Outbox {
  push(text: string): void;
  /** Ends `chunks` after the events that wait. */
  end(): void;
  readonly isEnded: boolean;
  readonly chunks: AsyncIterable<string>;
}

/** @param onOverflow called once, if the client falls behind */
export function createOutbox(onOverflow: () => void): Outbox {
  let waiting: string[] = [];
  let length = 0;
  let isEnded = false;
  let wake = () => {};
  const end = () => {
    isEnded = true;
    wake();
  };
  const takeChunk = () => {
    let count = 0;
    let taken = 0;
    while (count < waiting.length && taken < CHUNK_LENGTH) taken += waiting[count++]?.length ?? 0;
    length -= taken;
    return waiting.splice(0, count).join('');
  };
  async function* chunks() {
    while (waiting.length > 0 || !isEnded) {
      if (waiting.length > 0) yield takeChunk();
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  return {
    push: (text) => {
      if (isEnded) return;
      waiting.push(text);
      length += text.length;
      if (waiting.length <= MAX_EVENTS && length <= MAX_LENGTH) return wake();
      waiting = [];
      end();
      onOverflow();
    },
    end,
    get isEnded() {
      return isEnded;
    },
    chunks: { [Symbol.asyncIterator]: chunks },
  };
}
