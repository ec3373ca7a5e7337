import { z } from 'zod';
import { timestamp } from '../shared/timestamp.ts';
import { id, ignored, name, objectVersion, uuid } from '../shared/wire.ts';

export const apiKeyStatus = z.enum(['active', 'expired', 'revoked']);

/** An API key in lists and details, without its secret. */
export const apiKey = z
  .object({
    id: id.meta({ description: 'The id does not change when the key is reissued' }),
    name: z.string(),
    key_prefix: z.string().meta({ description: 'The first characters of the key, to identify it' }),
    status: apiKeyStatus,
    created_at: timestamp,
    last_used_at: timestamp.nullable().meta({ description: 'Accurate to about one second' }),
    expires_at: timestamp.nullable(),
    owner: z
      .object({ id, email: z.string().nullable(), name: z.string() })
      .nullable()
      .meta({ description: 'The org_admin who created the key; null: the organization owns it' }),
  })
  .meta({ id: 'ApiKey' });

/** A new or reissued key. Only these responses contain the secret. */
export const issuedApiKey = apiKey
  .extend({ key: z.string().meta({ description: 'The secret. It is shown only in this response' }) })
  .meta({ id: 'IssuedApiKey' });

/** An API key as administrators see it. */
export const managedApiKey = apiKey
  .extend({ org_id: id, org_slug: z.string(), version: objectVersion })
  .meta({ id: 'ManagedApiKey' });

/** A new key as administrators see it. */
export const issuedManagedApiKey = managedApiKey
  .extend({ key: issuedApiKey.shape.key })
  .meta({ id: 'IssuedManagedApiKey' });

/**
 * The maximum number of keys of an organization that are not revoked. Expired keys count, because
 * they can be reissued.
 */
export const MAX_KEYS = 100;

const MAX_DAYS = 3650;

/** A change of an API key by its organization. */
export const apiKeyChange = z.strictObject({
  name,
  ...ignored('id', 'key_prefix', 'status', 'created_at', 'last_used_at', 'expires_at', 'owner'),
});

/** What happens to the keys of a member who is no longer an org_admin. */
export const keysOfMember = z.enum(['revoke', 'keep'], 'must be revoke or keep').default('revoke').meta({
  description:
    'What happens to the keys of a member who is no longer an org_admin: `revoke`, or `keep`, by which the caller becomes their owner (an administrator: the organization)',
});

/** A change of an API key by an administrator. `id` can be in the query instead. */
export const managedApiKeyChange = z.strictObject({
  ...apiKeyChange.shape,
  id: uuid.optional(),
  ...ignored('org_id', 'org_slug', 'version'),
});

export const newApiKey = z.strictObject({
  name,
  expires_in_days: z.int().min(1).max(MAX_DAYS).nullable().default(null).meta({
    description: 'Lifetime of the key; null: the key does not expire. Reissuing the key starts the same lifetime again',
  }),
});

/** A new key of an administrator. The organization owns it. */
export const newManagedApiKey = newApiKey.extend({ org_id: uuid });
