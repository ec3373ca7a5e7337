import { name as nameRule, slug as slugRule, tier as tierRule } from '@svc/contract';
import { parseOptions } from '@svc/http';
import { z } from 'zod';
import { writeCommandEntry } from '../audit/entry.ts';
import type { Database } from '../database/client.ts';
import { insertOrganization } from '../organizations/insert.ts';
import { insertKey } from '../organizations/keys.ts';

const organizationOptions = z.strictObject({ name: nameRule, slug: slugRule, tier: tierRule.default('free') });
const keyOptions = z.strictObject({ organization: z.string(), name: nameRule });

/**
 * Creates an organization with its subscription. An organization that already has the slug is left
 * unchanged.
 */
export function createOrganization(options: unknown) {
  const { name, slug, tier } = parseOptions(organizationOptions, options);
  return async ({ client }: Database) => {
    const existing = await client.organization.findUnique({ where: { slug } });
    if (existing) return { id: existing.id, slug, created: false };
    return client.$transaction(async (transaction) => {
      const { id } = await insertOrganization(transaction, { name, slug, tier, createdBy: null });
      await writeCommandEntry(transaction, 'create-organization', { objectId: id, orgId: id });
      return { id, slug, created: true };
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
      await writeCommandEntry(transaction, 'create-api-key', { objectId: id, orgId });
      return { id, name, key, key_prefix };
    });
  };
}
