import {
  createJwtVerifier,
  hashCredential,
  hashSecretToken,
  isJwtShaped,
  isSecretToken,
  type UserClaims,
} from '@svc/auth';
import type { Provider } from '@svc/auth/oidc';
import { Problem } from '@svc/http';
import type { JWTVerifyGetKey } from 'jose';
import type { Database } from '../database/client.ts';
import { type Organization, Prisma, type User } from '../generated/prisma/client.ts';
import type { OrgStatus, UserRole } from '../generated/prisma/enums.ts';
import type { Revision } from '../revision/revision.ts';
import { createAccessCache, type Dated } from './access-cache.ts';
import type { Principal, UserPrincipal } from './principal.ts';

export interface IdentityProvider {
  /** For sign-ins to the console; undefined if the hub is no client of the provider. */
  readonly signIn: Pick<Provider, 'authorizationUrl' | 'redeemCallback'> | undefined;
  readonly issuer: string;
  readonly audience: string;
  readonly keys: JWTVerifyGetKey;
  readonly superadminEmails: readonly string[];
  readonly superadminSubjects: readonly string[];
}

/** What the resolution of a credential needs of its request. */
export interface CredentialRequest {
  /** A revision that was read after the request arrived. */
  readonly revision: () => Promise<Revision>;
}

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
 * Creates the function that resolves a bearer token to its principal, or to undefined if the token is not valid. Principals
 * are remembered until the access revision changes: for a key by the hash of its secret, for a user by the claims of a token.
 * The signature of a token is always verified, so that a signing key that the provider withdraws is not accepted any longer.
 */
export function createVerifier({ database, provider, usage }: VerifierOptions) {
  const keys = createAccessCache<KeyPrincipal>(MAX_KEYS);
  const users = createAccessCache<Principal>(MAX_USERS);
  const verifyJwt = createJwtVerifier(provider);
  return async (token: string, { revision }: CredentialRequest): Promise<Principal | undefined> => {
    if (!token.startsWith('svcc_')) {
      const claims = isJwtShaped(token) ? await verifyJwt(token) : undefined;
      if (!claims) return undefined;
      const current = await revision();
      return users.get(describe(claims), current, async () => ({
        value: await userOf(database, provider, claims),
        access: current.access, // a change before the user is read leads to another revision at the next request
        expires: null,
      }));
    }
    if (!isSecretToken('svcc_', token)) return undefined;
    const hash = hashSecretToken(token);
    const current = await revision();
    const principal = keys.cached(hash, current) ?? (await keys.get(hash, current, () => readKey(database, hash)));
    if (!principal) return undefined;
    usage.recordKeyUse(principal.keyId, current.now);
    if (principal.organization.status === 'suspended')
      throw new Problem('organization_suspended', 'The organization of this key is suspended.');
    return principal;
  };
}

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

/** A session ends when it was not used for this time. */
const IDLE_HOURS = 4;

/** Whether a row of `sessions` is open. */
export const isOpen = Prisma.sql`ended_at IS NULL AND expires_at > now()
  AND coalesce(last_used_at, created_at) > now() - make_interval(hours => ${IDLE_HOURS}::int)`;

/** Resolves the reference that a browser keeps to its principal; undefined if it is not valid or its session has ended. */
export async function verifyReference(
  { client }: Database,
  { issuer }: Pick<IdentityProvider, 'issuer'>,
  reference: string,
): Promise<Principal | undefined> {
  const [session] = await client.$queryRaw<{ id: string; user_id: string; is_unused: boolean }[]>`
    SELECT id, user_id, coalesce(last_used_at < now() - interval '1 minute', true) AS is_unused FROM sessions
    WHERE browser_hash = ${hashCredential(reference)} AND ${isOpen}`;
  if (!session) return undefined;
  const user = await client.user.findUnique({ where: { id: session.user_id }, include: withOrganization });
  if (user?.iss !== issuer) return undefined; // the hub has another identity provider now
  if (session.is_unused) {
    await client.$executeRaw`UPDATE sessions SET last_used_at = now() WHERE id = ${session.id}::uuid`;
  }
  return principalOf(user, session.id);
}

/** All claims that `userOf` uses. */
const describe = ({ iss, sub, email, email_verified, name }: UserClaims) =>
  JSON.stringify([iss, sub, email, email_verified, name]);

/** The user of a token. Creates the user at the first request, and updates email and name if the claims changed. */
export async function userOf(
  { client }: Pick<Database, 'client'>,
  provider: IdentityProvider,
  claims: UserClaims,
): Promise<UserPrincipal> {
  const { iss, sub } = claims;
  const existing = await client.user.findUnique({ where: { iss_sub: { iss, sub } }, include: withOrganization });
  const contact = { email: claims.email?.toLowerCase() ?? null, email_verified: claims.email_verified ?? false };
  const name = (claims.name ?? '').slice(0, 200);
  const role: UserRole = isSuperadmin(provider, claims) ? 'superadmin' : 'user';
  if (!existing) {
    await client.user.createMany({ data: { iss, sub, ...contact, name, role }, skipDuplicates: true });
    return principalOf(
      await client.user.findUniqueOrThrow({ where: { iss_sub: { iss, sub } }, include: withOrganization }),
    );
  }
  const changes = {
    ...(existing.email !== contact.email || existing.email_verified !== contact.email_verified ? contact : {}),
    ...(!existing.name_set && existing.name !== name && name !== '' ? { name } : {}),
    ...(!existing.role_set && role === 'superadmin' && existing.role !== 'superadmin' ? { role } : {}),
  };
  if (Object.keys(changes).length === 0) return principalOf(existing);
  return principalOf(
    await client.user.update({ where: { id: existing.id }, data: changes, include: withOrganization }),
  );
}

const isSuperadmin = (provider: IdentityProvider, { sub, email, email_verified }: UserClaims) =>
  provider.superadminSubjects.includes(sub) ||
  (email_verified === true && email !== undefined && provider.superadminEmails.includes(email.toLowerCase()));

const withOrganization = { organization: { select: { status: true } } } as const;

type UserRow = User & { readonly organization: Pick<Organization, 'status'> | null };

function principalOf(
  { id, email, role, org_id: orgId, org_role: orgRole, organization }: UserRow,
  sessionId?: string,
): UserPrincipal {
  const belongs = orgId !== null && orgRole !== null && organization !== null;
  const membership = belongs ? { orgId, role: orgRole, status: organization.status } : undefined;
  return { kind: 'user', id, email, role, membership, sessionId };
}
