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

/** An issuer's signing keys can't be had: neither fetched now nor known from before. */
export class KeysUnavailable extends Error {
  override name = 'KeysUnavailable';
}

const FRESH_MS = 10 * 60_000;
const KEEP_MS = 24 * 3_600_000;
const WINDOW_MS = 30_000;
const FETCHES_IN_WINDOW = 2;

const discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

type LocalKeySet = ReturnType<typeof createLocalJWKSet>;

export interface KeySource {
  /** The key that signed a token, as jose asks for it. Rejects with KeysUnavailable. */
  readonly keyFor: JWTVerifyGetKey;
  /** Whether the last fetch failed. */
  failing(): boolean;
}

/**
 * The signing keys of an OpenID Connect issuer (Discovery 1.0, section 4). Known keys go on working for a day while the
 * issuer is away; a burst of requests or of unknown key ids causes one fetch, and at most two in half a minute.
 */
export function createKeySource(options: {
  readonly issuer: string;
  readonly send: Send;
  readonly now?: () => number;
}): KeySource {
  const now = options.now ?? Date.now;
  let known: { readonly set: JSONWebKeySet; readonly keyOf: LocalKeySet; readonly at: number } | undefined;
  let running: Promise<void> | undefined;
  let fetches: number[] = [];
  let failed = false;

  const refresh = (): Promise<void> => {
    if (running) return running;
    fetches = fetches.filter((at) => at > now() - WINDOW_MS);
    if (fetches.length >= FETCHES_IN_WINDOW)
      return Promise.reject(new KeysUnavailable('asked the issuer enough for now'));
    fetches.push(now());
    running = fetchKeys(options)
      .then((set) => {
        known = { set, keyOf: createLocalJWKSet(set), at: now() }; // made once: it keeps each key that it imports
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
  const has = (kid: string) => known?.set.keys.some((key) => key.kid === kid) ?? false;

  const keyFor = async (header: JWSHeaderParameters, token: FlattenedJWSInput) => {
    const { kid } = header;
    if (kid === undefined) throw new errors.JWKSNoMatchingKey('a token without a key id');
    if (!known || now() - known.at > KEEP_MS || !has(kid)) await refresh().catch(keepKnown(() => known, now));
    else if (now() - known.at > FRESH_MS) refresh().catch(() => undefined); // the next request tries again; known keys serve
    if (!known) throw new KeysUnavailable('no keys of the issuer are known');
    return known.keyOf(header, token).catch((cause: unknown) => {
      throw cause instanceof errors.JOSEError
        ? cause
        : new KeysUnavailable('a key of the issuer can’t be read', { cause });
    });
  };
  return { keyFor, failing: () => failed };
}

/** A failed fetch matters only when there is nothing known to go on with. */
const keepKnown = (known: () => { readonly at: number } | undefined, now: () => number) => (cause: unknown) => {
  const kept = known();
  if (!kept || now() - kept.at > KEEP_MS) throw new KeysUnavailable('the issuer does not answer', { cause });
};

async function fetchKeys({ issuer, send }: { readonly issuer: string; readonly send: Send }): Promise<JSONWebKeySet> {
  const get = async (url: string): Promise<unknown> => {
    const answer = await send({ method: 'GET', url: new URL(url), headers: { accept: 'application/json' } });
    if (answer.status !== 200) throw new KeysUnavailable(`the issuer answered ${answer.status}`);
    return JSON.parse(answer.body);
  };
  const metadata = discovery.parse(await get(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`));
  if (metadata.issuer !== issuer) throw new KeysUnavailable('the discovery document is another issuer’s');
  return keySet.parse(await get(metadata.jwks_uri)) as JSONWebKeySet; // jose checks each key when it imports it
}
