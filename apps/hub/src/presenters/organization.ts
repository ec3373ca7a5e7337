import type { managedOrganization, managedUser, organization, profile } from '@svc/contract/hub';
import type { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';

/** What everybody who may see an organization reads of it. */
export const withTier = { subscription: { select: { tier: true } } } satisfies Prisma.OrganizationInclude;

type Row = Prisma.OrganizationGetPayload<{ include: typeof withTier }>;

export const presentOrganization = ({ subscription, ...row }: Row) =>
  ({ ...row, tier: subscription?.tier }) as z.input<typeof organization>; // every organization is made with a subscription

/** What administrators read of it. */
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

/** What is read with a user. */
export const withOrganization = { organization: { include: withTier } } satisfies Prisma.UserInclude;

type UserRow = Prisma.UserGetPayload<{ include: typeof withOrganization }>;

/** A user, for themself and for administrators alike; the reply schema keeps what each of them sees. */
export const presentUser = ({
  organization: row,
  ...user
}: UserRow): z.input<typeof managedUser> & z.input<typeof profile> => ({
  ...user,
  organization: row && presentOrganization(row),
});
