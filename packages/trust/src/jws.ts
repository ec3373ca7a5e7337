import { compactVerify, decodeProtectedHeader, type JWK } from 'jose';
import { canonicalForm } from './canonical.ts';
import type { Algorithm, PublicKey } from './keys.ts';
import { Untrusted } from './reasons.ts';

/** What is signed. Verifiers refuse a `typ` that they do not know, so a new kind of content has a new one. */
export const types = {
  template: 'svc-template+jws',
  application: 'svc-application+jws',
  keyring: 'svc-keyring+jws',
} as const;
export type Type = `svc-${string}+jws`;

/** The longest compact serialization of a type, in characters. */
export const maxLengthOf = (typ: Type): number => (typ === types.keyring ? 256 : 16) * 1024;

interface Header {
  readonly alg: unknown;
  readonly kid: unknown;
}

/**
 * The protected header of a JWS. Its form is checked before a key is looked up.
 * @throws Untrusted `signature_invalid`
 */
export function readHeader(jws: unknown, typ: Type): { readonly text: string; readonly header: Header } {
  if (typeof jws !== 'string') throw new Untrusted('signature_invalid', 'is not text');
  if (jws.length > maxLengthOf(typ)) throw new Untrusted('signature_invalid', 'is too long');
  const header = headerOf(jws);
  if (Object.keys(header).sort().join() !== 'alg,kid,typ') {
    throw new Untrusted('signature_invalid', 'the header has other members than alg, kid and typ');
  }
  if (header.typ !== typ) throw new Untrusted('signature_invalid', 'the header has another typ');
  return { text: jws, header: { alg: header.alg, kid: header.kid } };
}

function headerOf(jws: string) {
  try {
    return decodeProtectedHeader(jws);
  } catch {
    throw new Untrusted('signature_invalid', 'is malformed');
  }
}

/**
 * Verifies a JWS with a key that the caller trusts; a key in the message is never used.
 * @returns the payload, which is its own canonical form, so that all parsers read the same
 * @throws Untrusted `signature_invalid`
 */
export async function openJws(
  { text, header }: ReturnType<typeof readHeader>,
  key: PublicKey,
): Promise<Record<string, unknown>> {
  if (header.alg !== key.alg) throw new Untrusted('signature_invalid', 'alg is not that of the key');
  return readPayload(await verifiedPayload(text, key));
}

/**
 * The payload of a JWS that nobody has verified. It shows what a signature is about, not who made it.
 * @throws Untrusted `signature_invalid`
 */
export const readUnverified = ({ text }: Pick<ReturnType<typeof readHeader>, 'text'>): Record<string, unknown> =>
  readPayload(payloadTextOf(text));

/** The payload of a JWS, whether its form is valid or not; undefined if it is no JSON. */
export function payloadOf({ text }: Pick<ReturnType<typeof readHeader>, 'text'>): unknown {
  const payload = payloadTextOf(text);
  return payload === undefined ? undefined : parseJson(payload);
}

function payloadTextOf(jws: string): string | undefined {
  const [, payload = ''] = jws.split('.');
  return decodeText(Buffer.from(payload, 'base64url'));
}

function readPayload(payload: string | undefined): Record<string, unknown> {
  const value = payload === undefined ? undefined : parseJson(payload);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Untrusted('signature_invalid', 'the payload is no object');
  }
  if (canonicalForm(value) !== payload) {
    throw new Untrusted('signature_invalid', 'the payload is not in canonical form');
  }
  return Object.fromEntries(Object.entries(value));
}

/** The keys as the library reads them. It imports a key once for each object. */
const keys = new WeakMap<PublicKey, JWK>();

function jwkOf(key: PublicKey): JWK {
  const { alg, kty, crv, x, y } = key;
  const jwk = keys.get(key) ?? { kty, crv, x, ...(y !== undefined && { y }), alg };
  keys.set(key, jwk);
  return jwk;
}

async function verifiedPayload(jws: string, key: PublicKey): Promise<string | undefined> {
  try {
    const { payload } = await compactVerify(jws, jwkOf(key), { algorithms: [key.alg] });
    return decodeText(payload);
  } catch {
    throw new Untrusted('signature_invalid', 'was not made by the key that it names');
  }
}

/** Text in UTF-8; undefined if the bytes are none. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A private key, wherever it is. */
export interface Signer {
  readonly key: PublicKey;
  /** Signs the bytes. Resolves to a raw signature of 64 bytes, as RFC 7518 and RFC 8037 state it. */
  readonly sign: (input: Buffer) => Promise<Uint8Array> | Uint8Array;
}

/**
 * Signs a payload.
 * @throws Error if the payload has no canonical form or is too long, or if the signature does not verify
 */
export async function signJws(payload: unknown, typ: Type, { key, sign }: Signer): Promise<string> {
  const form = canonicalForm(payload);
  if (form === undefined)
    throw new Error('The content contains text that cannot be signed, such as half of a character.');
  const header: { alg: Algorithm; kid: string; typ: Type } = { alg: key.alg, kid: key.kid, typ };
  const input = `${encode(JSON.stringify(header))}.${encode(form)}`;
  const jws = `${input}.${Buffer.from(await sign(Buffer.from(input, 'ascii'))).toString('base64url')}`;
  if (jws.length > maxLengthOf(typ)) {
    throw new Error(
      `The signed content is ${jws.length} characters long, and at most ${maxLengthOf(typ)} are allowed.`,
    );
  }
  // A key in another program can be another one than the public key that the caller names.
  await openJws(readHeader(jws, typ), key).catch(() => {
    throw new Error(`The signature does not verify with the public key ${key.kid}.`);
  });
  return jws;
}

const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');
