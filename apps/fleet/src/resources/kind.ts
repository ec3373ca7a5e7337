import { fold, offsetOf, paginationOf, uuid } from '@svc/contract';
import type { LabelRequirement, ResourceQuery } from '@svc/contract/fleet';
import { invalid, type Matches, notFound, requireVersion } from '@svc/http';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';

/** Whether an id from a path is a UUID. No row has another id. */
export const isUuid = (id: string): boolean => uuid.safeParse(id).success;

/** A condition of a resource as its JSON column stores it. `at` is the time of the last transition (RFC 3339). */
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
  readonly table: 'hosts' | 'hosts_and_nodes' | 'clusters' | 'workloads' | 'deployments' | 'volumes' | 'secrets';
  /** The selected columns of a row `r`, in addition to the columns of all kinds. */
  readonly columns: Prisma.Sql;
  /** Validates each row that is read, so that the row type and the query agree. */
  readonly row: z.ZodType<Row>;
}

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

const common = Prisma.sql`r.id, r.name, r.labels, r.version, r.created_at, r.updated_at, r.created_by`;

const columnsOf = ({ columns }: { readonly columns: Prisma.Sql }) => Prisma.sql`${common}, ${columns}`;

/** A page of resources, the newest first. */
export async function listRows<Row extends ResourceRow>(reader: Reader, kind: Kind<Row>, query: ResourceQuery) {
  const from = Prisma.sql`${Prisma.raw(kind.table)} r WHERE ${Prisma.join(conditionsOf(query), ' AND ')}`;
  const page = await reader.$queryRaw<{ id: string | null; total: number }[]>`
    SELECT counted.total, page.* FROM (SELECT count(*)::int AS total FROM ${from}) counted
    LEFT JOIN LATERAL (
      SELECT ${columnsOf(kind)} FROM ${from} ORDER BY r.created_at DESC, r.id
      LIMIT ${query.limit} OFFSET ${offsetOf(query)}
    ) page ON true ORDER BY page.created_at DESC, page.id`;
  const rows = page.filter(({ id }) => id !== null).map((row) => kind.row.parse(row));
  return { rows, pagination: paginationOf(query, page[0]?.total ?? 0) };
}

function conditionsOf({ search, label = [] }: ResourceQuery): Prisma.Sql[] {
  const searched = search === undefined ? [] : [Prisma.sql`position(${fold(search)} in r.name) > 0`];
  return [Prisma.sql`true`, ...searched, ...label.map(hasLabel)];
}

const hasLabel = ({ key, value }: LabelRequirement) =>
  value === undefined
    ? Prisma.sql`r.labels ? ${key}`
    : Prisma.sql`r.labels @> jsonb_build_object(${key}::text, ${value}::text)`;

/** One resource. @throws 404 */
export async function readRow<Row extends ResourceRow>(reader: Reader, kind: Kind<Row>, id: string): Promise<Row> {
  if (!isUuid(id)) throw notFound();
  const [row] = await reader.$queryRaw<unknown[]>`
    SELECT ${columnsOf(kind)} FROM ${Prisma.raw(kind.table)} r WHERE r.id = ${id}::uuid`;
  if (row === undefined) throw notFound();
  return kind.row.parse(row);
}

/** The resources with these ids that exist. */
export async function readRows<Row extends ResourceRow>(
  reader: Reader,
  kind: Kind<Row>,
  ids: readonly string[],
): Promise<Row[]> {
  const rows = await reader.$queryRaw<unknown[]>`
    SELECT ${columnsOf(kind)} FROM ${Prisma.raw(kind.table)} r WHERE r.id = ANY(${ids}::uuid[])`;
  return rows.map((row) => kind.row.parse(row));
}

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
 * Resources cannot be renamed. The current name is accepted, so that a body can be sent back as it was read.
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
