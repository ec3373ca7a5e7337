// What the hub says about templates and applications beside their content: their revision, status and advisories.
import type { Application, Template } from '@svc/contract';
import { Prisma } from '../generated/prisma/client.ts';
import { applicationHash } from '../resources/application-copies.ts';
import { templateHash } from '../resources/workloads.ts';

type Transaction = Prisma.TransactionClient;

/** Whether a hub states revisions. One of an earlier version, which can run beside a newer one, does not. */
export const hasRevision = ({ revision }: Pick<Template, 'revision'>): boolean => revision !== null;

type Advised = Pick<Template, 'id' | 'revision' | 'status' | 'status_message' | 'replacement' | 'advisories'>;

const isPlain = ({ status, advisories }: Advised): boolean => status === 'active' && advisories.length === 0;

/** The rows of objects about which there is something to say. */
const rowsOf = (objects: readonly Advised[]) =>
  objects
    .filter((object) => !isPlain(object))
    .map(({ id, status, status_message, replacement, advisories }) => {
      const texts = { status_message, replacement, advisories };
      return { id, status, ...texts, bytes: Buffer.byteLength(JSON.stringify(texts)) };
    });

/**
 * Stores what a page says about its templates, after the templates, in the same transaction. What is known about a
 * template without a revision stays. The copies of workloads whose revision is not known, and whose content is
 * the present one, have the present revision.
 */
export async function storeAdvice(transaction: Transaction, templates: readonly Template[]): Promise<void> {
  const stated = templates.filter(hasRevision);
  if (stated.length === 0) return;
  const ids = stated.map(({ id }) => id);
  const rows = rowsOf(stated).map(({ id, ...row }) => ({ template_id: id, ...row }));
  await transaction.$executeRaw`DELETE FROM catalog_advice WHERE template_id = ANY(${ids}::uuid[])`;
  if (rows.length > 0) await transaction.catalogAdvice.createMany({ data: rows });
  await transaction.$executeRaw`
    UPDATE workload_revisions v SET template_revision = (t.summary->>'revision')::int
    FROM catalog_templates t
    WHERE t.id = ANY(${ids}::uuid[]) AND v.template_id = t.id AND v.template_revision IS NULL
      AND v.template_hash = ${templateHash(Prisma.sql`t.summary`)}`;
}

/** The same for the applications of a page. A hub of a version with applications states their revisions. */
export async function storeApplicationAdvice(
  transaction: Transaction,
  applications: readonly Application[],
): Promise<void> {
  if (applications.length === 0) return;
  const ids = applications.map(({ id }) => id);
  const rows = rowsOf(applications).map(({ id, ...row }) => ({ application_id: id, ...row }));
  await transaction.$executeRaw`DELETE FROM catalog_application_advice WHERE application_id = ANY(${ids}::uuid[])`;
  if (rows.length > 0) await transaction.catalogApplicationAdvice.createMany({ data: rows });
  await transaction.$executeRaw`
    UPDATE application_specs s SET catalog_revision = (a.summary->>'revision')::int
    FROM catalog_applications a
    WHERE a.id = ANY(${ids}::uuid[]) AND s.catalog_id = a.id AND s.catalog_revision IS NULL
      AND s.catalog_hash = ${applicationHash(Prisma.sql`a.document`)}`;
}

/**
 * A document `r.document` of the hub with what is known about its template `r.id`, if the document does not state it.
 */
export const withKnownAdvice = Prisma.sql`CASE WHEN r.document->'revision' <> 'null' THEN r.document
  ELSE r.document || coalesce((
    SELECT jsonb_build_object('status', a.status, 'status_message', a.status_message, 'replacement', a.replacement,
      'advisories', a.advisories)
    FROM catalog_advice a WHERE a.template_id = r.id), '{}') END`;

/**
 * Deletes what is known about templates and applications that left the mirror and of which there is no copy. A deletion in
 * the hub does not silence advisories about what runs.
 */
export async function forgetAdvice(transaction: Transaction): Promise<void> {
  await transaction.$executeRaw`
    DELETE FROM catalog_advice a
    WHERE NOT EXISTS (SELECT FROM catalog_templates t WHERE t.id = a.template_id)
      AND NOT EXISTS (SELECT FROM workload_revisions v WHERE v.template_id = a.template_id)`;
  await transaction.$executeRaw`
    DELETE FROM catalog_application_advice a
    WHERE NOT EXISTS (SELECT FROM catalog_applications c WHERE c.id = a.application_id)
      AND NOT EXISTS (SELECT FROM application_specs s WHERE s.catalog_id = a.application_id)`;
}
