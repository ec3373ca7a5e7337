import type { Input } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { by, byNullable, isOneOf, isText, type List } from '../database/lists.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { tokenColumns, tokenStatus } from './mcp-tokens.ts';

/** The list of MCP tokens. */
export const tokenList: List<Input<typeof fleetEndpoints.listTokens>['query']> = {
  table: Prisma.sql`tokens`,
  columns: tokenColumns,
  rules: {
    filters: {
      name: isText(Prisma.sql`r.name`),
      role: isOneOf(Prisma.sql`r.role::text`),
      status: isOneOf(tokenStatus),
      created_by: isText(Prisma.sql`r.created_by`),
    },
    sorts: {
      created_at: by(Prisma.sql`r.created_at`),
      name: by(Prisma.sql`lower(r.name COLLATE "C")`),
      expires_at: byNullable(Prisma.sql`r.expires_at`),
      last_used_at: byNullable(Prisma.sql`r.last_used_at`),
    },
  },
};
