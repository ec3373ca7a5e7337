import { type Claims, createJwtVerifier, hashSecretToken, isJwtShaped, isSecretToken } from '@svc/auth';
import { Problem } from '@svc/http';
import type { JWTVerifyGetKey } from 'jose';
import type { Database } from './database/client.ts';
import type { Organization, User } from './generated/prisma/client.ts';
import type { OrgStatus, UserRole } from './generated/prisma/enums.ts';
import type { Principal } from './principal.ts';

export interface IdentityProvider {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: JWTVerifyGetKey;
  readonly superadminEmails: readonly string[];
  readonly superadminSubjects: readonly string[];
}

/** Creates the function that resolves a bearer token to its principal, or to undefined if the token is not valid. */
export function createVerifier(database: Database, provider: IdentityProvider) {
  const verifyJwt = createJwtVerifier(provider);
  return async (token: string): Promise<Principal | undefined> => {
    if (token.startsWith('svcc_')) return isSecretToken('svcc_', token) ? verifyKey(database, token) : undefined;
    if (!isJwtShaped(token)) return undefined;
    const claims = await verifyJwt(token);
    return claims && userOf(database, provider, claims);
  };
}

interface KeyRow {
  readonly key_id: string;
  readonly recently_used: boolean;
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly status: OrgStatus;
  readonly tier: string;
}

async function verifyKey({ client }: Database, token: string): Promise<Principal | undefined> {
  const [row] = await client.$queryRaw<KeyRow[]>`
      SELECT k.id AS key_id, coalesce(k.last_used_at > now() - interval '1 second', false) AS recently_used,
             o.id, o.name, o.slug, o.status::text AS status, s.tier
      FROM api_keys k
      JOIN organizations o ON o.id = k.org_id
      JOIN subscriptions s ON s.org_id = o.id
      WHERE k.key_hash = ${hashSecretToken(token)}
        AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`;
  if (!row) return undefined;
  if (!row.recently_used) {
    await client.$executeRaw`UPDATE api_keys SET last_used_at = now() WHERE id = ${row.key_id}::uuid`;
  }
  if (row.status === 'suspended')
    throw new Problem('organization_suspended', 'The organization of this key is suspended.');
  const { key_id: keyId, recently_used: _, ...organization } = row;
  return { kind: 'organization', keyId, organization };
}

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
