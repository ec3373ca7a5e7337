import { template } from '@svc/contract';
import { type WorkloadSpec, workloadDefaults, workloadMembers, workloadSpec } from '@svc/contract/fleet';
import { given, invalid, notFound } from '@svc/http';
import { Prisma } from '../generated/prisma/client.ts';
import { specProblems } from '../render/spec-problems.ts';
import { type Origin, templateHash } from './rows.ts';

type Transaction = Prisma.TransactionClient;

/** What a revision is made from: what a template says by now, under what was said here. */
export interface Base extends Origin {
  readonly spec: WorkloadSpec;
}

/** Where nothing comes from a template. */
export const written: Base = {
  template_id: null,
  template_slug: null,
  template_version: null,
  template_hash: null,
  min_tier: null,
  spec: workloadDefaults,
};

/** What a template of the mirror says now. @throws 404 where the hub shows none of that slug */
export async function baseOf(transaction: Transaction, slug: string): Promise<Base> {
  const [row] = await transaction.$queryRaw<{ document: Prisma.JsonValue; hash: string }[]>`
    SELECT document, ${templateHash(Prisma.sql`document`)} AS hash FROM catalog_templates
    WHERE slug = ${slug} ORDER BY updated_at DESC, id LIMIT 1`;
  if (!row) throw notFound();
  const document = template.parse(row.document);
  return {
    template_id: document.id,
    template_slug: document.slug,
    template_version: document.version,
    template_hash: row.hash,
    min_tier: document.min_tier,
    spec: workloadSpec.parse(document),
  };
}

/** The members of something that say what runs. */
export const saidIn = (
  body: { readonly [M in keyof WorkloadSpec]?: WorkloadSpec[M] | undefined },
): Partial<WorkloadSpec> => given(body, workloadMembers);

interface Revision {
  readonly workloadId: string;
  readonly revision: number;
  readonly base: Base;
  readonly said: Partial<WorkloadSpec>;
  readonly author: string;
}

/** Stores a revision, for good. @throws 400 for what no engine would take */
export async function insertRevision(
  transaction: Transaction,
  { base, said, ...revision }: Revision,
): Promise<WorkloadSpec> {
  const { template_id, template_slug, template_version, template_hash, min_tier } = base;
  const spec = { ...base.spec, ...said };
  const problems = specProblems(spec);
  if (problems.length > 0) throw invalid(problems);
  await transaction.workloadRevision.create({
    data: {
      ...{ template_id, template_slug, template_version, template_hash, min_tier },
      workload_id: revision.workloadId,
      revision: revision.revision,
      created_by: revision.author,
      spec,
      said,
      secret_names: secretNamesOf(spec),
    },
  });
  return spec;
}

/** The secrets that a workload needs, by name. */
export function secretNamesOf({ secret_refs, registry_credentials }: WorkloadSpec): string[] {
  const names = secret_refs.map(({ name }) => name);
  return [...new Set(registry_credentials === null ? names : [...names, registry_credentials])].sort();
}
