import type { managedOrganization, managedUser, organization, profile } from '@svc/contract/hub';
import type { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';

/** The relations that every caller receives with an organization. */
export const withTier = { subscription: { select: { tier: true } } } satisfies Prisma.OrganizationInclude;

type Row = Prisma.OrganizationGetPayload<{ include: typeof withTier }>;

export const presentOrganization = ({ subscription, ...row }: Row) =>
  // Every organization is created with a subscription.
  ({ ...row, tier: subscription?.tier }) as z.input<typeof organization>;

/** The relations and counts that administrators receive with an organization. */
export const withMembers = {
  ...withTier,
  _count: { select: { users: true, api_keys: true } },
} satisfies Prisma.OrganizationInclude;

export const presentManagedOrganization = ({
  _count,
  ...row
}: Prisma.OrganizationGetPayload<{ include: typeof withMembers }>): z.input<typeof managedOrganization> => ({
  ...row,
  ...presentOrganization(row),
  member_count: _count.users,
  api_key_count: _count.api_keys,
});

/** The relations that are returned with a user. */
export const withOrganization = { organization: { include: withTier } } satisfies Prisma.UserInclude;

type UserRow = Prisma.UserGetPayload<{ include: typeof withOrganization }>;

/**
 * A user, for profiles and for administrators. The reply schema removes the members that the caller
 * must not receive.
 */
export const presentUser = ({
  organization: row,
  ...user
}: UserRow): z.input<typeof managedUser> & z.input<typeof profile> => ({
  ...user,
  organization: row && presentOrganization(row),
});
