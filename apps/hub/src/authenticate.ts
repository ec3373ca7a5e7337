import { type Claims, createJwtVerifier, hashSecretToken, isJwtShaped, isSecretToken } from '@svc/auth';
import { Problem } from '@svc/http';
import type { JWTVerifyGetKey } from 'jose';
import { createAccessCache, type Dated } from './access-cache.ts';
import type { Database } from './database/client.ts';
import { type Organization, Prisma, type User } from './generated/prisma/client.ts';
import type { OrgStatus, UserRole } from './generated/prisma/enums.ts';
import type { Principal } from './principal.ts';
import type { Revision } from './revision.ts';
import type { Usage } from './usage.ts';

export interface IdentityProvider {
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

interface VerifierOptions {
  readonly database: Database;
  readonly provider: IdentityProvider;
  readonly usage: Usage;
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

/** All claims that `userOf` uses. */
const describe = ({ iss, sub, email, email_verified, name }: Claims) =>
  JSON.stringify([iss, sub, email, email_verified, name]);

/** The user of a token. Creates the user at the first request, and updates email and name if the claims changed. */
async function userOf({ client }: Database, provider: IdentityProvider, claims: Claims): Promise<Principal> {
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

const isSuperadmin = (provider: IdentityProvider, { sub, email, email_verified }: Claims) =>
  provider.superadminSubjects.includes(sub) ||
  (email_verified === true && email !== undefined && provider.superadminEmails.includes(email.toLowerCase()));

const withOrganization = { organization: { select: { status: true } } } as const;

type UserRow = User & { readonly organization: Pick<Organization, 'status'> | null };

function principalOf({ id, email, role, org_id: orgId, org_role: orgRole, organization }: UserRow): Principal {
  const belongs = orgId !== null && orgRole !== null && organization !== null;
  const membership = belongs ? { orgId, role: orgRole, status: organization.status } : undefined;
  return { kind: 'user', id, email, role, membership };
}
