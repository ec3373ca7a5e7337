import { type Application, type ApplicationSpec, application } from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/http';
import { tierProblem } from '../deployments/checks.ts';
import type { Refusal } from '../deployments/refusals.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { isAbout, refusalsOfAdvice, type StoredAdvice } from '../resources/advice.ts';
import { applicationHash, copyInSpec } from '../resources/application-copies.ts';
import { type Evidence, presentEvidence } from '../trust/evidence.ts';

type Transaction = Prisma.TransactionClient;

/** An application of the catalog, of which a specification is a copy. */
export interface Origin {
  readonly id: string;
  readonly slug: string;
  readonly version: string;
  /** The number of its revision; null: the hub has not stated it. */
  readonly revision: number | null;
  /** What the hub says about this revision. */
  readonly advice: NonNullable<StoredAdvice>;
  /** Identifies what it consists of. */
  readonly hash: string;
  readonly spec: ApplicationSpec;
  /** What was signed of it; null: nothing. */
  readonly evidence: Evidence | null;
  /** The reasons against it. */
  readonly refusals: readonly (Refusal & { readonly part: null })[];
}

/** The application of the mirror with a slug, whose advisories with these ids a request acknowledges. @throws 404 if there is none */
async function readOrigin(transaction: Transaction, slug: string, acknowledged: readonly string[]): Promise<Origin> {
  const found = await read(transaction, Prisma.sql`slug = ${slug}`, acknowledged);
  if (!found) throw notFound();
  return found;
}

interface Source {
  readonly application?: string | undefined;
  readonly spec?: ApplicationSpec | undefined;
  readonly acknowledge?: readonly string[] | undefined;
}

/** The specification of a request, or of the application of the mirror that it names. @throws 400 unless it has one of them, 404 */
export async function readRequested(
  transaction: Transaction,
  { application: slug, spec, acknowledge = [] }: Source,
): Promise<{ readonly spec: ApplicationSpec; readonly origin?: Origin }> {
  if ((slug === undefined) === (spec === undefined))
    throw invalid([{ path: 'spec', message: 'is required without application, and must not be given with it' }]);
  if (spec !== undefined) return { spec };
  const origin = await readOrigin(transaction, slug ?? '', acknowledge);
  return { spec: origin.spec, origin };
}

/** The present version of the application of the mirror from which an application was made. @throws 422 without one */
export async function presentOrigin(
  transaction: Transaction,
  { name, catalog_id }: { readonly name: string; readonly catalog_id: string | null },
  acknowledged: readonly string[],
): Promise<Origin> {
  const found =
    catalog_id === null ? undefined : await read(transaction, Prisma.sql`id = ${catalog_id}::uuid`, acknowledged);
  if (found) return found;
  const reason =
    catalog_id === null ? 'was not made from an application of the catalog' : 'is no longer in the catalog';
  throw new Problem('no_template', `Nothing was changed: the application ${name} ${reason}.`);
}

async function read(
  transaction: Transaction,
  where: Prisma.Sql,
  acknowledged: readonly string[],
): Promise<Origin | undefined> {
  const [row] = await transaction.$queryRaw<{ document: unknown; signed: unknown; hash: string }[]>`
    SELECT document, signed, ${applicationHash(Prisma.sql`document`)} AS hash FROM catalog_applications
    WHERE ${where} ORDER BY updated_at DESC, id LIMIT 1`;
  if (!row) return undefined;
  const stored = application.parse(row.document);
  const evidence = presentEvidence(row.signed, stored.updated_at);
  // What runs is what was signed, as it was received.
  const found = evidence ? application.parse({ ...stored, ...evidence.members }) : stored;
  const { id, slug, version, revision, min_tier, inputs, generated, parts } = found;
  const advice = adviceOf(found, acknowledged);
  const tier = await tierProblem(transaction, min_tier);
  const ofTier = tier === undefined ? [] : [{ code: 'tier_too_low' as const, path: 'application', message: tier }];
  return {
    ...{ id, slug, version, revision, advice, hash: row.hash, spec: { inputs, generated, parts }, evidence },
    refusals: [...refusalsOfAdvice(advice, 'application'), ...ofTier].map((refusal) => ({ ...refusal, part: null })),
  };
}

/** What an application of the mirror says about its present revision. */
function adviceOf(
  { revision, status, status_message, replacement, advisories }: Application,
  acknowledged: readonly string[],
): Origin['advice'] {
  const about = advisories.filter(
    ({ first_revision, last_revision }) =>
      revision === null || (first_revision <= revision && revision <= (last_revision ?? revision)),
  );
  return {
    ...{ status, status_message, replacement },
    advisories: about.map((each) => ({ ...each, acknowledged: acknowledged.includes(each.id) })),
  };
}

/**
 * Stores that advisories about the copy that an application runs were acknowledged.
 * @returns the ids of those that are about it. Others are ignored, because an advisory can be withdrawn meanwhile
 */
export async function storeAcknowledged(
  transaction: Transaction,
  applicationId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await transaction.$queryRaw<{ id: string }[]>`
    WITH copied AS (
      SELECT s.* FROM applications r
      JOIN application_generations g ON g.application_id = r.id AND g.generation = r.generation
      JOIN application_specs s ON s.application_id = g.application_id AND s.spec_version = g.spec_version
      WHERE r.id = ${applicationId}::uuid),
    given AS (
      SELECT DISTINCT (x->>'id')::uuid AS id
      FROM copied s CROSS JOIN ${copyInSpec}
        JOIN catalog_application_advice a ON a.application_id = v.template_id, jsonb_array_elements(a.advisories) x
      WHERE ${isAbout} AND (x->>'id')::uuid = ANY(${[...ids]}::uuid[])),
    stored AS (
      UPDATE application_specs s
      SET acknowledged = ARRAY(SELECT unnest(s.acknowledged) AS id UNION SELECT id FROM given ORDER BY id)
      FROM copied c
      WHERE s.application_id = c.application_id AND s.spec_version = c.spec_version AND EXISTS (SELECT FROM given))
    SELECT id::text FROM given ORDER BY given.id`;
  return rows.map(({ id }) => id);
}
