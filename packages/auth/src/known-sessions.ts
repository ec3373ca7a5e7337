import { LRUCache } from 'lru-cache';
import { hashCredential } from './opaque-credential.ts';

/**
 * Remembers which credentials belong to a session, so that the rate limit can count a request
 * before it is authenticated.
 */
export interface KnownSessions {
  /** Called with each credential that was verified. */
  remember(credential: string, sessionId: string): void;
  /** The session of a credential that was verified recently. */
  of(credential: string | undefined): string | undefined;
}

/**
 * Longer than the window of the rate limit, so that an active session is never counted by its
 * address.
 */
const KNOWN_MS = 5 * 60_000;
const MAX_KNOWN = 20_000;

export function createKnownSessions(): KnownSessions {
  const known = new LRUCache<string, string>({ max: MAX_KNOWN, ttl: KNOWN_MS });
  return {
    remember: (credential, sessionId) => void known.set(hashCredential(credential), sessionId),
    of: (credential) => (credential === undefined ? undefined : known.get(hashCredential(credential))),
  };
}
