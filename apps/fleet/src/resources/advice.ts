// What the hub says about the templates of workloads, and about the applications that were copied: their status, and advisories
// about ranges of revisions.
import { adviceDefaults, advisory } from '@svc/contract';
import { type Severity, severities } from '@svc/contract/fleet';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';

/** What is known about the template or the application of a copy; null: nothing, so that it is active. */
export const storedAdvice = z
  .object({
    status: z.string(),
    status_message: z.string(),
    replacement: z.string().nullable(),
    advisories: z.array(advisory.extend({ acknowledged: z.boolean() })),
  })
  .nullable();
export type StoredAdvice = z.output<typeof storedAdvice>;

/** Whether an advisory `x` is about a copy `v`, such as a revision of a workload. It can be about a copy of an unknown revision. */
export const isAbout = Prisma.sql`(v.template_revision IS NULL OR v.template_revision
  BETWEEN (x->>'first_revision')::int AND coalesce((x->>'last_revision')::int, v.template_revision))`;

/** What is known about the object of a copy `v`, from a row of a table of advice. */
const adviceOf = (table: Prisma.Sql, id: Prisma.Sql) => Prisma.sql`(
  SELECT jsonb_build_object('status', a.status, 'status_message', a.status_message, 'replacement', a.replacement,
    'advisories', (
      SELECT coalesce(jsonb_agg(x || jsonb_build_object('acknowledged', (x->>'id')::uuid = ANY(v.acknowledged))), '[]')
      FROM jsonb_array_elements(a.advisories) x WHERE ${isAbout}))
  FROM ${table} a WHERE a.${id} = v.template_id)`;

/** What is known about the template of a revision `v` of a workload. */
export const templateAdvice = adviceOf(Prisma.sql`catalog_advice`, Prisma.sql`template_id`);

/** What is known about the application of a copy `v`, which has the columns of a copy of a template. */
export const applicationAdvice = adviceOf(Prisma.sql`catalog_application_advice`, Prisma.sql`application_id`);

/** The bytes of what is known about the template of a revision `v` of a workload. */
export const adviceBytes = Prisma.sql`coalesce((SELECT a.bytes FROM catalog_advice a WHERE a.template_id = v.template_id), 0)`;

interface Advised {
  readonly template_id: string | null;
  readonly template_revision: number | null;
  readonly advice: StoredAdvice;
}

/** The members of the API about the template of a copy. */
export function presentAdvice({ template_id, template_revision, advice }: Advised) {
  const { status, status_message, replacement } = adviceDefaults;
  const known = advice ?? { status, status_message, replacement, advisories: [] };
  return { template_revision, advice: template_id === null ? null : { ...known, certain: template_revision !== null } };
}

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** A copy of a template. */
export interface Copy {
  /** null: the workload was created without a template. */
  readonly template_id: string | null;
  readonly template_revision: number | null;
  /** The ids of the advisories that were acknowledged for it. */
  readonly acknowledged: readonly string[];
}

/** What is known about the template of a copy that need not be stored. */
export async function readAdvice(
  reader: Reader,
  { template_id, template_revision, acknowledged }: Copy,
): Promise<StoredAdvice> {
  if (template_id === null) return null;
  const [row] = await reader.$queryRaw<{ advice: unknown }[]>`
    SELECT ${templateAdvice} AS advice
    FROM (SELECT ${template_id}::uuid, ${template_revision}::int, ${acknowledged}::uuid[]) v (template_id, template_revision, acknowledged)`;
  return storedAdvice.parse(row?.advice ?? null);
}

/** A reason to refuse a copy of a template or an application. */
interface AdviceRefusal {
  readonly code: 'template_blocked' | 'template_flawed';
  readonly path: string;
  readonly message: string;
}

/**
 * The reasons against a copy of a template or an application: it is blocked, or it has critical advisories that nobody has
 * acknowledged for it. Texts of the hub are plain text.
 */
export function refusalsOfAdvice(advice: StoredAdvice, noun: 'template' | 'application' = 'template'): AdviceRefusal[] {
  if (advice === null) return [];
  const { status, status_message, replacement, advisories } = advice;
  if (status === 'blocked') {
    const use = replacement === null ? '' : ` Use ${replacement} instead.`;
    return [{ code: 'template_blocked', path: noun, message: `is blocked by the hub: ${status_message}${use}` }];
  }
  return advisories
    .filter(({ severity, acknowledged }) => severity === 'critical' && !acknowledged)
    .map(({ id, message, url }) => ({
      code: 'template_flawed',
      path: 'acknowledge',
      message: `does not have the critical advisory ${id}: ${message}${url === null ? '' : ` (${url})`}`,
    }));
}

/**
 * Stores that advisories about a revision of a workload were acknowledged.
 * @returns the ids of those that are about it. Others are ignored, because an advisory can be withdrawn meanwhile
 */
export async function storeAcknowledged(
  transaction: Prisma.TransactionClient,
  { workloadId, revision }: { readonly workloadId: string; readonly revision: number },
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await transaction.$queryRaw<{ id: string }[]>`
    WITH given AS (
      SELECT DISTINCT (x->>'id')::uuid AS id
      FROM workload_revisions v JOIN catalog_advice a ON a.template_id = v.template_id, jsonb_array_elements(a.advisories) x
      WHERE v.workload_id = ${workloadId}::uuid AND v.revision = ${revision} AND ${isAbout}
        AND (x->>'id')::uuid = ANY(${ids}::uuid[])),
    stored AS (
      UPDATE workload_revisions
      SET acknowledged = ARRAY(SELECT unnest(acknowledged) AS id UNION SELECT id FROM given ORDER BY id)
      WHERE workload_id = ${workloadId}::uuid AND revision = ${revision} AND EXISTS (SELECT FROM given))
    SELECT id::text FROM given ORDER BY given.id`;
  return rows.map(({ id }) => id);
}

/** The severities of advisories that are at least as severe, as an array of SQL. */
export const atLeast = (severity: Severity): Prisma.Sql =>
  Prisma.sql`${severities.slice(severities.indexOf(severity))}::text[]`;

/**
 * Whether a revision `v` of a workload is of a template with an advisory about it of at least a severity. Few templates have
 * advisories, so that their copies are found by an index.
 */
export const hasAdvisory = (severity: Severity): Prisma.Sql => Prisma.sql`v.template_id = ANY(ARRAY(
    SELECT a.template_id FROM catalog_advice a WHERE a.advisories <> '[]'))
  AND EXISTS (
    SELECT FROM catalog_advice a, jsonb_array_elements(a.advisories) x
    WHERE a.template_id = v.template_id AND x->>'severity' = ANY(${atLeast(severity)}) AND ${isAbout})`;
