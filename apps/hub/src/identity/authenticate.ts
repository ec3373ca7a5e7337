import {
  createJwtVerifier,
  hashSecretToken,
  isJwtShaped,
  isSecretToken,
  type KeySource,
  type UserClaims,
} from '@svc/auth';
import type { Provider } from '@svc/auth/oidc';
import { Problem } from '@svc/http';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { OrgStatus } from '../generated/prisma/enums.ts';
import type { Revision } from '../revision/revision.ts';
import { createSharedRun } from '../revision/shared-run.ts';
import { type AccessCache, createAccessCache, type Dated, isValidAt } from './access-cache.ts';
import { nameOf, type Principal } from './principal.ts';
import { verifyServiceToken } from './service-tokens.ts';
import { TOKEN_PREFIX, verifySessionToken } from './sessions.ts';
import { type Superadmins, userOf } from './users.ts';

export interface IdentityProvider extends Superadmins {
  /** For sign-ins to the console; undefined if the hub is no client of the provider. */
  readonly signIn: Pick<Provider, 'authorizationUrl' | 'redeemCallback'> | undefined;
  readonly issuer: string;
  readonly audience: string;
  readonly keys: Pick<KeySource, 'keyFor' | 'refetch'>;
  /** The longest time until the expiry of an access token, in hours. */
  readonly maxHours?: number | undefined;
}

/** What the resolution of a credential needs of its request. */
export interface CredentialRequest {
  /** A revision that was read after the request arrived. */
  readonly revision: () => Promise<Revision>;
  /** Whether the request is to an endpoint at which service tokens are valid. */
  readonly isPublishing: boolean;
}

/**
 * Resolves a bearer token to its principal, or to undefined if the token is not valid. @throws
 * TokenRefused
 */
type Verify = (token: string, request: CredentialRequest) => Promise<Principal | undefined>;

/** Records uses of API keys. */
interface KeyUses {
  recordKeyUse(keyId: string, at: Date): void;
}

interface VerifierOptions {
  readonly database: Database;
  readonly provider: IdentityProvider;
  readonly usage: KeyUses;
}

/** The number of principals that are remembered. */
const MAX_KEYS = 20_000;
const MAX_USERS = 5000;

export interface Verifier {
  /** Verifies bearer tokens: API keys, service tokens, tokens of sessions, and JWTs of the identity provider. */
  readonly verify: Verify;
  readonly knownKeys: KnownKeys;
}

export function createVerifier(options: VerifierOptions): Verifier {
  const keys = createAccessCache<KeyPrincipal>(MAX_KEYS);
  const verifyKey = createKeyVerifier(options, keys);
  const verifyUser = createUserVerifier(options);
  return {
    verify: async (token, request) => {
      if (token.startsWith('svcc_')) return verifyKey(token, request);
      if (token.startsWith('svcs_')) return verifyServiceToken(options.database, token, request);
      if (token.startsWith(TOKEN_PREFIX)) return verifySessionToken(options.database, options.provider, token);
      return verifyUser(token, request);
    },
    knownKeys: createKnownKeys(options, keys),
  };
}

type KeyCache = AccessCache<KeyPrincipal>;

/**
 * Verifies API keys. Their organizations are remembered by the hash of the key until the access
 * revision changes.
 */
function createKeyVerifier({ database, usage }: VerifierOptions, known: KeyCache): Verify {
  const readKey = createKeyReader(database);
  return async (token, { revision }) => {
    if (!isSecretToken('svcc_', token)) return undefined;
    const hash = hashSecretToken(token);
    const current = await revision();
    const principal = known.cached(hash, current) ?? (await known.get(hash, current, () => readKey(hash)));
    if (!principal) return undefined;
    usage.recordKeyUse(principal.keyId, current.now);
    requireActive(principal);
    return principal;
  };
}

/** @throws 403 */
function requireActive({ organization: { status } }: KeyPrincipal): void {
  if (status === 'suspended') throw new Problem('organization_suspended', 'The organization of this key is suspended.');
}

/** An API key that was verified at some revision. */
export interface KnownKey {
  readonly dated: Dated<KeyPrincipal>;
  /** The key for the rate limit. It remains the same at each revision. */
  readonly session: string;
  /** The name of the key in the log. */
  readonly name: string;
  readonly isConstant: false;
}

/** The API keys that were verified, without their secrets: they are remembered by their hashes. */
export interface KnownKeys {
  /** The key in an Authorization header; undefined for other credentials, and for other forms of the header. */
  find(authorization: string): KnownKey | undefined;
  /**
   * Admits a key at a revision that was read after its request arrived, and records its use.
   * @returns undefined if it must be verified again @throws 403
   */
  admit(key: KnownKey, revision: Revision): KeyPrincipal | undefined;
}

const KEY_START = 'Bearer svcc_';
const SCHEME_LENGTH = 'Bearer '.length;

function createKnownKeys({ usage }: VerifierOptions, keys: KeyCache): KnownKeys {
  return {
    find(authorization) {
      if (!authorization.startsWith(KEY_START)) return undefined;
      const dated = keys.find(hashSecretToken(authorization.slice(SCHEME_LENGTH)));
      if (!dated) return undefined;
      const name = nameOf(dated.value);
      return { dated, session: name, name, isConstant: false };
    },
    admit({ dated }, revision) {
      if (!isValidAt(dated, revision)) return undefined;
      requireActive(dated.value);
      usage.recordKeyUse(dated.value.keyId, revision.now);
      return dated.value;
    },
  };
}

/**
 * Verifies JWTs. Their users are remembered by the claims until the access revision changes. The
 * signature of a token is always verified, so that a signing key that the provider withdraws is not
 * accepted any longer.
 */
function createUserVerifier({ database, provider }: VerifierOptions): Verify {
  const known = createAccessCache<Principal>(MAX_USERS);
  const verifyJwt = createJwtVerifier(provider);
  return async (token, { revision }) => {
    const claims = isJwtShaped(token) ? await verifyJwt(token) : undefined;
    if (!claims) return undefined;
    const current = await revision();
    return known.get(claimsKey(claims), current, async () => ({
      value: await userOf(database, provider, claims),
      // A change before the user is read leads to another revision at the next request.
      access: current.access,
      expires: null,
    }));
  };
}

/** A string of all claims that `userOf` uses. */
const claimsKey = ({ iss, sub, email, email_verified, name }: UserClaims): string =>
  JSON.stringify([iss, sub, email, email_verified, name]);

type KeyPrincipal = Extract<Principal, { readonly kind: 'organization' }>;

interface KeyRow {
  readonly key_hash: string;
  readonly key_id: string;
  readonly expires_at: Date | null;
  readonly access: string;
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly status: OrgStatus;
  readonly tier: string;
}

/** The number of keys that one statement reads. */
const MAX_KEYS_READ = 500;

type ReadKey = (hash: string) => Promise<Dated<KeyPrincipal> | undefined>;

/** Reads keys by their hashes. Callers who wait share statements: after a start, all of them arrive together. */
function createKeyReader({ reader }: Database): ReadKey {
  let waiting = new Set<string>();
  const reads = createSharedRun(async () => {
    const hashes = [...waiting];
    waiting = new Set();
    const found = new Map<string, Dated<KeyPrincipal>>();
    for (let start = 0; start < hashes.length; start += MAX_KEYS_READ) {
      const rows = await reader.read<KeyRow>(keysWith(hashes.slice(start, start + MAX_KEYS_READ)));
      for (const { key_hash: hash, key_id: keyId, expires_at: expires, access, ...organization } of rows) {
        found.set(hash, { value: { kind: 'organization', keyId, organization }, access, expires });
      }
    }
    return found;
  });
  return async (hash) => {
    waiting.add(hash);
    return (await reads.run()).get(hash);
  };
}

const keysWith = (hashes: readonly string[]): Prisma.Sql => Prisma.sql`
  SELECT k.key_hash, k.id AS key_id, k.expires_at, a.revision AS access, o.id, o.name, o.slug, o.status::text AS status, s.tier
  FROM access_revision a, api_keys k
  JOIN organizations o ON o.id = k.org_id
  JOIN subscriptions s ON s.org_id = o.id
  WHERE k.key_hash = ANY (${[...hashes]}) AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`;
