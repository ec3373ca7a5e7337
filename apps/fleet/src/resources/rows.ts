import { fold, paginationOf } from '@svc/contract';
import type { LabelWish, ResourceQuery } from '@svc/contract/fleet';
import { invalid, type Matches, notFound, Problem } from '@svc/http';
import { Prisma } from '../generated/prisma/client.ts';
import { isUuid } from '../identified.ts';

/** A kind of resource: its table, and what is read of a row `r` of it, beside what all resources have. */
export interface Kind {
  readonly table: 'hosts' | 'machines' | 'clusters' | 'workloads' | 'deployments' | 'volumes' | 'secrets';
  readonly columns: Prisma.Sql;
}

/** What a row of every kind has. */
export interface ResourceRow {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly created_by: string;
}

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

const common = Prisma.sql`r.id, r.name, r.labels, r.version, r.created_at, r.updated_at, r.created_by`;

const columnsOf = ({ columns }: Kind) => Prisma.sql`${common}, ${columns}`;

/** A page of resources, the newest first. */
export async function listRows<Row extends ResourceRow>(reader: Reader, kind: Kind, query: ResourceQuery) {
  const from = Prisma.sql`${Prisma.raw(kind.table)} r WHERE ${Prisma.join(conditionsOf(query), ' AND ')}`;
  const rows = await reader.$queryRaw<(Partial<Row> & { total: number })[]>`
    SELECT counted.total, page.* FROM (SELECT count(*)::int AS total FROM ${from}) counted
    LEFT JOIN LATERAL (
      SELECT ${columnsOf(kind)} FROM ${from} ORDER BY r.created_at DESC, r.id
      LIMIT ${query.limit} OFFSET ${(query.page - 1) * query.limit}
    ) page ON true ORDER BY page.created_at DESC, page.id`;
  const found = rows.filter((row): row is Row & { total: number } => row.id != null);
  return { rows: found as readonly Row[], pagination: paginationOf(query, rows[0]?.total ?? 0) };
}

function conditionsOf({ search, label = [] }: ResourceQuery): Prisma.Sql[] {
  const searched = search === undefined ? [] : [Prisma.sql`position(${fold(search)} in r.name) > 0`];
  return [Prisma.sql`true`, ...searched, ...label.map(hasLabel)];
}

const hasLabel = ({ key, value }: LabelWish) =>
  value === undefined
    ? Prisma.sql`r.labels ? ${key}`
    : Prisma.sql`r.labels @> jsonb_build_object(${key}::text, ${value}::text)`;

/** One resource. @throws 404 */
export async function readRow<Row extends ResourceRow>(reader: Reader, kind: Kind, id: string): Promise<Row> {
  const [row] = isUuid(id)
    ? await reader.$queryRaw<Row[]>`
        SELECT ${columnsOf(kind)} FROM ${Prisma.raw(kind.table)} r WHERE r.id = ${id}::uuid`
    : [];
  if (!row) throw notFound();
  return row;
}

interface Wanted {
  readonly id: string;
  readonly seen: () => Matches;
}

/** Locks a resource that is to be changed. @throws 404; 412 where the caller has seen another version */
export async function holdRow<Row extends ResourceRow>(
  transaction: Prisma.TransactionClient,
  kind: Kind,
  { id, seen }: Wanted,
): Promise<Row> {
  const matches = seen();
  if (!isUuid(id)) throw notFound();
  await transaction.$queryRaw`SELECT FROM ${Prisma.raw(kind.table)} WHERE id = ${id}::uuid FOR UPDATE`;
  const row = await readRow<Row>(transaction, kind, id);
  if (matches(row.version)) return row;
  throw new Problem('version_conflict', `It is at version ${row.version} by now: read it again, then change that.`);
}

/** A resource keeps its name; sent back as it was read it is no change. @throws 400 */
export function refuseRename({ name }: { readonly name?: string | undefined }, row: ResourceRow): void {
  if (name === undefined || name === row.name) return;
  throw invalid([{ path: 'name', message: 'can’t be changed: make another one' }]);
}

/** What every change of a row writes. */
export const changedNow = () => ({ version: { increment: 1 }, updated_at: new Date() });

/** What every resource shows. */
export const presentCommon = ({ id, name, labels, version, created_at, updated_at, created_by }: ResourceRow) => ({
  id,
  name,
  labels,
  version,
  created_at,
  updated_at,
  created_by,
});
