import { hkdfSync, randomUUID } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Database } from '../database/client.ts';
import type { Sealer } from '../sealing.ts';

/** The key pair with which the fleet signs access tokens, shared by all replicas. */
export interface SigningKey {
  readonly kid: string;
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
  /** A secret that all replicas derive alike and that outlives the encryption keys. */
  secretFor(purpose: string): Uint8Array;
}

/** The fleet's signing key; made, and kept encrypted, by whoever starts first. */
export async function loadSigningKey({ client }: Database, sealer: Sealer): Promise<SigningKey> {
  const active = () => client.signingKey.findFirst({ where: { retired_at: null } });
  if (!(await active())) await client.signingKey.createMany({ data: await newKey(sealer), skipDuplicates: true });
  const row = await active();
  if (!row) throw new Error('no signing key could be made');
  const privateJwk: JWK = JSON.parse(await sealer.open(placeOf(row.kid), row.private_jwk));
  const publicJwk = row.public_jwk as JWK; // written below
  return {
    kid: row.kid,
    publicKey: await importKey(publicJwk),
    privateKey: await importKey(privateJwk),
    secretFor: (purpose) => new Uint8Array(hkdfSync('sha256', privateJwk.d ?? '', row.kid, purpose, 32)),
  };
}

async function newKey(sealer: Sealer) {
  const kid = randomUUID();
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const private_jwk = await sealer.seal(placeOf(kid), JSON.stringify(await exportJWK(privateKey)));
  const { kty, crv, x } = await exportJWK(publicKey);
  return { kid, public_jwk: { kty, crv, x } as object, private_jwk, sealed_with: sealer.kid };
}

const placeOf = (kid: string) => ({ table: 'signing_keys', column: 'private_jwk', row: kid });

async function importKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, 'EdDSA');
  if (key instanceof Uint8Array) throw new TypeError('a signing key is an asymmetric one');
  return key;
}
