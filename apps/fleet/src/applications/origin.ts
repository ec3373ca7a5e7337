import { type ApplicationSpec, application } from '@svc/contract';
import { notFound, Problem } from '@svc/http';
import { tierProblem } from '../deployments/checks.ts';
import type { Refusal } from '../deployments/refusals.ts';
import { Prisma } from '../generated/prisma/client.ts';

type Transaction = Prisma.TransactionClient;

/** An application of the catalog, of which a specification is a copy. */
export interface Origin {
  readonly id: string;
  readonly slug: string;
  readonly version: string;
  /** Identifies what it consists of. */
  readonly hash: string;
  readonly spec: ApplicationSpec;
  /** The reasons against it. */
  readonly refusals: readonly (Refusal & { readonly part: null })[];
}

/** Identifies what an application in a document of the mirror consists of. */
export const catalogHash = (document: Prisma.Sql): Prisma.Sql => Prisma.sql`encode(sha256(convert_to(
  jsonb_build_array(${document}->'inputs', ${document}->'generated', ${document}->'parts')::text, 'UTF8')), 'hex')`;

/** The application of the mirror with a slug. @throws 404 if there is none */
export async function readOrigin(transaction: Transaction, slug: string): Promise<Origin> {
  const found = await read(transaction, Prisma.sql`slug = ${slug}`);
  if (!found) throw notFound();
  return found;
}

/** The present version of the application of the mirror from which an application was made. @throws 422 without one */
export async function presentOrigin(
  transaction: Transaction,
  { name, catalog_id }: { readonly name: string; readonly catalog_id: string | null },
): Promise<Origin> {
  const found = catalog_id === null ? undefined : await read(transaction, Prisma.sql`id = ${catalog_id}::uuid`);
  if (found) return found;
  const reason =
    catalog_id === null ? 'was not made from an application of the catalog' : 'is no longer in the catalog';
  throw new Problem('no_template', `Nothing was changed: the application ${name} ${reason}.`);
}

async function read(transaction: Transaction, where: Prisma.Sql): Promise<Origin | undefined> {
  const [row] = await transaction.$queryRaw<{ document: unknown; hash: string }[]>`
    SELECT document, ${catalogHash(Prisma.sql`document`)} AS hash FROM catalog_applications
    WHERE ${where} ORDER BY updated_at DESC, id LIMIT 1`;
  if (!row) return undefined;
  const { id, slug, version, status, status_message, min_tier, inputs, generated, parts } = application.parse(
    row.document,
  );
  const refusal = (code: Refusal['code'], message: string) => ({ part: null, code, path: 'application', message });
  const tier = await tierProblem(transaction, min_tier);
  return {
    ...{ id, slug, version, hash: row.hash, spec: { inputs, generated, parts } },
    refusals: [
      ...(status === 'blocked'
        ? [
            refusal(
              'template_blocked',
              `is blocked by its publisher${status_message === '' ? '' : `: ${status_message}`}`,
            ),
          ]
        : []),
      ...(tier === undefined ? [] : [refusal('tier_too_low', tier)]),
    ],
  };
}
