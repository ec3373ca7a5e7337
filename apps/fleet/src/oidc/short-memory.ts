import { createHash } from 'node:crypto';

/** An answer, and until when it is good at most, in milliseconds since 1970. */
export interface Answer<T> {
  readonly value: T;
  readonly until?: number;
}

interface Entry<T> {
  readonly asked: Promise<Answer<T>>;
  until: number;
}

/** Remembers answers about secrets, by their hash: not for long, not too many, and one question for all who ask at once. */
export function createShortMemory<T>(options: {
  readonly ms: number;
  readonly entries: number;
  readonly now: () => number;
}): (secret: string, ask: () => Promise<Answer<T>>) => Promise<T> {
  const { ms, entries, now } = options;
  const known = new Map<string, Entry<T>>();

  const remember = (key: string, asked: Promise<Answer<T>>): Entry<T> => {
    const [oldest] = known.keys();
    if (oldest !== undefined && known.size >= entries) known.delete(oldest);
    const entry = { asked, until: now() + ms }; // counted from the question, not from the answer
    known.set(key, entry);
    asked.then(
      ({ until = Number.POSITIVE_INFINITY }) => {
        entry.until = Math.min(entry.until, until);
      },
      () => {
        if (known.get(key) === entry) known.delete(key);
      },
    );
    return entry;
  };
  return async (secret, ask) => {
    const key = createHash('sha256').update(secret).digest('base64url');
    let entry = known.get(key);
    if (!entry || entry.until <= now()) {
      known.delete(key); // what is asked anew is the newest
      entry = remember(key, ask());
    }
    return (await entry.asked).value;
  };
}
