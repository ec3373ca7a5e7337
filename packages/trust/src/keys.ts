import { createPublicKey } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { z } from 'zod';
import { Untrusted } from './reasons.ts';

/** The supported algorithms, each with the only type of key that it can have. */
const algorithms = {
  Ed25519: { kty: 'OKP', crv: 'Ed25519' },
  ES256: { kty: 'EC', crv: 'P-256' },
} as const;
export type Algorithm = keyof typeof algorithms;

const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'];

const jwk = z.looseObject({
  alg: z.enum(['Ed25519', 'ES256']),
  kty: z.string(),
  crv: z.string(),
  kid: z.string(),
  x: z.string(),
  y: z.string().optional(),
});

/** A public key as a JWK. `kid` is its thumbprint (RFC 7638). */
export interface PublicKey {
  readonly alg: Algorithm;
  readonly kty: string;
  readonly crv: string;
  readonly kid: string;
  readonly x: string;
  readonly y?: string | undefined;
}

/** The members of a public key, without others that a JWK can have. */
const barePublicKey = ({ alg, kty, crv, kid, x, y }: PublicKey): PublicKey => ({
  alg,
  kty,
  crv,
  kid,
  x,
  ...(y !== undefined && { y }),
});

/**
 * Reads a public key of a supported type, whose `kid` is its thumbprint.
 * @throws Untrusted `keyring_invalid`
 */
export async function readPublicKey(value: unknown): Promise<PublicKey> {
  const parsed = jwk.safeParse(value);
  if (!parsed.success) throw new Untrusted('keyring_invalid', 'a key has no supported form');
  const key = parsed.data;
  const type = algorithms[key.alg];
  if (key.kty !== type.kty || key.crv !== type.crv) {
    throw new Untrusted('keyring_invalid', 'a key has another type than its alg');
  }
  if (PRIVATE.some((member) => Object.hasOwn(key, member))) throw new Untrusted('keyring_invalid', 'a private key');
  if (!isExact(key))
    throw new Untrusted('keyring_invalid', 'a key is no point of its curve, or is not in its usual form');
  if (key.kid !== (await thumbprintOf(key))) {
    throw new Untrusted('keyring_invalid', 'a kid is not the thumbprint of its key');
  }
  return barePublicKey(key);
}

/** Whether the coordinates are those of a key, written in the only form. Otherwise one key could have several thumbprints. */
function isExact({ kty, crv, x, y }: Omit<PublicKey, 'kid' | 'alg'>): boolean {
  try {
    const own = createPublicKey({ key: { kty, crv, x, ...(y !== undefined && { y }) }, format: 'jwk' });
    const exported = own.export({ format: 'jwk' });
    return exported.x === x && exported.y === y;
  } catch {
    return false;
  }
}

const thumbprintOf = ({ kty, crv, x, y }: Omit<PublicKey, 'kid' | 'alg'>): Promise<string> =>
  calculateJwkThumbprint({ kty, crv, x, ...(y !== undefined && { y }) });

/**
 * The public key of a key in PEM, which can be private.
 * @throws Error if the text is no key of a supported type
 */
export async function publicKeyOfPem(pem: string | Buffer): Promise<PublicKey> {
  const { kty = '', crv = '', x = '', y } = readPem(pem).export({ format: 'jwk' });
  // Object.keys returns string[].
  const names = Object.keys(algorithms) as Algorithm[];
  const alg = names.find((name) => algorithms[name].kty === kty && algorithms[name].crv === crv);
  if (alg === undefined) throw new Error('The key must be an Ed25519 or a P-256 key.');
  const key = { kty, crv, x, ...(y !== undefined && { y }) };
  return { alg, ...key, kid: await thumbprintOf(key) };
}

function readPem(pem: string | Buffer) {
  try {
    return createPublicKey(pem);
  } catch {
    throw new Error('The file must contain one key in PEM without a passphrase.');
  }
}
