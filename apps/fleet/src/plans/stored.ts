import { documentKinds, type ObjectDocument } from '@svc/contract/fleet';
import { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';
import type { PlacedDocument } from './documents.ts';

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** A document as it was applied. One that a newer version has stored can have unknown members. */
const appliedDocument = z.custom<ObjectDocument>((value) => typeof value === 'object' && value !== null);

const managedRow = z.object({
  kind: z.enum(documentKinds),
  id: z.string(),
  name: z.string(),
  version: z.int(),
  generation: z.int(),
  deleting: z.boolean(),
  /** The set that manages it; null: none. */
  set_name: z.string().nullable(),
  document: appliedDocument.nullable(),
  file: z.string().nullable(),
  line: z.int().nullable(),
  /** The version of the object after its document was applied. */
  applied_version: z.int().nullable(),
  /** The bytes of its environment and its specification. */
  bytes: z.int(),
});

/** An object with the document that was last applied to it. */
export type ManagedObject = z.output<typeof managedRow>;

/** The bytes that the row of an application is taken to have. Few have more; its specification is read for one at a time. */
const APPLICATION_BYTES = 512 * 1024;

/** The objects with these names, and those that a set manages. */
export async function readManaged(
  reader: Reader,
  { set, names }: { readonly set: string; readonly names: readonly string[] },
): Promise<ManagedObject[]> {
  const rows = await reader.$queryRaw<unknown[]>`
    SELECT o.*, s.set_name, s.document, s.file, s.line, s.version AS applied_version FROM (
      SELECT 'deployment' AS kind, d.id, d.name, d.version, d.generation, d.deleting, d.env_bytes + v.spec_bytes AS bytes
      FROM deployments d JOIN workload_revisions v ON v.workload_id = d.workload_id AND v.revision = d.revision
      UNION ALL SELECT 'application', a.id, a.name, a.version, a.generation, a.deleting, ${APPLICATION_BYTES}::int FROM applications a) o
    LEFT JOIN set_objects s ON s.kind = o.kind AND s.object_id = o.id
    WHERE o.name = ANY(${names}::text[]) OR s.set_name = ${set}
    ORDER BY o.name COLLATE "C"`;
  return rows.map((row) => managedRow.parse(row));
}

/** Records the documents of a set as applied, to the objects with their names. One statement for all. */
export async function storeApplied(
  transaction: Prisma.TransactionClient,
  {
    set,
    planId,
    documents,
  }: { readonly set: string; readonly planId: string; readonly documents: readonly Omit<PlacedDocument, 'lineOf'>[] },
): Promise<void> {
  const given = documents.map(({ document, file, line }) => ({
    kind: document.kind,
    name: document.name,
    document,
    file,
    line,
  }));
  await transaction.$executeRaw`
    INSERT INTO set_objects AS s (kind, object_id, set_name, document, file, line, version, plan_id)
    SELECT g.kind, o.id, ${set}, g.document, g.file, g.line, o.version, ${planId}::uuid
    FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS g(kind text, name text, document jsonb, file text, line int)
    JOIN (SELECT 'deployment' AS kind, id, name, version FROM deployments
      UNION ALL SELECT 'application', id, name, version FROM applications) o ON o.kind = g.kind AND o.name = g.name
    ON CONFLICT (kind, object_id) DO UPDATE SET set_name = excluded.set_name, document = excluded.document, file = excluded.file,
      line = excluded.line, version = excluded.version, plan_id = excluded.plan_id, applied_at = now()
    WHERE (s.set_name, s.document, s.file, s.line, s.version)
      IS DISTINCT FROM (excluded.set_name, excluded.document, excluded.file, excluded.line, excluded.version)`;
}

/** Forgets the documents of objects, which are no longer managed. */
export const releaseObjects = (transaction: Prisma.TransactionClient, ids: readonly string[]) =>
  transaction.$executeRaw`DELETE FROM set_objects WHERE object_id = ANY(${ids}::uuid[])`;

/** Forgets the documents of all objects of a set. */
export const releaseSet = (transaction: Prisma.TransactionClient, set: string) =>
  transaction.$executeRaw`DELETE FROM set_objects WHERE set_name = ${set}`;

/** The objects that were rolled back, by a caller or by the return from a failed rollout, and not changed by a caller since. */
export async function readRolledBack(reader: Reader, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await reader.$queryRaw<{ id: string }[]>`
    SELECT last.id FROM (
      SELECT DISTINCT ON (id) id, operation FROM (
        SELECT deployment_id AS id, generation, operation, created_by FROM deployment_revisions WHERE deployment_id = ANY(${ids}::uuid[])
        UNION ALL SELECT application_id, generation, operation, created_by FROM application_generations
        WHERE application_id = ANY(${ids}::uuid[])) g
      WHERE created_by <> 'fleet' OR operation = 'rollback' ORDER BY id, generation DESC) last
    WHERE last.operation = 'rollback'`;
  return new Set(rows.map(({ id }) => id));
}
