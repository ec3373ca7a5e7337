import { type AuditPosition, hubEndpoints, writeAuditPosition } from '@svc/contract/hub';
import { type StatementQuery, statementsOf } from '@svc/database';
import type { Row } from '@svc/delivery';
import type { Database } from '../database/client.ts';
import { type AuditEntry, Prisma } from '../generated/prisma/client.ts';

export interface AuditFilters {
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
}

interface AuditQuery {
  readonly filters: AuditFilters;
  /** The position of the entry before the first one of the result. */
  readonly after: { readonly at: Date; readonly id: string } | undefined;
  readonly limit: number;
}

const columns = Prisma.sql`
  id, at, user_id, token_id, email, method, path, status, request_id, object_id, source`;

/** Entries, newest first. */
export const readEntries = ({ client }: Pick<Database, 'client'>, { filters, after, limit }: AuditQuery) =>
  client.$queryRaw<AuditEntry[]>`
    SELECT ${columns} FROM audit_entries
    WHERE true ${Prisma.join([...conditionsOf(filters), isBefore(after)], ' ')}
    ORDER BY at DESC, id DESC LIMIT ${limit}`;

/** An entry with its number in the order in which entries were recorded. */
type NumberedEntry = AuditEntry & AuditPosition;

/** Entries with numbers after `after`, up to `until`: at most `limit`. */
interface NumberedRange {
  readonly after: bigint;
  readonly until: bigint;
  readonly limit: number;
}

/** Entries in the order in which they were recorded, without those of versions without numbers. */
const readNumbered = (
  database: Pick<Database, 'client'>,
  filters: AuditFilters,
  { after, until, limit }: NumberedRange,
) => select(database, filters, Prisma.sql`seq > 0 AND seq > ${after} AND seq <= ${until} ORDER BY seq LIMIT ${limit}`);

const select = ({ client }: Pick<Database, 'client'>, filters: AuditFilters, range: Prisma.Sql) =>
  client.$queryRaw<NumberedEntry[]>`
    SELECT seq, ${columns} FROM audit_entries WHERE true ${Prisma.join(conditionsOf(filters), ' ')} AND ${range}`;

interface RecordedQuery {
  readonly filters: AuditFilters;
  readonly after: AuditPosition;
  /** The number of the last entry. */
  readonly until: bigint;
  readonly limit: number;
}

/** All entries in the order in which they were recorded: those of versions without numbers come first. */
export async function readRecorded(
  database: Pick<Database, 'client'>,
  { filters, after, until, limit }: RecordedQuery,
): Promise<NumberedEntry[]> {
  const { seq, at, id } = after;
  const unnumbered = Prisma.sql`seq = 0 AND (at, id) > (${at}, ${id}::uuid) ORDER BY at, id LIMIT ${limit}`;
  const first = seq > 0n ? [] : await select(database, filters, unnumbered);
  if (first.length === limit) return first;
  return [...first, ...(await readNumbered(database, filters, { after: seq, until, limit: limit - first.length }))];
}

/** Entries as rows of the delivery to another system. */
export const readRows = async (database: Pick<Database, 'client'>, range: NumberedRange): Promise<Row[]> =>
  (await readNumbered(database, {}, range)).map((entry) => ({
    position: String(entry.seq),
    at: entry.at,
    data: presentRecorded(entry),
  }));

/** Runs statements about the order of the entries. */
export const auditQueryOf = ({ client }: Pick<Database, 'client'>): StatementQuery => statementsOf(client);

/** An entry as it is exported and delivered, with its position. */
export const presentRecorded = (entry: NumberedEntry) =>
  hubEndpoints.exportAuditEntries.reply.parse({ ...entry, cursor: writeAuditPosition(entry) });

const isBefore = (after: AuditQuery['after']): Prisma.Sql =>
  after ? Prisma.sql`AND (at, id) < (${after.at}, ${after.id}::uuid)` : Prisma.empty;

function conditionsOf(filters: AuditFilters): Prisma.Sql[] {
  const { user_id, token_id, email, method, path, status, object_id, org_id, from, to } = filters;
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
  ];
}
