import type { Send } from '@svc/contract';
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

const FRESH_MS = 10 * 60_000;
const MAX_AGE_MS = 24 * 3_600_000;
const WINDOW_MS = 30_000;
const FETCHES_IN_WINDOW = 2;

const discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

type LocalKeySet = ReturnType<typeof createLocalJWKSet>;

export interface KeySource {
  /** The key that signed a token, for jose. Rejects with KeysUnavailable. */
  readonly keyFor: JWTVerifyGetKey;
  /** Whether the last fetch failed. */
  failing(): boolean;
}

/**
 * The signing keys of an OpenID Connect issuer (Discovery 1.0, section 4). Keys are refreshed after
 * 10 minutes, and used for up to a day if the issuer is not reachable. Concurrent requests and
 * unknown key ids cause one fetch, and at most two fetches in 30 seconds.
 */
export function createKeySource(options: {
  readonly issuer: string;
  readonly send: Send;
  readonly now?: () => number;
}): KeySource {
  const now = options.now ?? Date.now;
  let cached: { readonly set: JSONWebKeySet; readonly keyOf: LocalKeySet; readonly at: number } | undefined;
  let running: Promise<void> | undefined;
  let fetches: number[] = [];
  let failed = false;

  const refresh = (): Promise<void> => {
    if (running) return running;
    fetches = fetches.filter((at) => at > now() - WINDOW_MS);
    if (fetches.length >= FETCHES_IN_WINDOW) return Promise.reject(new KeysUnavailable('too many fetches of keys'));
    fetches.push(now());
    running = fetchKeys(options)
      .then((set) => {
        // The local key set caches imported keys.
        cached = { set, keyOf: createLocalJWKSet(set), at: now() };
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
  const has = (kid: string) => cached?.set.keys.some((key) => key.kid === kid) ?? false;

  const keyFor = async (header: JWSHeaderParameters, token: FlattenedJWSInput) => {
    const { kid } = header;
    if (kid === undefined) throw new errors.JWKSNoMatchingKey('the token has no key id');
    if (!cached || now() - cached.at > MAX_AGE_MS || !has(kid))
      await refresh().catch(ignoreIfCached(() => cached, now));
    // The cached keys remain in use.
    else if (now() - cached.at > FRESH_MS) refresh().catch(() => undefined);
    if (!cached) throw new KeysUnavailable('no keys of the issuer are cached');
    return cached.keyOf(header, token).catch((cause: unknown) => {
      throw cause instanceof errors.JOSEError
        ? cause
        : new KeysUnavailable('a key of the issuer is invalid', { cause });
    });
  };
  return { keyFor, failing: () => failed };
}

/** Ignores a failed fetch if cached keys are usable. */
const ignoreIfCached = (cached: () => { readonly at: number } | undefined, now: () => number) => (cause: unknown) => {
  const keys = cached();
  if (!keys || now() - keys.at > MAX_AGE_MS) throw new KeysUnavailable('the issuer is not reachable', { cause });
};

/** Fetches the keys through the discovery document of the issuer. */
export async function fetchKeys({
  issuer,
  send,
}: {
  readonly issuer: string;
  readonly send: Send;
}): Promise<JSONWebKeySet> {
  const get = async (url: string): Promise<unknown> => {
    const response = await send({ method: 'GET', url: new URL(url), headers: { accept: 'application/json' } });
    if (response.status !== 200) throw new KeysUnavailable(`status ${response.status} from the issuer`);
    return JSON.parse(response.body);
  };
  const metadata = discovery.parse(await get(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`));
  if (metadata.issuer !== issuer) throw new KeysUnavailable('the discovery document is of another issuer');
  // Jose validates each key when it imports it.
  return keySet.parse(await get(metadata.jwks_uri)) as JSONWebKeySet;
}
