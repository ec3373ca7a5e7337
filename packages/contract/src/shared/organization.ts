import { z } from 'zod';
import { timestamp } from './timestamp.ts';
import { id, ignored, name, objectVersion, slug, uuid } from './wire.ts';

/** Tiers of an organization, the lowest first. */
export const tiers = ['free', 'pro', 'enterprise'] as const;
export const tier = z.enum(tiers);

const statuses = ['active', 'suspended'] as const;
export const organizationStatus = z.enum(statuses);
export const orgRole = z.enum(['org_admin', 'member']);
export const userRole = z.enum(['user', 'admin', 'superadmin']);

/** An organization, as its members and its API keys see it. */
export const organization = z
  .object({
    id,
    name: z.string(),
    slug: z.string(),
    tier: z.string().meta({ description: `One of the tiers, in ascending order: ${tiers.join(', ')}` }),
    status: z.string().meta({ description: `One of: ${statuses.join(', ')}` }),
  })
  .meta({ id: 'Organization' });

/** An organization, as administrators see it. */
export const managedOrganization = organization
  .extend({
    member_count: z.int(),
    api_key_count: z.int(),
    version: objectVersion,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ManagedOrganization' });

export const newOrganization = z.strictObject({ name, slug: slug.optional() });

/** A new organization of an administrator. */
export const newManagedOrganization = newOrganization.extend({ tier: tier.default('free') });

/** A change of an organization by an administrator. Read-only members are accepted and ignored. */
export const organizationChange = z.strictObject({
  id: uuid.optional(),
  status: organizationStatus.optional(),
  tier: tier.optional(),
  ...ignored('name', 'slug', 'member_count', 'api_key_count', 'version', 'created_at', 'updated_at'),
});

/** A user, in the user's own profile. */
export const profile = z
  .object({
    id,
    email: z.string().nullable(),
    name: z.string(),
    role: userRole,
    org_role: orgRole.nullable(),
    organization: organization.nullable(),
  })
  .meta({ id: 'Profile' });

/** A change of the own profile. Only `name` changes; the other members are accepted and ignored. */
export const profileChange = z.strictObject({
  name: name.optional(),
  ...ignored('id', 'email', 'role', 'org_role', 'organization'),
});

/** A user, as administrators see it. */
export const managedUser = profile
  .extend({
    iss: z.string().meta({ description: 'The issuer: URL of the identity provider' }),
    sub: z.string().meta({ description: 'The subject: id of the user at the identity provider' }),
    email_verified: z.boolean(),
    org_id: id.nullable(),
    blocked_at: timestamp
      .nullable()
      .meta({ description: 'Since when the user is blocked; null: the user is not blocked' }),
    version: objectVersion,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ManagedUser' });

/** A change of a user by an administrator: role, organization, and whether the user is blocked. */
export const userChange = z.strictObject({
  id: uuid.optional(),
  role: userRole.optional(),
  org_id: uuid.nullable().optional().meta({ description: 'null: no organization' }),
  org_role: orgRole.optional().meta({ description: 'Default for a user who joins an organization: member' }),
  blocked: z.boolean().optional().meta({
    description: 'A blocked user can neither sign in nor use a token. Blocking ends the sessions of the user',
  }),
  ...ignored('iss', 'sub', 'email', 'email_verified', 'name', 'organization', 'blocked_at', 'version'),
  ...ignored('created_at', 'updated_at'),
});
