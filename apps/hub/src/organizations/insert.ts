import type { tier } from '@svc/contract';
import type { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';
import { withMembers } from './present.ts';

interface NewOrganization {
  readonly name: string;
  readonly slug: string;
  readonly tier: z.output<typeof tier>;
  /** The user who creates it, for the bound of what a user creates; null: an administrator or a command. */
  readonly createdBy: string | null;
}

/** Creates an organization with its subscription. @throws 409 `slug_taken` */
export const insertOrganization = (
  { organization }: Pick<Prisma.TransactionClient, 'organization'>,
  { name, slug, tier, createdBy }: NewOrganization,
) =>
  organization.create({
    data: { name, slug, created_by_user: createdBy, subscription: { create: { tier } } },
    include: withMembers,
  });
