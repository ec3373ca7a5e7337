import type { Database } from '../database/client.ts';
import { type AuditEntry, Prisma } from '../generated/prisma/client.ts';

export interface AuditFilters {
  readonly token_id?: string | undefined;
  readonly actor?: string | undefined;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

interface Wanted {
  readonly filters: AuditFilters;
  /** The entry before the first one that is wanted. */
  readonly after: { readonly at: Date; readonly id: string } | undefined;
  readonly limit: number;
}

/** Entries, newest first. */
export const readEntries = ({ client }: Database, { filters, after, limit }: Wanted): Promise<AuditEntry[]> =>
  client.$queryRaw<AuditEntry[]>`
    SELECT id, at, token_id, user_id, actor, method, path, status, aborted, request_id FROM audit_entries
    WHERE true ${Prisma.join(conditions(filters, after), ' ')}
    ORDER BY at DESC, id DESC LIMIT ${limit}`;

function conditions(filters: AuditFilters, after: Wanted['after']): Prisma.Sql[] {
  const { token_id, actor, method, path, status, from, to } = filters;
  const given = (value: unknown, condition: Prisma.Sql) => (value === undefined ? Prisma.empty : condition);
  return [
    given(token_id, Prisma.sql`AND token_id = ${token_id}::uuid`),
    given(actor, Prisma.sql`AND actor = ${actor}`),
    given(method, Prisma.sql`AND method = ${method}`),
    given(path, Prisma.sql`AND starts_with(path, ${path})`),
    given(status, Prisma.sql`AND status = ${status}`),
    given(from, Prisma.sql`AND at >= ${from}`),
    given(to, Prisma.sql`AND at < ${to}`),
    after ? Prisma.sql`AND (at, id) < (${after.at}, ${after.id}::uuid)` : Prisma.empty,
  ];
}
