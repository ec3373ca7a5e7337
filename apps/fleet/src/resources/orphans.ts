import { offsetOf, paginationOf } from '@svc/contract';
import type { Target } from '@svc/contract/fleet';
import { notFound } from '@svc/http';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { isUuid } from './kind.ts';

/** What the objects of an orphan state, as a check stored it. */
const orphanDocument = z.object({
  name: z.string(),
  generation: z.int(),
  workload_id: z.string().nullable(),
  revision: z.int().nullable(),
  variables: z.array(z.string()),
  replicas: z.int(),
  objects: z.array(z.string()),
  object_count: z.int(),
  ports: z.array(z.object({ ordinal: z.int(), protocol: z.string(), container_port: z.int(), host_port: z.int() })),
  /** The addresses of its containers in the network of all deployments without an application. */
  addresses: z
    .array(z.object({ ordinal: z.int(), address: z.string(), network_id: z.string(), subnet: z.string() }))
    .default([]),
  volume: z.object({ size: z.string(), access_mode: z.string(), storage_class: z.string().nullable() }).nullable(),
});
export type OrphanDocument = z.output<typeof orphanDocument>;

const orphanRow = z.object({
  id: z.string(),
  kind: z.enum(['deployment', 'volume']),
  document: orphanDocument,
  found_at: z.date(),
  removing: z.boolean(),
});
export type OrphanRow = z.output<typeof orphanRow>;

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** A row `o` with its removal, which is a tombstone: checks remove the objects of tombstones. */
const columns = Prisma.sql`o.id, o.kind, o.document, o.found_at,
  EXISTS (SELECT FROM tombstones t WHERE t.id = o.id AND o.target_id IN (t.host_id, t.cluster_id)) AS removing`;

/** A page of the orphans of a target, the first ones found at the beginning. */
export async function listOrphans(
  reader: Reader,
  { id }: Target,
  query: { readonly page: number; readonly limit: number },
) {
  const page = await reader.$queryRaw<{ id: string | null; total: number }[]>`
    SELECT counted.total, page.* FROM (SELECT count(*)::int AS total FROM orphans WHERE target_id = ${id}::uuid) counted
    LEFT JOIN LATERAL (
      SELECT ${columns} FROM orphans o WHERE o.target_id = ${id}::uuid ORDER BY o.found_at, o.id
      LIMIT ${query.limit} OFFSET ${offsetOf(query)}) page ON true ORDER BY page.found_at, page.id`;
  const orphans = page.filter((row) => row.id !== null).map((row) => presentOrphan(orphanRow.parse(row)));
  return { orphans, pagination: paginationOf(query, page[0]?.total ?? 0) };
}

/** An orphan of a target. @throws 404 */
export async function readOrphan(reader: Reader, target: Target, id: string): Promise<OrphanRow> {
  if (!isUuid(id)) throw notFound();
  const [row] = await reader.$queryRaw<object[]>`
    SELECT ${columns} FROM orphans o WHERE o.target_id = ${target.id}::uuid AND o.id = ${id}::uuid`;
  if (!row) throw notFound();
  return orphanRow.parse(row);
}

/** The representation of an orphan in the API. */
export const presentOrphan = ({ id, kind, document, found_at, removing }: OrphanRow) => {
  const { volume: _, addresses: __, ...described } = document;
  return { id, kind, ...described, found_at, removing };
};
