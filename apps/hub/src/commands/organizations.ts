import { name as nameRule, slug as slugRule, tier as tierRule } from '@svc/contract';
import { z } from 'zod';
import { insertKey } from '../account/keys.ts';
import type { Database } from '../database/client.ts';
import { translated } from '../database/constraints.ts';

const organizationOptions = z.strictObject({ name: nameRule, slug: slugRule, tier: tierRule.default('free') });
const keyOptions = z.strictObject({ organization: z.string(), name: nameRule });

/** Makes an organization with its subscription; the one that has the slug already is left as it is. */
export function createOrganization(options: unknown) {
  const { name, slug, tier } = organizationOptions.parse(options);
  return ({ client }: Database) =>
    translated(async () => {
      const present = await client.organization.findUnique({ where: { slug } });
      const { id } =
        present ?? (await client.organization.create({ data: { name, slug, subscription: { create: { tier } } } }));
      return { id, slug, created: !present };
    });
}

/** Makes an API key for an organization. The secret is in this answer and nowhere else. */
export function createApiKey(options: unknown) {
  const { organization: slug, name } = keyOptions.parse(options);
  return (database: Database) =>
    translated(async () => {
      const organization = await database.client.organization.findUnique({ where: { slug } });
      if (!organization) throw new Error(`No organization has the slug ${slug}.`);
      const { id, key, key_prefix } = await insertKey(database, { orgId: organization.id, name, days: null });
      return { id, name, key, key_prefix };
    });
}
