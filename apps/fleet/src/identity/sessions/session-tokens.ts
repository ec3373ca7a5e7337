import { hkdfSync, randomUUID } from 'node:crypto';
import type { Sealer } from '@svc/database';
import { type CryptoKey, errors, exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import type { Database } from '../../database/client.ts';
import type { Prisma } from '../../generated/prisma/client.ts';

/** The key pair with which the fleet signs access tokens, shared by all replicas. */
export interface SigningKey {
  readonly kid: string;
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
  /**
   * Derives a secret that is equal on all replicas and does not change when encryption keys are
   * rotated.
   */
  deriveSecret(purpose: string): Uint8Array;
}

/**
 * The signing key of the fleet. The first replica that starts creates it and stores it encrypted.
 */
export async function loadSigningKey({ client }: Database, sealer: Sealer): Promise<SigningKey> {
  const active = () => client.signingKey.findFirst({ where: { retired_at: null } });
  if (!(await active())) await client.signingKey.createMany({ data: await newKey(sealer), skipDuplicates: true });
  const row = await active();
  if (!row) throw new Error('no active signing key found');
  const privateJwk: JWK = JSON.parse(await sealer.open(locationOf(row.kid), row.private_jwk));
  const publicJwk = row.public_jwk as JWK; // written by `newKey`
  return {
    kid: row.kid,
    publicKey: await importKey(publicJwk),
    privateKey: await importKey(privateJwk),
    deriveSecret: (purpose) => new Uint8Array(hkdfSync('sha256', privateJwk.d ?? '', row.kid, purpose, 32)),
  };
}

async function newKey(sealer: Sealer) {
  const kid = randomUUID();
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const private_jwk = await sealer.seal(locationOf(kid), JSON.stringify(await exportJWK(privateKey)));
  const { kty, crv, x } = await exportJWK(publicKey);
  // The members of a JWK are valid JSON.
  return { kid, public_jwk: { kty, crv, x } as object, private_jwk, key_id: sealer.kid };
}

const locationOf = (kid: string) => ({ table: 'signing_keys', column: 'private_jwk', row: kid });

async function importKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, 'EdDSA');
  if (key instanceof Uint8Array) throw new TypeError('the signing key must be asymmetric');
  return key;
}

/**
 * The lifetime of an access token in seconds. Each request also checks the session of the token.
 */
export const ACCESS_TOKEN_SECONDS = 600;
const ISSUER = 'fleet';

/** Signs an access token for a session. All replicas accept it. */
export const signAccessToken = ({ kid, privateKey }: SigningKey, sessionId: string): Promise<string> =>
  new SignJWT()
    .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'at+jwt' })
    .setIssuer(ISSUER)
    .setAudience(ISSUER)
    .setSubject(sessionId)
    .setIssuedAt()
    .setExpirationTime(`${ACCESS_TOKEN_SECONDS}s`)
    .sign(privateKey);

/**
 * The session of an access token; undefined if this key did not sign the token, or if it has
 * expired.
 */
export async function verifyAccessToken({ kid, publicKey }: SigningKey, token: string): Promise<string | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, publicKey, {
      algorithms: ['EdDSA'],
      issuer: ISSUER,
      audience: ISSUER,
      typ: 'at+jwt',
      requiredClaims: ['exp', 'sub'],
    });
    return protectedHeader.kid === kid ? payload.sub : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/** The exchange of a refresh token. Tokens are given as hashes. */
export interface Rotation {
  readonly hash: string;
  readonly successor: string;
  /** The fingerprint of the current temporary admin; null without one. */
  readonly fingerprint: string | null;
}

interface Row {
  readonly id: string;
  /** Whether two parties hold tokens of this session, so that one of them was stolen. */
  readonly shared: boolean;
}

/**
 * Exchanges a refresh token for its successor. A repetition within ten seconds, before a successor
 * was used, counts as the retry of a lost response and gets a successor as well. Any other second
 * use, of the token or of two of its successors, ends the session.
 * @returns the id of the session; undefined if the token is not valid
 */
export async function rotateRefreshToken({ client }: Database, rotation: Rotation): Promise<string | undefined> {
  const { hash, successor } = rotation;
  return client.$transaction(async (transaction) => {
    const row = await lockSession(transaction, rotation);
    if (!row) return undefined;
    if (row.shared) {
      await transaction.$executeRaw`UPDATE sessions SET ended_at = now() WHERE id = ${row.id}::uuid`;
      return undefined;
    }
    await transaction.$executeRaw`
        UPDATE refresh_tokens SET used_at = coalesce(used_at, now()) WHERE token_hash = ${hash}`;
    await transaction.$executeRaw`
        INSERT INTO refresh_tokens (token_hash, session_id, parent_hash) VALUES (${successor}, ${row.id}::uuid, ${hash})`;
    return row.id;
  });
}

/**
 * Finds and locks the session of a token, so that simultaneous uses of a token are processed one
 * after the other.
 */
async function lockSession(
  transaction: Prisma.TransactionClient,
  { hash, fingerprint }: Rotation,
): Promise<Row | undefined> {
  await transaction.$queryRaw`
    SELECT FROM sessions WHERE id = (SELECT session_id FROM refresh_tokens WHERE token_hash = ${hash}) FOR UPDATE`;
  const [row] = await transaction.$queryRaw<Row[]>`
    SELECT s.id,
           t.used_at <= now() - interval '10 seconds' IS TRUE
           OR t.used_at IS NOT NULL AND EXISTS (
             SELECT FROM refresh_tokens n WHERE n.parent_hash = t.token_hash AND n.used_at IS NOT NULL)
           OR EXISTS (
             SELECT FROM refresh_tokens n
             WHERE n.parent_hash = t.parent_hash AND n.token_hash <> t.token_hash AND n.used_at IS NOT NULL) AS shared
    FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id
    WHERE t.token_hash = ${hash} AND s.ended_at IS NULL AND s.expires_at > now()
      AND (s.user_id IS NOT NULL OR s.fingerprint = ${fingerprint})`;
  return row;
}
