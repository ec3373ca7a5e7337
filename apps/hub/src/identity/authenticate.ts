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
import { createAccessCache, type Dated } from './access-cache.ts';
import type { Principal } from './principal.ts';
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

/**
 * Creates the function that verifies bearer tokens: API keys, service tokens, tokens of sessions, and JWTs of the
 * identity provider.
 */
export function createVerifier(options: VerifierOptions): Verify {
  const verifyKey = createKeyVerifier(options);
  const verifyUser = createUserVerifier(options);
  return async (token, request) => {
    if (token.startsWith('svcc_')) return verifyKey(token, request);
    if (token.startsWith('svcs_')) return verifyServiceToken(options.database, token, request);
    if (token.startsWith(TOKEN_PREFIX)) return verifySessionToken(options.database, options.provider, token);
    return verifyUser(token, request);
  };
}

/**
 * Verifies API keys. Their organizations are remembered by the hash of the key until the access
 * revision changes.
 */
function createKeyVerifier({ database, usage }: VerifierOptions): Verify {
  const known = createAccessCache<KeyPrincipal>(MAX_KEYS);
  return async (token, { revision }) => {
    if (!isSecretToken('svcc_', token)) return undefined;
    const hash = hashSecretToken(token);
    const current = await revision();
    const principal = known.cached(hash, current) ?? (await known.get(hash, current, () => readKey(database, hash)));
    if (!principal) return undefined;
    usage.recordKeyUse(principal.keyId, current.now);
    if (principal.organization.status === 'suspended')
      throw new Problem('organization_suspended', 'The organization of this key is suspended.');
    return principal;
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
  readonly key_id: string;
  readonly expires_at: Date | null;
  readonly access: string;
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly status: OrgStatus;
  readonly tier: string;
}

async function readKey({ reader }: Database, hash: string): Promise<Dated<KeyPrincipal> | undefined> {
  const [row] = await reader.read<KeyRow>(Prisma.sql`
      SELECT k.id AS key_id, k.expires_at, a.revision AS access, o.id, o.name, o.slug, o.status::text AS status, s.tier
      FROM access_revision a, api_keys k
      JOIN organizations o ON o.id = k.org_id
      JOIN subscriptions s ON s.org_id = o.id
      WHERE k.key_hash = ${hash} AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`);
  if (!row) return undefined;
  const { key_id: keyId, expires_at: expires, access, ...organization } = row;
  return { value: { kind: 'organization', keyId, organization }, access, expires };
}
