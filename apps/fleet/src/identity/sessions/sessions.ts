import { hashCredential, newCredential } from '@svc/auth';
import { MAX_SESSIONS } from '@svc/contract';
import { Problem } from '@svc/http';
import { LRUCache } from 'lru-cache';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../database/client.ts';
import type { Sealer } from '../../database/sealing.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Settings } from '../../settings/settings.ts';
import { NO_ROLE, type TemporaryAdministrator, type User } from '../principal.ts';
import { userOf } from '../users.ts';
import { rotateRefreshToken, type SigningKey, signAccessToken, verifyAccessToken } from './session-tokens.ts';
import type { TemporaryAdmin } from './temporary-admin.ts';

type Transaction = Prisma.TransactionClient;

export interface TokenPair {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** The owner of a session. For a user of an identity provider, the provider may have issued a refresh token. */
export type Owner =
  | { readonly kind: 'temporary-admin' }
  | { readonly kind: 'local'; readonly userId: string }
  | { readonly kind: 'oidc'; readonly userId: string; readonly providerToken: string | undefined };

/** The client with which someone signs in. */
interface SessionClient {
  readonly userAgent: string | null;
  readonly source: string | null;
}

/** The lifetime of a session in hours. A successful check with the identity provider extends a session of its users. */
const SESSION_HOURS: Readonly<Record<Owner['kind'], number>> = { 'temporary-admin': 24, local: 7 * 24, oidc: 24 };

/** A session in a browser ends when it was not used for this time. Tokens have no such limit, because programs can pause. */
const IDLE_HOURS = 24;

/** Whether a row of `sessions` is open. */
export const isOpen = Prisma.sql`ended_at IS NULL AND expires_at > now() AND
  (browser_hash IS NULL OR coalesce(last_used_at, created_at) > now() - make_interval(hours => ${IDLE_HOURS}::int))`;

/** Minutes between two checks of a session with the identity provider. */
export const PROVIDER_MINUTES = 15;

/** The sessions of users and the temporary admin. */
export interface Sessions {
  readonly temporaryAdmin: TemporaryAdmin | undefined;
  /** Opens a session. @returns its id */
  open(transaction: Transaction, owner: Owner, client?: SessionClient): Promise<string>;
  /** Binds a session to a browser, which keeps the reference instead of tokens. */
  bindToBrowser(transaction: Transaction, sessionId: string, reference: string): Promise<void>;
  /** Issues the first tokens of a session. */
  issueTokens(transaction: Transaction, sessionId: string): Promise<TokenPair>;
  /** Exchanges a refresh token for a new pair. @throws 401 invalid_grant */
  refresh(refreshToken: string): Promise<{ readonly pair: TokenPair; readonly person: Person }>;
  /** The current principals of sessions that have not ended and whose users can still sign in, by the ids of the sessions. */
  findPeople(client: Reader, sessionIds: readonly string[]): Promise<ReadonlyMap<string, Person>>;
  /** The current principal of a session; undefined if the session has ended or its user can no longer sign in. */
  findPerson(client: Reader, sessionId: string): Promise<Person | undefined>;
  /** The current principal of an access token; undefined if the token is not valid or its session has ended. */
  verify(accessToken: string): Promise<Person | undefined>;
  /** The current principal of the reference that a browser keeps; undefined if it is not valid or its session has ended. */
  verifyReference(reference: string): Promise<Person | undefined>;
}

/** The uses of a session in this time are recorded once, for at most this number of sessions. */
const USE_MS = 60_000;
const MAX_USED = 10_000;

/** A principal with a session. */
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
  const used = new LRUCache<string, true>({ max: MAX_USED, ttl: USE_MS });

  const recordUse = async (sessionId: string) => {
    if (used.has(sessionId)) return;
    used.set(sessionId, true);
    await client.$executeRaw`UPDATE sessions SET last_used_at = now() WHERE id = ${sessionId}::uuid`;
  };
  const findPeople = async (reader: Reader, sessionIds: readonly string[]): Promise<ReadonlyMap<string, Person>> => {
    const open = await reader.$queryRaw<{ id: string }[]>`
      SELECT id FROM sessions WHERE id = ANY (${sessionIds}::uuid[]) AND ${isOpen}`;
    if (open.length === 0) return new Map();
    const where = { id: { in: open.map(({ id }) => id) } };
    const rows = await reader.session.findMany({ where, include: { user: true } });
    const oidc = rows.some(({ user }) => user) ? await settings.oidc(reader) : undefined;
    return new Map(
      rows.flatMap(({ id: sessionId, user, fingerprint }): [string, Person][] => {
        if (user && oidc) {
          const isOfOtherProvider = user.source === 'oidc' && user.iss !== oidc.issuer;
          return user.removed_at || isOfOtherProvider ? [] : [[sessionId, userOf(user, oidc, sessionId)]];
        }
        if (!temporaryAdmin || fingerprint !== temporaryAdmin.fingerprint) return [];
        return [[sessionId, { kind: 'temporary-admin', name: temporaryAdmin.username, role: 'admin', sessionId }]];
      }),
    );
  };
  const findPerson = async (reader: Reader, sessionId: string): Promise<Person | undefined> =>
    (await findPeople(reader, [sessionId])).get(sessionId);

  const findCaller = async (sessionId: string): Promise<Person | undefined> => {
    const person = await findPerson(client, sessionId);
    if (person) await recordUse(sessionId);
    return person;
  };

  return {
    temporaryAdmin,
    findPeople,
    findPerson,
    bindToBrowser: async (transaction, sessionId, reference) => {
      await transaction.$executeRaw`
        UPDATE sessions SET browser_hash = ${hashCredential(reference)} WHERE id = ${sessionId}::uuid`;
    },
    open: async (transaction, owner, { userAgent, source } = { userAgent: null, source: null }) => {
      const id = uuidv7();
      const userId = owner.kind === 'temporary-admin' ? null : owner.userId;
      const fingerprint = userId === null ? (temporaryAdmin?.fingerprint ?? '') : null;
      const token = owner.kind === 'oidc' ? owner.providerToken : undefined;
      const sealed = token === undefined ? null : await sealer.seal(providerTokenLocation(id), token);
      await deleteOldest(transaction, userId, fingerprint);
      await transaction.$executeRaw`
        INSERT INTO sessions (id, user_id, fingerprint, user_agent, source, expires_at, provider_token, key_id, provider_at)
        VALUES (${id}::uuid, ${userId}::uuid, ${fingerprint},
          ${userAgent}, ${source},
          now() + make_interval(hours => ${SESSION_HOURS[owner.kind]}::int), ${sealed}, ${sealed === null ? null : sealer.kid},
          CASE WHEN ${sealed}::text IS NOT NULL THEN now() + make_interval(mins => ${PROVIDER_MINUTES}::int) END)`;
      return id;
    },
    issueTokens: async (transaction, sessionId) => {
      const refresh_token = newCredential();
      await transaction.refreshToken.create({
        data: { token_hash: hashCredential(refresh_token), session_id: sessionId },
      });
      return { access_token: await signAccessToken(signingKey, sessionId), refresh_token };
    },
    refresh: async (refreshToken) => {
      const hash = hashCredential(refreshToken);
      // The principal is determined first, so that a request that is refused does not consume the token.
      const known = await client.refreshToken.findUnique({ where: { token_hash: hash } });
      const person = known && (await findPerson(client, known.session_id));
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
      const sessionId = await verifyAccessToken(signingKey, token);
      return sessionId === undefined ? undefined : findCaller(sessionId);
    },
    verifyReference: async (reference) => {
      const where = { browser_hash: hashCredential(reference) };
      const session = await client.session.findUnique({ where, select: { id: true } });
      return session ? findCaller(session.id) : undefined;
    },
  };
}

/** Makes room for a session of a user, or of the temporary admin. Ended sessions are deleted first, then those that were not used for long. */
async function deleteOldest(
  transaction: Transaction,
  userId: string | null,
  fingerprint: string | null,
): Promise<void> {
  const isOfOwner =
    userId === null
      ? Prisma.sql`user_id IS NULL AND fingerprint = ${fingerprint}`
      : Prisma.sql`user_id = ${userId}::uuid`;
  await transaction.$executeRaw`
    DELETE FROM sessions WHERE id = ANY (ARRAY(
      SELECT id FROM sessions WHERE ${isOfOwner}
      ORDER BY (${isOpen}) DESC, coalesce(last_used_at, created_at) DESC, id DESC
      OFFSET ${MAX_SESSIONS - 1} FOR UPDATE SKIP LOCKED))`;
}

/** The column and row for which the refresh token of a provider is sealed. */
export const providerTokenLocation = (sessionId: string) => ({
  table: 'sessions',
  column: 'provider_token',
  row: sessionId,
});

/** @throws 403 for a user whose claims map to no role */
export function refuseWithoutRole({ role }: Person): void {
  if (role !== undefined) return;
  throw new Problem('insufficient_scope', NO_ROLE);
}

const invalidGrant = () => new Problem('invalid_grant', 'The refresh token is not valid. Sign in again.');
