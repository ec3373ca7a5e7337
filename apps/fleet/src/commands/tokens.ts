import { newSecretToken } from '@svc/auth';
import { name as nameRule } from '@svc/contract';
import { approvalLevels, fleetRoles } from '@svc/contract/fleet';
import { parseOptions } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { writeCommandEntry } from '../audit/entries.ts';
import type { Database } from '../database/client.ts';
import { insertToken } from '../identity/mcp-tokens.ts';

const MAX_DAYS = 365;

const options = z.strictObject({
  name: nameRule,
  role: z.enum(fleetRoles),
  'expires-in-days': z
    .string()
    .regex(/^\d{1,3}$/, `must be an integer from 1 to ${MAX_DAYS}`)
    .transform(Number)
    .refine((days) => days >= 1 && days <= MAX_DAYS, `must be an integer from 1 to ${MAX_DAYS}`)
    .optional(),
  approval: z.enum(approvalLevels).default('none'),
});

/**
 * Creates an MCP token. Only this result contains its secret. @throws ZodError for invalid options
 */
export function createToken(given: unknown) {
  const { name, role, approval, 'expires-in-days': days = null } = parseOptions(options, given);
  return ({ client }: Database) =>
    client.$transaction(async (transaction) => {
      const secret = newSecretToken('svcm_');
      const maker = { created_by: 'command-line', created_by_user: null, created_by_token: null };
      const token = { id: uuidv7(), name, role, expires_in_days: days, approval, ...maker };
      const row = await insertToken(transaction, secret, token);
      await writeCommandEntry(transaction, 'create-token');
      return { id: row.id, name, role, token_prefix: row.token_prefix, secret };
    });
}
