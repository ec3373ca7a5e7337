import type { DeploymentDocument, DocumentKind } from '@svc/contract/fleet';
import { documentKinds } from '@svc/contract/fleet';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import type { Place } from './documents.ts';

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** A document as it was applied. One that a newer version has stored can have unknown members. */
const appliedDocument = z.custom<DeploymentDocument>((value) => typeof value === 'object' && value !== null);

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

/** The objects with these names, and those that a set manages. */
export async function readManaged(
  reader: Reader,
  { set, names }: { readonly set: string; readonly names: readonly string[] },
): Promise<ManagedObject[]> {
  const rows = await reader.$queryRaw<unknown[]>`
    SELECT 'deployment' AS kind, d.id, d.name, d.version, d.generation, d.deleting,
      s.set_name, s.document, s.file, s.line, s.version AS applied_version, d.env_bytes + v.spec_bytes AS bytes
    FROM deployments d JOIN workload_revisions v ON v.workload_id = d.workload_id AND v.revision = d.revision
    LEFT JOIN set_objects s ON s.kind = 'deployment' AND s.object_id = d.id
    WHERE d.name = ANY(${names}::text[]) OR s.set_name = ${set}
    ORDER BY d.name COLLATE "C"`;
  return rows.map((row) => managedRow.parse(row));
}

interface AppliedDocument extends Place {
  readonly kind: DocumentKind;
  readonly document: DeploymentDocument;
}

/** Records the documents of a set as applied, to the objects with their names. One statement for all. */
export async function storeApplied(
  transaction: Prisma.TransactionClient,
  {
    set,
    planId,
    documents,
  }: { readonly set: string; readonly planId: string; readonly documents: readonly AppliedDocument[] },
): Promise<void> {
  const given = documents.map(({ kind, document, file, line }) => ({
    kind,
    name: document.name,
    document,
    file,
    line,
  }));
  await transaction.$executeRaw`
    INSERT INTO set_objects AS s (kind, object_id, set_name, document, file, line, version, plan_id)
    SELECT g.kind, d.id, ${set}, g.document, g.file, g.line, d.version, ${planId}::uuid
    FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS g(kind text, name text, document jsonb, file text, line int)
    JOIN deployments d ON d.name = g.name
    ON CONFLICT (kind, object_id) DO UPDATE SET set_name = excluded.set_name, document = excluded.document, file = excluded.file,
      line = excluded.line, version = excluded.version, plan_id = excluded.plan_id, applied_at = now()
    WHERE (s.set_name, s.document, s.file, s.line, s.version)
      IS DISTINCT FROM (excluded.set_name, excluded.document, excluded.file, excluded.line, excluded.version)`;
}

/** Forgets the documents of objects, which are no longer managed. */
export const releaseObjects = (transaction: Prisma.TransactionClient, ids: readonly string[]) =>
  transaction.$executeRaw`DELETE FROM set_objects WHERE object_id = ANY(${ids}::uuid[])`;

/** The tables of what documents refer to by name. */
const REFERRED = {
  template: Prisma.sql`SELECT slug AS name, id::text AS id FROM catalog_templates`,
  workload: Prisma.sql`SELECT name, id::text AS id FROM workloads`,
  host: Prisma.sql`SELECT name, id::text AS id FROM hosts`,
  cluster: Prisma.sql`SELECT name, id::text AS id FROM clusters`,
  volume: Prisma.sql`SELECT name, id::text AS id FROM volumes`,
} as const;
export type Referred = keyof typeof REFERRED;

/** The number of names among which the nearest one is searched. */
const MAX_KNOWN = 2000;

/** The ids of what documents refer to, and for names that do not exist, those that do. */
export interface Names {
  readonly idOf: (kind: Referred, name: string) => string | undefined;
  readonly known: (kind: Referred) => readonly string[];
}

/** Resolves the names that documents refer to. */
export async function readNames(reader: Reader, wanted: ReadonlyMap<Referred, ReadonlySet<string>>): Promise<Names> {
  const found = new Map<Referred, Map<string, string>>();
  const known = new Map<Referred, string[]>();
  for (const [kind, names] of wanted) {
    const rows = await reader.$queryRaw<{ name: string; id: string }[]>`
      SELECT name, id FROM (${REFERRED[kind]}) r WHERE name = ANY(${[...names]}::text[])`;
    const ids = new Map(rows.map(({ name, id }) => [name, id]));
    found.set(kind, ids);
    if (ids.size === names.size) continue;
    const all = await reader.$queryRaw<{ name: string }[]>`
      SELECT name FROM (${REFERRED[kind]}) r ORDER BY name COLLATE "C" LIMIT ${MAX_KNOWN}`;
    known.set(
      kind,
      all.map(({ name }) => name),
    );
  }
  return {
    idOf: (kind, name) => found.get(kind)?.get(name),
    known: (kind) => known.get(kind) ?? [],
  };
}
