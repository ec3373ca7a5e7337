import { uuid } from '@svc/contract';
import type { DocumentKind } from '@svc/contract/fleet';
import { invalid, type Matches, notFound, requireVersion } from '@svc/http';
import { z } from 'zod';
import { type ListQuery, type ListRules, readListed, readSizedPage } from '../database/lists.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** Whether an id from a path is a UUID. No row has another id. */
export const isUuid = (id: string): boolean => uuid.safeParse(id).success;

/**
 * A condition of a resource as its JSON column stores it. `at` is the time of the last transition
 * (RFC 3339).
 */
export const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string(),
  message: z.string(),
  at: z.string(),
});
export type Condition = z.output<typeof condition>;

/** The representation of conditions in the API. */
export const presentConditions = (conditions: readonly Condition[]) =>
  conditions.map(({ at, ...rest }) => ({ ...rest, at: new Date(at) }));

/** The columns of all kinds of resources. */
export const resourceRow = z.object({
  id: z.string(),
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  version: z.int(),
  created_at: z.date(),
  updated_at: z.date(),
  created_by: z.string(),
});
export type ResourceRow = z.output<typeof resourceRow>;

/** A kind of resource. */
export interface Kind<Row extends ResourceRow> {
  /** The table or view that it is read from. */
  readonly table:
    | 'hosts'
    | 'hosts_and_nodes'
    | 'clusters'
    | 'workloads'
    | 'deployments'
    | 'applications'
    | 'volumes'
    | 'secrets';
  /** The selected columns of a row `r`, in addition to the columns of all kinds. */
  readonly columns: Prisma.Sql;
  /** Joins that the columns need. They add and remove no rows. */
  readonly joins?: Prisma.Sql;
  /** The bytes of a row `r` that its columns read, if a row can be large. */
  readonly bytes?: Prisma.Sql;
  /** The bytes that a response contains of them. Default: all. */
  readonly shownBytes?: Prisma.Sql;
  /** Validates each row that is read, so that the row type and the query agree. */
  readonly row: z.ZodType<Row>;
}

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

const common = Prisma.sql`r.id, r.name, r.labels, r.version, r.created_at, r.updated_at, r.created_by`;

const columnsOf = ({ columns }: { readonly columns: Prisma.Sql }) => Prisma.sql`${common}, ${columns}`;

const listedOf = <Row extends ResourceRow>(kind: Kind<Row>) => ({
  table: Prisma.raw(kind.table),
  joins: kind.joins,
  columns: columnsOf(kind),
  bytes: kind.bytes,
  shownBytes: kind.shownBytes,
});

/** A page of resources. Those of a large page are not read yet. */
export async function listRows<Row extends ResourceRow, Q extends ListQuery>(
  reader: Reader,
  kind: Kind<Row>,
  rules: ListRules<Q>,
  query: Q,
) {
  const { sizes, rows, pagination } = await readSizedPage(reader, { ...listedOf(kind), rules }, query);
  return { sizes, rows: rows?.map((row) => kind.row.parse(row)), pagination };
}

/** One resource. @throws 404 */
export async function readRow<Row extends ResourceRow>(reader: Reader, kind: Kind<Row>, id: string): Promise<Row> {
  if (!isUuid(id)) throw notFound();
  const [row] = await reader.$queryRaw<unknown[]>`
    SELECT ${columnsOf(kind)} FROM ${Prisma.raw(kind.table)} r ${kind.joins ?? Prisma.empty} WHERE r.id = ${id}::uuid`;
  if (row === undefined) throw notFound();
  return kind.row.parse(row);
}

/** The resources with these ids that exist. */
export const readRows = async <Row extends ResourceRow>(
  reader: Reader,
  kind: Kind<Row>,
  ids: readonly string[],
): Promise<Row[]> => (await readListed(reader, listedOf(kind), ids)).map((row) => kind.row.parse(row));

interface LockRequest {
  readonly id: string;
  readonly ifMatch: () => Matches;
}

/** Locks a resource for a change. @throws 404; 412 if `If-Match` names another version */
export async function lockRow<Row extends ResourceRow>(
  transaction: Prisma.TransactionClient,
  kind: Kind<Row>,
  { id, ifMatch }: LockRequest,
): Promise<Row> {
  const matches = ifMatch();
  if (!isUuid(id)) throw notFound();
  await transaction.$queryRaw`SELECT FROM ${Prisma.raw(kind.table)} WHERE id = ${id}::uuid FOR UPDATE`;
  const row = await readRow(transaction, kind, id);
  requireVersion(matches, row.version);
  return row;
}

/**
 * Resources cannot be renamed. The current name is accepted, so that a body can be sent back as it
 * was read.
 * @throws 400
 */
export function refuseRename({ name }: { readonly name?: string | undefined }, row: ResourceRow): void {
  if (name === undefined || name === row.name) return;
  throw invalid([{ path: 'name', message: 'cannot be changed: create another resource' }]);
}

/** The columns that every change of a row sets. */
export const nextVersion = () => ({ version: { increment: 1 }, updated_at: new Date() });

/** The members that all resources have in the API. */
export const presentCommon = ({ id, name, labels, version, created_at, updated_at, created_by }: ResourceRow) => ({
  id,
  name,
  labels,
  version,
  created_at,
  updated_at,
  created_by,
});

/** The set that manages an object, and the place of its document; null: none. */
export const managedBy = z.object({ set: z.string(), file: z.string(), line: z.int() }).nullable();

/** The same of a row `r`, as SQL. */
export const managedByOf = (kind: DocumentKind): Prisma.Sql => Prisma.sql`
  (SELECT jsonb_build_object('set', s.set_name, 'file', s.file, 'line', s.line) FROM set_objects s
   WHERE s.kind = ${Prisma.raw(`'${kind}'`)} AND s.object_id = r.id)`;
