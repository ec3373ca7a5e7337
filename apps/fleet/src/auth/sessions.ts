import { createHash, randomBytes } from 'node:crypto';
import { Problem } from '@svc/http';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Database } from '../database/client.ts';
import { translated } from '../database/translated.ts';
import type { Principal } from '../principal.ts';
import { rotateRefreshToken } from './refresh-tokens.ts';
import type { SigningKey } from './signing-keys.ts';
import type { TemporaryAdmin } from './temporary-admin.ts';

/** Seconds for which an access token is good; it is checked against its session at each request all the same. */
export const ACCESS_TOKEN_SECONDS = 600;
const SESSION_HOURS = 24;
const ISSUER = 'fleet';

export interface TokenPair {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** People who are signed in. */
export interface Sessions {
  readonly temporaryAdmin: TemporaryAdmin | undefined;
  open(admin: TemporaryAdmin): Promise<TokenPair>;
  /** Exchanges a refresh token for a new pair. @throws 401 invalid_grant */
  refresh(refreshToken: string): Promise<TokenPair>;
  end(sessionId: string): Promise<void>;
  /** Whose access token this is; undefined when it is good for nothing, or its session is over. */
  verify(accessToken: string): Promise<Principal | undefined>;
}

export interface SessionOptions {
  readonly database: Database;
  readonly signingKey: SigningKey;
  readonly temporaryAdmin: TemporaryAdmin | undefined;
}

export function createSessions({ database, signingKey, temporaryAdmin }: SessionOptions): Sessions {
  const { client } = database;
  const accessToken = (sessionId: string) =>
    new SignJWT()
      .setProtectedHeader({ alg: 'EdDSA', kid: signingKey.kid, typ: 'at+jwt' })
      .setIssuer(ISSUER)
      .setAudience(ISSUER)
      .setSubject(sessionId)
      .setIssuedAt()
      .setExpirationTime(`${ACCESS_TOKEN_SECONDS}s`)
      .sign(signingKey.privateKey);

  return {
    temporaryAdmin,
    open: async ({ fingerprint }) => {
      const refresh_token = newRefreshToken();
      const expires_at = new Date(Date.now() + SESSION_HOURS * 3_600_000);
      const refresh_tokens = { create: { token_hash: hashRefreshToken(refresh_token) } };
      const data = { actor: 'temporary-admin', fingerprint, expires_at, refresh_tokens };
      const { id } = await translated(() => client.session.create({ data }));
      return { access_token: await accessToken(id), refresh_token };
    },
    refresh: async (refreshToken) => {
      const successor = newRefreshToken();
      const session = await rotateRefreshToken(database, hashRefreshToken(refreshToken), hashRefreshToken(successor));
      if (session === undefined || session.fingerprint !== temporaryAdmin?.fingerprint) throw invalidGrant();
      return { access_token: await accessToken(session.id), refresh_token: successor };
    },
    end: async (sessionId) => {
      await translated(() => client.$executeRaw`UPDATE sessions SET ended_at = now() WHERE id = ${sessionId}::uuid`);
    },
    verify: async (token) => {
      const sessionId = await subjectOf(token, signingKey);
      if (sessionId === undefined || !temporaryAdmin) return undefined;
      const [session] = await translated(
        () => client.$queryRaw<{ fingerprint: string }[]>`
          SELECT fingerprint FROM sessions
          WHERE id = ${sessionId}::uuid AND ended_at IS NULL AND expires_at > now()`,
      );
      if (session?.fingerprint !== temporaryAdmin.fingerprint) return undefined;
      return { kind: 'temporary-admin', name: temporaryAdmin.username, role: 'admin', sessionId };
    },
  };
}

const newRefreshToken = () => randomBytes(32).toString('base64url');
const hashRefreshToken = (token: string) => createHash('sha256').update(token).digest('hex');

const invalidGrant = () => new Problem('invalid_grant', 'The refresh token is no longer good: sign in again.');

async function subjectOf(token: string, { kid, publicKey }: SigningKey): Promise<string | undefined> {
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
