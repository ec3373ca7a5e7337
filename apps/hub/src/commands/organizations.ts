import { name as nameRule, slug as slugRule, tier as tierRule } from '@svc/contract';
import { parseOptions } from '@svc/http';
import { z } from 'zod';
import { writeCommandEntries } from '../audit/entry.ts';
import type { Database } from '../database/client.ts';
import { insertOrganization } from '../organizations/insert.ts';
import { insertKey } from '../organizations/keys.ts';
import { presentOrganization, withTier } from '../organizations/present.ts';

const organizationOptions = z.strictObject({ name: nameRule, slug: slugRule, tier: tierRule.optional() });
const keyOptions = z.strictObject({ organization: z.string(), name: nameRule });

/**
 * Creates an organization with its subscription. An organization that already has the slug is left
 * unchanged. It must have the given tier, if one is given; the default of a new one is free.
 */
export function createOrganization(options: unknown) {
  const { name, slug, tier } = parseOptions(organizationOptions, options);
  return async ({ client }: Database) => {
    const existing = await client.organization.findUnique({ where: { slug }, include: withTier });
    if (existing) {
      const { id, tier: existingTier } = presentOrganization(existing);
      if (tier !== undefined && tier !== existingTier)
        throw new Error(
          `The organization ${slug} exists with the tier ${existingTier}, not ${tier}, and was not changed. An administrator can change its tier.`,
        );
      return { id, slug, tier: existingTier, created: false };
    }
    return client.$transaction(async (transaction) => {
      const created = { name, slug, tier: tier ?? 'free', createdBy: null } as const;
      const { id } = await insertOrganization(transaction, created);
      await writeCommandEntries(transaction, 'create-organization', [id], { orgId: id });
      return { id, slug, tier: created.tier, created: true };
    });
  };
}

/** Creates an API key for an organization. The secret is returned only here; it is not stored. */
export function createApiKey(options: unknown) {
  const { organization: slug, name } = parseOptions(keyOptions, options);
  return async (database: Database) => {
    const organization = await database.client.organization.findUnique({ where: { slug } });
    if (!organization) throw new Error(`No organization has the slug ${slug}.`);
    const { id: orgId } = organization;
    return database.client.$transaction(async (transaction) => {
      const { id, key, key_prefix } = await insertKey(transaction, { orgId, name, days: null, ownerId: null });
      await writeCommandEntries(transaction, 'create-api-key', [id], { orgId });
      return { id, name, key, key_prefix };
    });
  };
}
