import { hubEndpoints, writeAuditCursor } from '@svc/contract/hub';
import { type AuditEntry, Prisma } from '../../generated/prisma/client.ts';
import { route } from '../context.ts';

export const listAuditEntries = route(hubEndpoints.listAuditEntries, ({ database: { client } }, { query }) =>
  readAuditEntries(client, query),
);

/** Reads a page of the audit log, of one organization or of all. */
export async function readAuditEntries(
  client: Pick<Prisma.TransactionClient, '$queryRaw'>,
  { limit, ...filters }: Filters & { readonly limit: number },
) {
  const rows = await client.$queryRaw<AuditEntry[]>`
    SELECT id, at, user_id, token_id, email, method, path, status, request_id, object_id, source FROM audit_entries
    WHERE true ${Prisma.join(conditionsOf(filters), ' ')}
    ORDER BY at DESC, id DESC LIMIT ${limit + 1}`;
  const entries = rows.slice(0, limit);
  const last = rows.length > limit ? entries.at(-1) : undefined;
  return { entries, next_cursor: last ? writeAuditCursor(last) : null };
}

interface Filters {
  readonly user_id?: string | undefined;
  readonly token_id?: string | undefined;
  readonly email?: string | undefined;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  readonly object_id?: string | undefined;
  readonly org_id?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly cursor?: { readonly at: Date; readonly id: string } | undefined;
}

function conditionsOf({
  user_id,
  token_id,
  email,
  method,
  path,
  status,
  object_id,
  org_id,
  from,
  to,
  cursor,
}: Filters): Prisma.Sql[] {
  const given = (value: unknown, condition: Prisma.Sql) => (value === undefined ? Prisma.empty : condition);
  return [
    given(user_id, Prisma.sql`AND user_id = ${user_id}::uuid`),
    given(token_id, Prisma.sql`AND token_id = ${token_id}::uuid`),
    given(email, Prisma.sql`AND email = ${email}`),
    given(method, Prisma.sql`AND method = ${method}`),
    given(path, Prisma.sql`AND starts_with(path, ${path})`),
    given(status, Prisma.sql`AND status = ${status}`),
    given(object_id, Prisma.sql`AND object_id = ${object_id}::uuid`),
    given(org_id, Prisma.sql`AND org_id = ${org_id}::uuid`),
    given(from, Prisma.sql`AND at >= ${from}`),
    given(to, Prisma.sql`AND at < ${to}`),
    cursor ? Prisma.sql`AND (at, id) < (${cursor.at}, ${cursor.id}::uuid)` : Prisma.empty,
  ];
}
