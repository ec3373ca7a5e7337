import { hashSecretToken, newSecretToken, shownPrefix } from '@svc/auth';
import { name as nameRule } from '@svc/contract';
import { fleetRoles } from '@svc/contract/fleet';
import { z } from 'zod';
import type { Database } from '../database/client.ts';

const MAX_DAYS = 365;

const options = z.strictObject({
  name: nameRule,
  role: z.enum(fleetRoles),
  'expires-in-days': z
    .string()
    .regex(/^\d{1,3}$/)
    .transform(Number)
    .refine((days) => days >= 1 && days <= MAX_DAYS, `must be 1 to ${MAX_DAYS}`)
    .optional(),
});

/** Makes an MCP token. The secret is in this answer and nowhere else. */
export function createToken(given: unknown) {
  const { name, role, 'expires-in-days': days } = options.parse(given);
  return async ({ client }: Database) => {
    const secret = newSecretToken('svcm_');
    const data = {
      name,
      role,
      token_hash: hashSecretToken(secret),
      token_prefix: shownPrefix(secret),
      expires_in_days: days ?? null,
      created_by: 'command-line',
    };
    const { id, token_prefix } = await client.$transaction(async (transaction) => {
      const token = await transaction.token.create({ data });
      // Its end is reckoned by the clock that will judge it: the database's.
      await transaction.$executeRaw`
      UPDATE tokens SET expires_at = now() + make_interval(days => expires_in_days) WHERE id = ${token.id}::uuid`;
      return token;
    });
    return { id, name, role, token_prefix, secret };
  };
}
