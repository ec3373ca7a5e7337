import type { Send } from '@svc/contract';
import { type CryptoKey, errors, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { createJwtVerifier, createKeySource, type KeySource, KeysUnavailable } from '../src/index.ts';

export const ISSUER = 'https://id.example.test';
export const AUDIENCE = 'https://hub.example.test';
const DISCOVERY = `${ISSUER}/.well-known/openid-configuration`;
const KEYS = `${ISSUER}/keys`;

export const seconds = (offset = 0) => Math.floor(Date.now() / 1000) + offset;

/** A key pair of an issuer. */
export interface SigningKey {
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

export async function aKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }, privateKey };
}

/**
 * An issuer behind `send`. Tests can change what it publishes, and read the URLs that were
 * requested.
 */
export function anIssuer(keys: readonly JWK[]) {
  /** Bodies by URL. Other URLs return 404. */
  const pages = new Map<string, string>();
  const publish = (published: readonly unknown[]) => pages.set(KEYS, JSON.stringify({ keys: published }));
  const requests: string[] = [];
  const state = { isDown: false };
  const send: Send = async ({ url }) => {
    requests.push(url.href);
    await new Promise((resolve) => setImmediate(resolve));
    if (state.isDown) throw new Error('connect ECONNREFUSED');
    const body = pages.get(url.href);
    return { status: body === undefined ? 404 : 200, headers: {}, body: body ?? '' };
  };
  pages.set(DISCOVERY, JSON.stringify({ issuer: ISSUER, jwks_uri: KEYS }));
  publish(keys);
  return {
    pages,
    publish,
    requests,
    state,
    send,
    /** How often the keys were fetched, starting with discovery. */
    refreshes: () => requests.filter((url) => url === DISCOVERY).length,
  };
}

/**
 * A valid access token with changed claims and headers. Undefined claims and headers are removed.
 */
export function aToken(
  key: SigningKey,
  { claims = {}, header = {} }: { claims?: Record<string, unknown>; header?: Record<string, unknown> } = {},
): Promise<string> {
  const payload = { iss: ISSUER, aud: AUDIENCE, sub: 'user-1', iat: seconds(), exp: seconds(300), ...claims };
  const completeHeader = { alg: key.jwk.alg, kid: key.jwk.kid, typ: 'at+jwt', ...header };
  return new SignJWT(payload)
    .setProtectedHeader(completeHeader as JWTHeaderParameters) // tests also set invalid headers
    .sign(key.privateKey);
}

/** A verifier that fetches its keys from the issuer. */
export const verifierOf = ({ send }: ReturnType<typeof anIssuer>) =>
  createJwtVerifier({
    issuer: ISSUER,
    audience: AUDIENCE,
    keys: createKeySource({ issuer: ISSUER, send, intervalMs: 10 }),
  });

export type Found = 'found' | 'unknown' | 'unavailable';

/** The result of looking up a key. */
export const find = (keys: KeySource, kid: string): Promise<Found> =>
  Promise.resolve(keys.keyFor({ alg: 'ES256', kid }, { payload: '', signature: '' })).then(
    () => 'found',
    (error: unknown) => {
      if (error instanceof KeysUnavailable) return 'unavailable';
      if (error instanceof errors.JWKSNoMatchingKey) return 'unknown';
      throw error;
    },
  );

/** Waits for a refresh in the background. */
export const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
};
