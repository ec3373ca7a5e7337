import { createHash, randomBytes } from 'node:crypto';
import { Problem } from '@svc/http';
import type { Database } from '../database/client.ts';
import { translated } from '../database/translated.ts';
import type { Principal } from '../principal.ts';
import { sessionOf, signAccessToken } from './access-tokens.ts';
import { rotateRefreshToken } from './refresh-tokens.ts';
import type { SigningKey } from './signing-keys.ts';
import type { TemporaryAdmin } from './temporary-admin.ts';

const SESSION_HOURS = 24;

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
  return {
    temporaryAdmin,
    open: async ({ fingerprint }) => {
      const refresh_token = newRefreshToken();
      const expires_at = new Date(Date.now() + SESSION_HOURS * 3_600_000);
      const refresh_tokens = { create: { token_hash: hashRefreshToken(refresh_token) } };
      const data = { actor: 'temporary-admin', fingerprint, expires_at, refresh_tokens };
      const { id } = await translated(() => client.session.create({ data }));
      return { access_token: await signAccessToken(signingKey, id), refresh_token };
    },
    refresh: async (refreshToken) => {
      if (!temporaryAdmin) throw invalidGrant();
      const successor = newRefreshToken();
      const sessionId = await rotateRefreshToken(database, {
        hash: hashRefreshToken(refreshToken),
        successor: hashRefreshToken(successor),
        fingerprint: temporaryAdmin.fingerprint,
      });
      if (sessionId === undefined) throw invalidGrant();
      return { access_token: await signAccessToken(signingKey, sessionId), refresh_token: successor };
    },
    end: async (sessionId) => {
      await translated(() => client.$executeRaw`UPDATE sessions SET ended_at = now() WHERE id = ${sessionId}::uuid`);
    },
    verify: async (token) => {
      const sessionId = await sessionOf(signingKey, token);
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
