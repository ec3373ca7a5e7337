import { z } from 'zod';
import { timestamp } from './timestamp.ts';
import { name } from './wire.ts';

/** A catalog API key as it is listed: never with its secret. */
export const apiKey = z
  .object({
    id: z.string().meta({ description: 'Stays the same when the key is re-issued' }),
    name: z.string(),
    key_prefix: z.string().meta({ description: 'The leading characters of the key, by which a person recognises it' }),
    status: z.enum(['active', 'expired', 'revoked']),
    created_at: timestamp,
    last_used_at: timestamp.nullable().meta({ description: 'A second more or less' }),
    expires_at: timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' });

/** A key just made: the only answers that hold its secret. */
export const issuedApiKey = apiKey
  .extend({ key: z.string().meta({ description: 'The whole secret: it is shown here and never again' }) })
  .meta({ id: 'IssuedApiKey' });

/** A key as administrators see it. */
export const managedApiKey = apiKey.extend({ org_id: z.string(), org_slug: z.string() }).meta({ id: 'ManagedApiKey' });

const MAX_DAYS = 3650;

export const newApiKey = z.strictObject({
  name,
  expires_in_days: z
    .int()
    .min(1)
    .max(MAX_DAYS)
    .nullable()
    .default(null)
    .meta({ description: 'Without it the key does not expire. A re-issue begins the same lifetime anew' }),
});
