import type { Send } from '@svc/contract';
import { type CryptoKey, errors, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { createJwtVerifier, createKeySource, type KeySource, KeysUnavailable } from '../src/index.ts';

export const ISSUER = 'https://id.example.test';
export const AUDIENCE = 'https://hub.example.test';
const DISCOVERY = `${ISSUER}/.well-known/openid-configuration`;
const KEYS = `${ISSUER}/keys`;

export const seconds = (offset = 0) => Math.floor(Date.now() / 1000) + offset;

/** A key pair with which an issuer signs. */
export interface SigningKey {
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

export async function aKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }, privateKey };
}

/** An issuer that is asked by `send`: what it publishes can be changed at any time, and its visitors are counted. */
export function anIssuer(keys: readonly JWK[]) {
  /** Bodies by URL; one that is not there is a 404. */
  const pages = new Map<string, string>();
  const publish = (published: readonly unknown[]) => pages.set(KEYS, JSON.stringify({ keys: published }));
  const visits: string[] = [];
  const state = { isAway: false };
  const send: Send = async ({ url }) => {
    visits.push(url.href);
    await new Promise((resolve) => setImmediate(resolve));
    if (state.isAway) throw new Error('connect ECONNREFUSED');
    const body = pages.get(url.href);
    return { status: body === undefined ? 404 : 200, headers: {}, body: body ?? '' };
  };
  pages.set(DISCOVERY, JSON.stringify({ issuer: ISSUER, jwks_uri: KEYS }));
  publish(keys);
  return {
    pages,
    publish,
    visits,
    state,
    send,
    /** How often its keys were asked for, discovery included. */
    refreshes: () => visits.filter((url) => url === DISCOVERY).length,
  };
}

/** A good access token, but for what is given. A claim or a header that is undefined is left out. */
export function aToken(
  key: SigningKey,
  { claims = {}, header = {} }: { claims?: Record<string, unknown>; header?: Record<string, unknown> } = {},
): Promise<string> {
  const payload = { iss: ISSUER, aud: AUDIENCE, sub: 'user-1', iat: seconds(), exp: seconds(300), ...claims };
  const whole = { alg: key.jwk.alg, kid: key.jwk.kid, typ: 'at+jwt', ...header };
  return new SignJWT(payload)
    .setProtectedHeader(whole as JWTHeaderParameters) // a test says what is in it, wrong things too
    .sign(key.privateKey);
}

/** A verifier that asks the issuer for its keys. */
export const verifierOf = ({ send }: ReturnType<typeof anIssuer>) =>
  createJwtVerifier({ issuer: ISSUER, audience: AUDIENCE, keys: createKeySource({ issuer: ISSUER, send }).keyFor });

export type Found = 'found' | 'unknown' | 'unavailable';

/** What comes of a search for a key. */
export const find = (keys: KeySource, kid: string): Promise<Found> =>
  Promise.resolve(keys.keyFor({ alg: 'ES256', kid }, { payload: '', signature: '' })).then(
    () => 'found',
    (error: unknown) => {
      if (error instanceof KeysUnavailable) return 'unavailable';
      if (error instanceof errors.JWKSNoMatchingKey) return 'unknown';
      throw error;
    },
  );

/** Lets a refresh in the background come to its end. */
export const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
};
