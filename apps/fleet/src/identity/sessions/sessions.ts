import { hashCredential, newCredential } from '@svc/auth';
import type { Sealer } from '@svc/database';
import { Problem } from '@svc/http';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../database/client.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Settings } from '../../settings/settings.ts';
import { createOpenSession, type OpenSession } from './opening.ts';
import { createPeople, type People, type Person, refuseWithoutRole } from './people.ts';
import { rotateRefreshToken, type SigningKey, signAccessToken, verifyAccessToken } from './session-tokens.ts';
import type { TemporaryAdmin } from './temporary-admin.ts';

type Transaction = Prisma.TransactionClient;

export interface TokenPair {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** The tokens of sessions. */
interface Tokens {
  /** Issues the first tokens of a session. */
  issueTokens(transaction: Transaction, sessionId: string): Promise<TokenPair>;
  /** Exchanges a refresh token for a new pair. @throws 401 invalid_grant */
  refresh(refreshToken: string): Promise<{ readonly pair: TokenPair; readonly person: Person }>;
}

/** The sessions of users and the temporary admin. */
export interface Sessions extends People, Tokens {
  readonly temporaryAdmin: TemporaryAdmin | undefined;
  readonly open: OpenSession;
  /** Binds a session to a browser, which keeps the reference instead of tokens. */
  bindToBrowser(transaction: Transaction, sessionId: string, browser: Browser): Promise<void>;
  /**
   * The current principal of an access token; undefined if the token is not valid or its session
   * has ended.
   */
  verify(accessToken: string): Promise<Person | undefined>;
  /**
   * The current principal of the reference that a browser keeps; undefined if it is not valid or
   * its session has ended.
   */
  verifyReference(browser: Browser): Promise<Person | undefined>;
}

/** What a browser keeps, and what its console states: `BrowserSessions.keyHashOf`. */
interface Browser {
  readonly reference: string;
  readonly keyHash: string | undefined;
}

/** The uses of a session in this time are recorded once, for at most this number of sessions. */
const USE_MS = 60_000;
const MAX_USED = 10_000;

export interface SessionOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly settings: Settings;
  readonly signingKey: SigningKey;
  readonly temporaryAdmin: TemporaryAdmin | undefined;
}

export function createSessions({ database, sealer, settings, signingKey, temporaryAdmin }: SessionOptions): Sessions {
  const { client } = database;
  const people = createPeople({ settings, temporaryAdmin });
  const recordUse = createUseRecorder(database);
  const findCaller = async (sessionId: string): Promise<Person | undefined> => {
    const person = await people.findPerson(client, sessionId);
    if (person) await recordUse(sessionId);
    return person;
  };
  return {
    temporaryAdmin,
    ...people,
    ...createTokens({ database, people, signingKey, temporaryAdmin }),
    open: createOpenSession(sealer, temporaryAdmin),
    bindToBrowser: async (transaction, sessionId, { reference, keyHash = '' }) => {
      await transaction.$executeRaw`
        UPDATE sessions SET browser_hash = ${hashCredential(reference)}, key_hash = ${keyHash} WHERE id = ${sessionId}::uuid`;
    },
    verify: async (token) => {
      const sessionId = await verifyAccessToken(signingKey, token);
      return sessionId === undefined ? undefined : findCaller(sessionId);
    },
    verifyReference: async ({ reference, keyHash }) => {
      const where = { browser_hash: hashCredential(reference) };
      const session = await client.session.findUnique({ where, select: { id: true, key_hash: true } });
      // Version 0.2.0 stores no key.
      const isOfOther = keyHash !== undefined && session?.key_hash !== null && session?.key_hash !== keyHash;
      return session && !isOfOther ? findCaller(session.id) : undefined;
    },
  };
}

/** Creates the function that records the uses of sessions. */
function createUseRecorder({ client }: Database) {
  const used = new LRUCache<string, true>({ max: MAX_USED, ttl: USE_MS });
  return async (sessionId: string): Promise<void> => {
    if (used.has(sessionId)) return;
    used.set(sessionId, true);
    await client.$executeRaw`UPDATE sessions SET last_used_at = now() WHERE id = ${sessionId}::uuid`;
  };
}

interface TokensOptions extends Pick<SessionOptions, 'database' | 'signingKey' | 'temporaryAdmin'> {
  readonly people: People;
}

function createTokens({ database, people, signingKey, temporaryAdmin }: TokensOptions): Tokens {
  const { client } = database;
  return {
    issueTokens: async (transaction, sessionId) => {
      const refresh_token = newCredential();
      await transaction.refreshToken.create({
        data: { token_hash: hashCredential(refresh_token), session_id: sessionId },
      });
      return { access_token: await signAccessToken(signingKey, sessionId), refresh_token };
    },
    refresh: async (refreshToken) => {
      const hash = hashCredential(refreshToken);
      // The principal is determined first, so that a request that is refused does not consume the
      // token.
      const known = await client.refreshToken.findUnique({ where: { token_hash: hash } });
      const person = known && (await people.findPerson(client, known.session_id));
      if (!person) throw invalidGrant();
      refuseWithoutRole(person);
      const refresh_token = newCredential();
      const sessionId = await rotateRefreshToken(database, {
        hash,
        successor: hashCredential(refresh_token),
        fingerprint: temporaryAdmin?.fingerprint ?? null,
      });
      if (sessionId === undefined) throw invalidGrant();
      const access_token = await signAccessToken(signingKey, person.sessionId ?? '');
      return { pair: { access_token, refresh_token }, person };
    },
  };
}

const invalidGrant = () => new Problem('invalid_grant', 'The refresh token is not valid. Sign in again.');
