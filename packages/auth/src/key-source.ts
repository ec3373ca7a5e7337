import { setTimeout as pause } from 'node:timers/promises';
import type { Send } from '@svc/contract';
import { failedConnection } from '@svc/http';
import {
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  type JWTVerifyGetKey,
} from 'jose';
import { z } from 'zod';

/**
 * The signing keys of an issuer are not available: they could not be fetched, and no cached keys
 * are usable.
 */
export class KeysUnavailable extends Error {
  override name = 'KeysUnavailable';
}

/** The age from which keys are fetched again before they are used. */
const FRESH_MS = 10 * 60_000;
/** The age to which keys are used while the issuer does not answer. */
const MAX_AGE_MS = 24 * 3_600_000;
/** The time between the starts of two fetches. Key ids that are not cached cause fetches, and anybody can send them. */
const INTERVAL_MS = 2000;
/** The age from which keys are fetched again after a signature that does not match the cached key. */
const CONFIRMED_MS = 30_000;
/** The time for which a request waits for an issuer while cached keys are usable. */
const PATIENCE_MS = 2000;

const discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

type LocalKeySet = ReturnType<typeof createLocalJWKSet>;

export interface KeySource {
  /** The key that signed a token, for jose. Rejects with KeysUnavailable. */
  readonly keyFor: JWTVerifyGetKey;
  /**
   * Fetches the keys again after a signature that does not match a cached key, because the issuer
   * may use the same key id for another key. Does nothing if the keys are younger than 30 seconds.
   * @returns whether the keys were fetched
   */
  refetch(): Promise<boolean>;
  /** Whether the last fetch failed. */
  failing(): boolean;
}

interface CachedKeys {
  readonly keys: JSONWebKeySet['keys'];
  /** Caches imported keys. */
  readonly keyOf: LocalKeySet;
  readonly at: number;
}

/**
 * The signing keys of an OpenID Connect issuer (Discovery 1.0, section 4). Keys that are older than
 * 10 minutes are fetched again before they are used, and are used for up to a day if the issuer
 * does not answer. So a key that the issuer withdraws is accepted for at most 10 minutes while the
 * issuer answers. Concurrent requests share a fetch. A key id that is not cached waits for the next
 * fetch, at most 2 seconds, so that unknown key ids of others do not delay a new key.
 */
export function createKeySource(options: {
  readonly issuer: string;
  readonly send: Send;
  readonly now?: () => number;
  /** The time between the starts of two fetches. */
  readonly intervalMs?: number;
}): KeySource {
  const { now = Date.now, intervalMs = INTERVAL_MS } = options;
  let cached: CachedKeys | undefined;
  let running: Promise<void> | undefined;
  let startedAt = Number.NEGATIVE_INFINITY;
  let failed = false;

  const refresh = (): Promise<void> => {
    if (running) return running;
    const wait = startedAt + intervalMs - now();
    running = (wait > 0 ? pause(Math.min(wait, intervalMs)) : Promise.resolve())
      .then(() => {
        startedAt = now();
        return fetchKeys(options);
      })
      .then((set) => {
        cached = { keys: set.keys, keyOf: createLocalJWKSet(set), at: now() };
        failed = false;
      })
      .catch((error: unknown) => {
        failed = true;
        throw error;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const usable = () => (cached && now() - cached.at <= MAX_AGE_MS ? cached : undefined);
  /** The keys after a fetch, or the cached ones if the issuer does not answer in time. */
  const refreshed = async (): Promise<CachedKeys> => {
    const before = usable();
    try {
      await (before
        ? Promise.race([refresh(), pause(PATIENCE_MS + intervalMs, undefined, { ref: false })])
        : refresh());
    } catch (cause) {
      if (!before) throw new KeysUnavailable('the issuer is not reachable', { cause });
    }
    const keys = usable();
    if (!keys) throw new KeysUnavailable('no keys of the issuer are cached');
    return keys;
  };

  const keyFor = async (header: JWSHeaderParameters, token: FlattenedJWSInput) => {
    const { kid } = header;
    const known = usable();
    const isFresh = known !== undefined && now() - known.at <= FRESH_MS;
    const keys =
      isFresh && (kid === undefined || known.keys.some((key) => key.kid === kid)) ? known : await refreshed();
    if (kid === undefined && keys.keys.length !== 1) throw new errors.JWKSNoMatchingKey('the token has no key id');
    return keys.keyOf(header, token).catch((cause: unknown) => {
      throw cause instanceof errors.JOSEError
        ? cause
        : new KeysUnavailable('a key of the issuer is invalid', { cause });
    });
  };
  return {
    keyFor,
    refetch: async () => {
      if (cached && now() - cached.at < CONFIRMED_MS) return false;
      return refresh().then(
        () => true,
        () => false,
      );
    },
    failing: () => failed,
  };
}

/** Fetches the keys through the discovery document of the issuer. */
export async function fetchKeys({
  issuer,
  send,
}: {
  readonly issuer: string;
  readonly send: Send;
}): Promise<JSONWebKeySet> {
  const get = async (url: string): Promise<unknown> => {
    const request = { method: 'GET', url: new URL(url), headers: { accept: 'application/json' } };
    const response = await send(request).catch((cause: unknown) => {
      throw new KeysUnavailable(failedConnection('the issuer', cause).text, { cause });
    });
    if (response.status !== 200) throw new KeysUnavailable(`status ${response.status} from the issuer`);
    return JSON.parse(response.body);
  };
  const metadata = discovery.parse(await get(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`));
  if (metadata.issuer !== issuer) throw new KeysUnavailable('the discovery document is of another issuer');
  // Jose validates each key when it imports it.
  return keySet.parse(await get(metadata.jwks_uri)) as JSONWebKeySet;
}
