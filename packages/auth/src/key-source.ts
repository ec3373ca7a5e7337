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
import type { Probed } from './provider-status.ts';

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

export interface KeySource extends Probed {
  /** The key that signed a token, for jose. Rejects with KeysUnavailable. */
  readonly keyFor: JWTVerifyGetKey;
  /**
   * Fetches the keys again after a signature that does not match a cached key, because the issuer
   * may use the same key id for another key. Does nothing if the keys are younger than 30 seconds.
   * @returns whether the keys were fetched
   */
  refetch(): Promise<boolean>;
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
  readonly intervalMs?: number | undefined;
}): KeySource {
  const { now = Date.now, intervalMs = INTERVAL_MS } = options;
  let cached: CachedKeys | undefined;
  let running: Promise<void> | undefined;
  let startedAt = Number.NEGATIVE_INFINITY;
  let problem: string | undefined;

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
        problem = undefined;
      })
      .catch((error: unknown) => {
        problem = error instanceof Error ? error.message : String(error);
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
    probe: refresh,
    status: () => ({ wasReached: cached !== undefined, problem }),
  };
}

interface Issuer {
  readonly issuer: string;
  readonly send: Send;
}

/** Fetches the keys through the discovery document of the issuer. Rejects with KeysUnavailable. */
export async function fetchKeys(source: Issuer): Promise<JSONWebKeySet> {
  const metadata = discovery.safeParse(await fetchDiscovery(source));
  if (!metadata.success) throw new KeysUnavailable('The response of the issuer is not a discovery document.');
  const { issuer, jwks_uri } = metadata.data;
  if (issuer !== source.issuer)
    throw new KeysUnavailable('The discovery document is of another issuer. Both must be identical.');
  const keys = keySet.safeParse(await fetchJson(jwks_uri, source));
  if (!keys.success) throw new KeysUnavailable('The response at the jwks_uri of the issuer is not a key set.');
  // Jose validates each key when it imports it.
  return keys.data as JSONWebKeySet;
}

/** What is stated about the identity provider in infra/identity-provider. */
export const DEVELOPMENT_PROVIDER = 'It is the identity provider for development, whose users and password are public.';

/** The member of its discovery document by which it is recognized (infra/identity-provider/src/configuration.ts). */
const development = z.object({ svc_development: z.literal(true) });

/** Whether an issuer is the identity provider for development. Rejects with KeysUnavailable. */
export const isDevelopmentProvider = async (source: Issuer): Promise<boolean> =>
  development.safeParse(await fetchDiscovery(source)).success;

const fetchDiscovery = (source: Issuer): Promise<unknown> =>
  fetchJson(`${source.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, source);

async function fetchJson(url: string, { send }: Pick<Issuer, 'send'>): Promise<unknown> {
  const request = { method: 'GET', url: new URL(url), headers: { accept: 'application/json' } };
  const response = await send(request).catch((cause: unknown) => {
    throw new KeysUnavailable(failedConnection('the issuer', cause).text, { cause });
  });
  if (response.status !== 200) throw new KeysUnavailable(`The issuer responds with ${response.status} instead of 200.`);
  try {
    return JSON.parse(response.body);
  } catch (cause) {
    throw new KeysUnavailable('The response of the issuer is not JSON.', { cause });
  }
}
