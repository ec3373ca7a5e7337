import { z } from 'zod';
import { tier, tiers } from './template-fields.ts';
import { timestamp } from './timestamp.ts';
import { ignored, name, slug, uuid } from './wire.ts';

const organizationStatus = z.enum(['active', 'suspended']);
const orgRole = z.enum(['org_admin', 'member']);
const userRole = z.enum(['user', 'admin', 'superadmin']);

/** An organization as its members and its key see it. */
export const organization = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    tier: z.string().meta({ description: `One of the tiers, which are ordered: ${tiers.join(', ')}` }),
    status: organizationStatus,
  })
  .meta({ id: 'Organization' });

/** An organization as administrators see it. */
export const managedOrganization = organization
  .extend({ member_count: z.int(), api_key_count: z.int(), created_at: timestamp, updated_at: timestamp })
  .meta({ id: 'ManagedOrganization' });

export const newOrganization = z.strictObject({ name, slug });

/** What an administrator changes of an organization; the rest is accepted as read and ignored. */
export const organizationChange = z.strictObject({
  id: uuid.optional(),
  status: organizationStatus.optional(),
  tier: tier.optional(),
  ...ignored('name', 'slug', 'member_count', 'api_key_count', 'created_at', 'updated_at'),
});

/** A user as they see themself. */
export const profile = z
  .object({
    id: z.string(),
    email: z.string().nullable(),
    name: z.string(),
    role: userRole,
    org_role: orgRole.nullable(),
    organization: organization.nullable(),
  })
  .meta({ id: 'Profile' });

/** The profile as it is sent back: `name` changes, the rest is ignored. */
export const profileChange = z.strictObject({
  name: name.optional(),
  ...ignored('id', 'email', 'role', 'org_role', 'organization'),
});

/** A user as administrators see them. */
export const managedUser = profile
  .extend({
    iss: z.string().meta({ description: 'The identity provider' }),
    sub: z.string().meta({ description: 'Who they are there' }),
    email_verified: z.boolean(),
    org_id: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ManagedUser' });

/** What an administrator changes of a user: the role, and the organization. */
export const userChange = z.strictObject({
  id: uuid.optional(),
  role: userRole.optional(),
  org_id: uuid.nullable().optional().meta({ description: 'null: belongs to no organization' }),
  org_role: orgRole.optional().meta({ description: 'Default for somebody who joins: member' }),
  ...ignored('iss', 'sub', 'email', 'email_verified', 'name', 'organization', 'created_at', 'updated_at'),
});
