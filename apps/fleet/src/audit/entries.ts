import { type AuditPosition, fleetEndpoints, writeAuditPosition } from '@svc/contract/fleet';
import { type StatementQuery, statementsOf } from '@svc/database';
import type { Row } from '@svc/delivery';
import { commandUser, processMetrics } from '@svc/http';
import { Counter } from 'prom-client';
import type { Database } from '../database/client.ts';
import { type AuditEntry, Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import { THE_FLEET } from '../identity/principal.ts';
import type { Entry } from './recording.ts';

export interface AuditFilters {
  readonly changes?: boolean | undefined;
  readonly token_id?: string | undefined;
  readonly actor?: string | undefined;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  readonly request_id?: string | undefined;
  readonly tool?: string | undefined;
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
  id, at, token_id, user_id, actor, method, path, status, aborted, request_id, source, tool, part, object_name, acknowledged::text[]`;

/** Entries, newest first. */
export const readEntries = ({ client }: Database, { filters, after, limit }: AuditQuery): Promise<AuditEntry[]> =>
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
const readNumbered = (database: Database, filters: AuditFilters, { after, until, limit }: NumberedRange) =>
  select(database, filters, Prisma.sql`seq > 0 AND seq > ${after} AND seq <= ${until} ORDER BY seq LIMIT ${limit}`);

const select = ({ client }: Database, filters: AuditFilters, range: Prisma.Sql) =>
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
  database: Database,
  { filters, after, until, limit }: RecordedQuery,
): Promise<NumberedEntry[]> {
  const { seq, at, id } = after;
  const unnumbered = Prisma.sql`seq = 0 AND (at, id) > (${at}, ${id}::uuid) ORDER BY at, id LIMIT ${limit}`;
  const first = seq > 0n ? [] : await select(database, filters, unnumbered);
  if (first.length === limit) return first;
  return [...first, ...(await readNumbered(database, filters, { after: seq, until, limit: limit - first.length }))];
}

/** Entries as rows of the delivery to another system. */
export const readRows = async (database: Database, range: NumberedRange): Promise<Row[]> =>
  (await readNumbered(database, {}, range)).map((entry) => ({
    position: String(entry.seq),
    at: entry.at,
    data: presentRecorded(entry),
  }));

/** Runs statements about the order of the entries. */
export const auditQueryOf = ({ client }: Database): StatementQuery => statementsOf(client);

/** An entry as it is exported and delivered, with its position. */
export const presentRecorded = (entry: NumberedEntry) =>
  fleetEndpoints.exportAuditEntries.reply.parse({ ...entry, cursor: writeAuditPosition(entry) });

/**
 * Entries of requests that can have changed something, and of sign-ins. An operation of a tool has
 * an entry of its own, so that the one of its request is not needed. The index
 * `audit_entries_changes_idx` has this condition.
 */
const IS_CHANGE = Prisma.sql`(method NOT IN ('GET', 'HEAD', 'OPTIONS') OR path = '/api/v1/auth/oidc/callback')
  AND path NOT IN ('/mcp', '/api/v1/deployments/plan')`;

const isBefore = (after: AuditQuery['after']): Prisma.Sql =>
  after ? Prisma.sql`AND (at, id) < (${after.at}, ${after.id}::uuid)` : Prisma.empty;

function conditionsOf(filters: AuditFilters): Prisma.Sql[] {
  const { changes, token_id, actor, method, path, status, request_id, tool, from, to } = filters;
  const given = (value: unknown, condition: Prisma.Sql) => (value === undefined ? Prisma.empty : condition);
  return [
    changes ? Prisma.sql`AND ${IS_CHANGE}` : Prisma.empty,
    given(token_id, Prisma.sql`AND token_id = ${token_id}::uuid`),
    given(actor, Prisma.sql`AND actor = ${actor}`),
    given(method, Prisma.sql`AND method = ${method}`),
    given(path, Prisma.sql`AND starts_with(path, ${path})`),
    given(status, Prisma.sql`AND status = ${status}`),
    given(request_id, Prisma.sql`AND request_id = ${request_id}`),
    given(tool, Prisma.sql`AND tool = ${tool}`),
    given(from, Prisma.sql`AND at >= ${from}`),
    given(to, Prisma.sql`AND at < ${to}`),
  ];
}

const writes = new Counter({
  name: 'audit_entries_total',
  help: 'Number of audit entries, by the outcome of their write: written or failed',
  labelNames: ['outcome'] as const,
  registers: [processMetrics],
});
// So that the first failure is an increase.
for (const outcome of ['written', 'failed']) writes.inc({ outcome }, 0);

/** Counts entries whose transaction was committed, or that could not be written. */
export const countEntries = (outcome: 'written' | 'failed', count = 1): void => writes.inc({ outcome }, count);

/** Writes entries that are not part of the transaction of a change. */
export interface EntryWriter {
  /** Resolves when the entries are committed. An entry that exists is not written again. */
  write(entries: readonly Entry[]): Promise<void>;
}

const MAX_BATCH = 200;

/**
 * Batches entries: those that arrive during a write are written together by the next statement, in
 * one commit.
 */
export function createEntryWriter({ client }: Database): EntryWriter {
  interface Waiting {
    readonly entry: Entry;
    readonly done: () => void;
    readonly failed: (error: unknown) => void;
  }
  const waiting: Waiting[] = [];
  let writing = false;
  const writeAll = async () => {
    writing = true;
    for (let batch = waiting.splice(0, MAX_BATCH); batch.length > 0; batch = waiting.splice(0, MAX_BATCH)) {
      try {
        await client.auditEntry.createMany({ data: batch.map(({ entry }) => entry), skipDuplicates: true });
        countEntries('written', batch.length);
        for (const { done } of batch) done();
      } catch (error) {
        countEntries('failed', batch.length);
        for (const { failed } of batch) failed(error);
      }
    }
    writing = false;
  };
  return {
    write: async (entries) => {
      const written = entries.map(
        (entry) => new Promise<void>((done, failed) => void waiting.push({ entry, done, failed })),
      );
      if (!writing) void writeAll();
      await Promise.all(written);
    },
  };
}

/** Writes the audit entry of a command that changed something. */
export const writeCommandEntry = (client: Pick<Prisma.TransactionClient, 'auditEntry'>, command: string) =>
  client.auditEntry.create({
    data: { actor: commandUser(), method: 'COMMAND', path: command, status: 200, request_id: '' },
  });

/** What the fleet has done without a request, as if it had made one. */
interface OwnChange {
  readonly path: string;
  /** Identifies what has requested it. */
  readonly requestId: string;
  readonly objectName: string;
}

/** Writes the audit entry of a change that the fleet makes itself. It is counted after the commit. */
export const writeFleetEntry = (
  client: Pick<Prisma.TransactionClient, 'auditEntry'>,
  { path, requestId, objectName }: OwnChange,
) =>
  client.auditEntry.create({
    data: {
      actor: authorOf(THE_FLEET),
      method: 'POST',
      path,
      status: 200,
      request_id: requestId,
      object_name: objectName,
    },
  });
