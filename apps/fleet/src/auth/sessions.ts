import { Problem } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { TemporaryAdministrator, User } from '../principal.ts';
import type { Sealer } from '../sealing.ts';
import type { Settings } from '../settings/settings.ts';
import {
  hashCredential,
  newCredential,
  rotateRefreshToken,
  type SigningKey,
  sessionOf,
  signAccessToken,
} from './session-tokens.ts';
import type { TemporaryAdmin } from './temporary-admin.ts';
import { userOf } from './users.ts';

type Transaction = Prisma.TransactionClient;

export interface TokenPair {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Whose session it is. A user of an identity provider may come with its refresh token. */
export type Owner =
  | { readonly kind: 'temporary-admin' }
  | { readonly kind: 'local'; readonly userId: string }
  | { readonly kind: 'oidc'; readonly userId: string; readonly providerToken: string | undefined };

/** Hours without a word from the identity provider are as many for a session of its users as for the temporary admin. */
const HOURS: Readonly<Record<Owner['kind'], number>> = { 'temporary-admin': 24, local: 7 * 24, oidc: 24 };

export const PROVIDER_MINUTES = 15;

/** People who are signed in. */
export interface Sessions {
  readonly temporaryAdmin: TemporaryAdmin | undefined;
  /** @returns the new session's id */
  open(transaction: Transaction, owner: Owner): Promise<string>;
  /** The first tokens of a session. */
  tokensOf(transaction: Transaction, sessionId: string): Promise<TokenPair>;
  /** Exchanges a refresh token for a new pair. @throws 401 invalid_grant */
  refresh(refreshToken: string): Promise<{ readonly pair: TokenPair; readonly person: Person }>;
  /** Who is in a session that is not over, as they stand now. */
  personIn(client: Reader, sessionId: string): Promise<Person | undefined>;
  /** Whose access token this is; undefined when it is good for nothing, or its session is over. */
  verify(accessToken: string): Promise<Person | undefined>;
}

/** Somebody who signed in here. */
export type Person = User | TemporaryAdministrator;

type Reader = Pick<Transaction, 'session' | 'setting' | '$queryRaw'>;

export interface SessionOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly settings: Settings;
  readonly signingKey: SigningKey;
  readonly temporaryAdmin: TemporaryAdmin | undefined;
}

export function createSessions({ database, sealer, settings, signingKey, temporaryAdmin }: SessionOptions): Sessions {
  const { client } = database;

  const personIn = async (reader: Reader, sessionId: string): Promise<Person | undefined> => {
    const [open] = await reader.$queryRaw<{ id: string }[]>`
      SELECT id FROM sessions WHERE id = ${sessionId}::uuid AND ended_at IS NULL AND expires_at > now()`;
    const session = open && (await reader.session.findUnique({ where: { id: open.id }, include: { user: true } }));
    if (!session) return undefined;
    if (session.user) {
      const oidc = await settings.oidc(reader);
      const { source, iss, removed_at } = session.user;
      if (removed_at || (source === 'oidc' && iss !== oidc.issuer)) return undefined;
      return userOf(session.user, oidc, sessionId);
    }
    if (!temporaryAdmin || session.fingerprint !== temporaryAdmin.fingerprint) return undefined;
    return { kind: 'temporary-admin', name: temporaryAdmin.username, role: 'admin', sessionId };
  };

  return {
    temporaryAdmin,
    personIn,
    open: async (transaction, owner) => {
      const id = uuidv7();
      const userId = owner.kind === 'temporary-admin' ? null : owner.userId;
      const token = owner.kind === 'oidc' ? owner.providerToken : undefined;
      const sealed = token === undefined ? null : await sealer.seal(placeOfProviderToken(id), token);
      await transaction.$executeRaw`
        INSERT INTO sessions (id, user_id, fingerprint, expires_at, provider_token, sealed_with, provider_at)
        VALUES (${id}::uuid, ${userId}::uuid, ${userId === null ? (temporaryAdmin?.fingerprint ?? '') : null},
          now() + make_interval(hours => ${HOURS[owner.kind]}::int), ${sealed}, ${sealed === null ? null : sealer.kid},
          CASE WHEN ${sealed}::text IS NOT NULL THEN now() + make_interval(mins => ${PROVIDER_MINUTES}::int) END)`;
      return id;
    },
    tokensOf: async (transaction, sessionId) => {
      const refresh_token = newCredential();
      await transaction.refreshToken.create({
        data: { token_hash: hashCredential(refresh_token), session_id: sessionId },
      });
      return { access_token: await signAccessToken(signingKey, sessionId), refresh_token };
    },
    refresh: async (refreshToken) => {
      const hash = hashCredential(refreshToken);
      // Who it is comes first: a token is not used up by somebody who gets no answer for it.
      const known = await client.refreshToken.findUnique({ where: { token_hash: hash } });
      const person = known && (await personIn(client, known.session_id));
      if (person) refuseWithoutRole(person);
      const refresh_token = newCredential();
      const sessionId =
        person &&
        (await rotateRefreshToken(database, {
          hash,
          successor: hashCredential(refresh_token),
          fingerprint: temporaryAdmin?.fingerprint ?? null,
        }));
      if (!person || sessionId === undefined) throw invalidGrant();
      return {
        pair: { access_token: await signAccessToken(signingKey, person.sessionId ?? ''), refresh_token },
        person,
      };
    },
    verify: async (token) => {
      const sessionId = await sessionOf(signingKey, token);
      return sessionId === undefined ? undefined : personIn(client, sessionId);
    },
  };
}

/** Where a provider's refresh token is sealed for. */
export const placeOfProviderToken = (sessionId: string) => ({
  table: 'sessions',
  column: 'provider_token',
  row: sessionId,
});

/** @throws 403 for somebody whose claims give no role */
export function refuseWithoutRole({ role }: Person): void {
  if (role !== undefined) return;
  throw new Problem('insufficient_scope', 'The identity provider’s claims give you no role in this fleet.');
}

const invalidGrant = () => new Problem('invalid_grant', 'The refresh token is no longer good: sign in again.');
