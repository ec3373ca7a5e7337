import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** A cached value. `until` is the time after which it must not be used, in milliseconds since 1970. */
export interface Answer<T> {
  readonly value: T;
  readonly until?: number;
}

/**
 * Caches answers about secrets under the SHA-256 of the secret, for `ms` from the question. Concurrent questions about the
 * same secret share one answer. Failures are not cached.
 */
export function createAnswerCache<T>(options: {
  readonly ms: number;
  readonly entries: number;
  readonly now: () => number;
}): (secret: string, ask: () => Promise<Answer<T>>) => Promise<T> {
  const { ms, entries, now } = options;
  const cache = new LRUCache<string, { readonly asked: Promise<Answer<T>>; until: number }>({ max: entries });
  return async (secret, ask) => {
    const key = createHash('sha256').update(secret).digest('base64url');
    const cached = cache.get(key);
    if (cached && cached.until > now()) return (await cached.asked).value;
    const entry = { asked: ask(), until: now() + ms };
    cache.set(key, entry);
    try {
      const { value, until = entry.until } = await entry.asked;
      entry.until = Math.min(entry.until, until);
      return value;
    } catch (error) {
      if (cache.peek(key) === entry) cache.delete(key);
      throw error;
    }
  };
}
