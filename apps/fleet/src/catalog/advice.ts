// What the hub says about templates beside their content: their revision, status and advisories.
import type { Template } from '@svc/contract';
import { Prisma } from '../generated/prisma/client.ts';
import { templateHash } from '../resources/workloads.ts';

type Transaction = Prisma.TransactionClient;

/** Whether a hub states revisions. One of an earlier version, which can run beside a newer one, does not. */
export const hasRevision = ({ revision }: Pick<Template, 'revision'>): boolean => revision !== null;

const isPlain = ({ status, advisories }: Template): boolean => status === 'active' && advisories.length === 0;

/**
 * Stores what a page says about its templates, after the templates, in the same transaction. What is known about a
 * template without a revision stays. The copies of workloads whose revision is not known, and whose content is
 * the present one, have the present revision.
 */
export async function storeAdvice(transaction: Transaction, templates: readonly Template[]): Promise<void> {
  const stated = templates.filter(hasRevision);
  if (stated.length === 0) return;
  const ids = stated.map(({ id }) => id);
  const rows = stated
    .filter((template) => !isPlain(template))
    .map(({ id, status, status_message, replacement, advisories }) => {
      const texts = { status_message, replacement, advisories };
      return { template_id: id, status, ...texts, bytes: Buffer.byteLength(JSON.stringify(texts)) };
    });
  await transaction.$executeRaw`DELETE FROM catalog_advice WHERE template_id = ANY(${ids}::uuid[])`;
  if (rows.length > 0) await transaction.catalogAdvice.createMany({ data: rows });
  await transaction.$executeRaw`
    UPDATE workload_revisions v SET template_revision = (t.summary->>'revision')::int
    FROM catalog_templates t
    WHERE t.id = ANY(${ids}::uuid[]) AND v.template_id = t.id AND v.template_revision IS NULL
      AND v.template_hash = ${templateHash(Prisma.sql`t.summary`)}`;
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
 * Deletes what is known about templates that left the mirror and that no workload was made from. A deletion in the hub
 * does not silence advisories about what runs.
 */
export const forgetAdvice = (transaction: Transaction): Promise<number> =>
  transaction.$executeRaw`
    DELETE FROM catalog_advice a
    WHERE NOT EXISTS (SELECT FROM catalog_templates t WHERE t.id = a.template_id)
      AND NOT EXISTS (SELECT FROM workload_revisions v WHERE v.template_id = a.template_id)`;
