import { isDeepStrictEqual } from 'node:util';
import {
  codedMessages,
  type FieldError,
  INTERNAL_MARKER,
  isSecretVariable,
  registryInName,
  SECRET_MARKER,
  storedValueProblems,
  template,
} from '@svc/contract';
import {
  templateState as templateStateOfCopy,
  type WorkloadSpec,
  workloadDefaults,
  workloadMembers,
  workloadSpec,
} from '@svc/contract/fleet';
import { invalid, notFound, pickDefined } from '@svc/http';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import type { WorkloadVariable } from '../render/env.ts';
import { PLACEHOLDER } from '../render/secrets.ts';
import { specProblems } from '../render/spec-problems.ts';
import { refuseUnsupported } from '../render/unsupported-values.ts';
import { type Evidence, presentEvidence, type StoredEvidence } from '../trust/evidence.ts';
import { compareCopy } from '../trust/verdict.ts';
import { adviceBytes, presentAdvice, type StoredAdvice, storedAdvice, templateAdvice } from './advice.ts';
import { type Kind, presentCommon, resourceRow } from './kind.ts';

/** The template that a revision was made from; all null for a revision without one. */
const origin = z.object({
  template_id: z.string().nullable(),
  template_slug: z.string().nullable(),
  template_version: z.string().nullable(),
  min_tier: z.string().nullable(),
  /** Hash of the specification of the template at the time of the copy; see `templateHash`. */
  template_hash: z.string().nullable(),
  /** The revision that was copied; null if it is not known. */
  template_revision: z.int().nullable(),
});
type Origin = z.output<typeof origin>;

export const templateStates = templateStateOfCopy.nullable();
type TemplateState = z.output<typeof templateStates>;

const storedVariable = z.union([
  z.object({ name: z.string(), value: z.string(), sealed: z.undefined().optional() }),
  z.object({ name: z.string(), sealed: z.string() }).transform((variable) => ({ ...variable, value: PLACEHOLDER })),
]);

/**
 * A specification as it is stored. The value of a secret variable can be sealed: then its stored
 * form has the id of the sealed value instead of a text.
 */
export const storedSpec = workloadSpec.extend({ env: z.prefault(z.array(storedVariable), []) });

/** A specification in which values of variables can be sealed. */
export interface StoredSpec extends Omit<WorkloadSpec, 'env'> {
  readonly env: WorkloadVariable[];
}

const workloadRow = resourceRow.extend({
  ...origin.shape,
  revision: z.int(),
  spec: storedSpec,
  overrides: z.custom<Partial<StoredSpec>>((value) => storedSpec.partial().safeParse(value).success),
  template_state: templateStates,
  advice: storedAdvice,
  acknowledged: z.array(z.string()),
  secret_variables: z.array(z.string()),
});
export type WorkloadRow = z.output<typeof workloadRow>;

/** A specification with the members that the API knows. */
export const withoutSealed = (spec: StoredSpec): WorkloadSpec => ({
  ...spec,
  env: spec.env.map(({ name, value }) => ({ name, value })),
});

/** The variables of a workload for the API: the values of secret variables are masked. */
const presentVariables = (env: readonly WorkloadVariable[], secretNames: readonly string[]) =>
  env.map(({ name, value, sealed }) => ({
    name,
    value: value !== '' && (sealed !== undefined || secretNames.includes(name)) ? PLACEHOLDER : value,
  }));

const markedIn = (document: Prisma.Sql, marker: string) =>
  Prisma.sql`jsonb_path_query_array(${document},
    ${`$.env_schema[*] ? (@.description like_regex "${marker.replace(/[[\]]/g, '\\\\$&')}\\\\s*$").name`}::jsonpath)`;

/**
 * The names of the variables of a revision `v` whose descriptions end with a marker. A variable is
 * also marked if its template in the mirror declares it now, so that values from before the
 * declaration are treated alike.
 */
const variablesMarked = (marker: string) => Prisma.sql`(${markedIn(Prisma.sql`v.spec`, marker)} || coalesce(
  (SELECT ${markedIn(Prisma.sql`t.summary`, marker)} FROM catalog_templates t WHERE t.id = v.template_id), '[]'))`;

/** The names of the secret variables of a revision `v`, as `isSecretVariable` states it. */
export const secretVariables = variablesMarked(SECRET_MARKER);

/** The names of the internal variables of a revision `v`. */
export const internalVariables = variablesMarked(INTERNAL_MARKER);

/** The names of the secret variables of a specification. */
export const secretVariablesOf = ({ env_schema }: Pick<WorkloadSpec, 'env_schema'>): string[] =>
  env_schema.filter(isSecretVariable).map(({ name }) => name);

/**
 * The variables of a workload that are secret and have text. A workload can be read by everybody.
 * Text that is already stored is accepted: it is masked, and will be sealed.
 */
export function secretTextErrors(
  env: readonly WorkloadVariable[],
  secretNames: readonly string[],
  stored: readonly WorkloadVariable[] = [],
): FieldError[] {
  return env.flatMap((variable, index) =>
    variable.value !== '' && secretNames.includes(variable.name) && !stored.includes(variable)
      ? [{ path: `env.${index}.value`, message: codedMessages.workload_secret }]
      : [],
  );
}

/**
 * The hash of the specification in a template document of the mirror. Members with their default
 * value are left out, so that the hash of a copy stays valid if a member is added to the contract
 * later, and documents from before and after have the same hash.
 */
export const templateHash = (document: Prisma.Sql) => Prisma.sql`(
  SELECT encode(sha256(convert_to(coalesce(jsonb_object_agg(key, value), '{}')::text, 'UTF8')), 'hex')
  FROM jsonb_each(${document}) WHERE ${JSON.stringify(workloadDefaults)}::jsonb -> key <> value)`;

/**
 * The template state of a revision `v`. The template is identified by its id, because slugs can
 * change. The documentation, which no workload has, is not read.
 */
export const templateState = Prisma.sql`CASE
  WHEN v.template_id IS NULL THEN NULL
  WHEN NOT EXISTS (SELECT FROM catalog_templates t WHERE t.id = v.template_id) THEN 'withdrawn'
  WHEN (SELECT ${templateHash(Prisma.sql`t.summary`)} FROM catalog_templates t WHERE t.id = v.template_id) = v.template_hash THEN 'current'
  ELSE 'outdated' END`;

/** An expression over the latest revision `v` of a workload `r`. */
const latest = (expression: Prisma.Sql) =>
  Prisma.sql`(SELECT ${expression} FROM workload_revisions v WHERE v.workload_id = r.id AND v.revision = r.revision)`;

/** The bytes of a revision `v`, and of its template, without the documentation. */
export const revisionBytes = Prisma.sql`v.spec_bytes + ${adviceBytes}
  + coalesce((SELECT t.summary_bytes FROM catalog_templates t WHERE t.id = v.template_id), 0)`;

const columnsWith = (ofRevision: {
  readonly spec: Prisma.Sql;
  readonly overrides: Prisma.Sql;
  readonly secretVariables: Prisma.Sql;
}) =>
  Prisma.sql`r.revision, ${latest(ofRevision.spec)} AS spec, ${latest(ofRevision.overrides)} AS overrides,
    ${latest(Prisma.sql`v.template_id`)} AS template_id, ${latest(Prisma.sql`v.template_slug`)} AS template_slug,
    ${latest(Prisma.sql`v.template_version`)} AS template_version, ${latest(Prisma.sql`v.min_tier`)} AS min_tier,
    ${latest(Prisma.sql`v.template_hash`)} AS template_hash, ${latest(Prisma.sql`v.template_revision`)} AS template_revision,
    ${latest(templateAdvice)} AS advice, ${latest(Prisma.sql`v.acknowledged::text[]`)} AS acknowledged,
    ${latest(templateState)} AS template_state, ${latest(ofRevision.secretVariables)} AS secret_variables`;

export const workloads: Kind<WorkloadRow> = {
  table: 'workloads',
  row: workloadRow,
  bytes: latest(revisionBytes),
  columns: columnsWith({ spec: Prisma.sql`v.spec`, overrides: Prisma.sql`v.overrides`, secretVariables }),
};

/** Workloads with the image of their specification only. */
export const workloadSummaries: Kind<WorkloadRow> = {
  ...workloads,
  shownBytes: latest(adviceBytes),
  columns: columnsWith({
    spec: Prisma.sql`${JSON.stringify(workloadDefaults)}::jsonb
      || jsonb_build_object('image_name', v.spec->'image_name', 'image_tag', v.spec->'image_tag')`,
    overrides: Prisma.sql`'{}'::jsonb`,
    secretVariables: Prisma.sql`'[]'::jsonb`,
  }),
};

type PresentedOrigin = Omit<Origin, 'template_hash'> & {
  readonly template_state: TemplateState;
  readonly advice: StoredAdvice;
};

const presentOrigin = (row: PresentedOrigin) => ({
  template_id: row.template_id,
  template_slug: row.template_slug,
  template_version: row.template_version,
  template_state: row.template_state,
  min_tier: row.min_tier,
  ...presentAdvice(row),
});

/** A specification in the API: the values of secret variables are masked. */
export const presentSpec = (spec: StoredSpec, secretNames: readonly string[]): WorkloadSpec => ({
  ...spec,
  env: presentVariables(spec.env, secretNames),
});

/** The representation of a workload in the API, with its latest revision. */
export const presentWorkload = (row: WorkloadRow) => ({
  ...presentSpec(row.spec, row.secret_variables),
  ...presentCommon(row),
  ...presentOrigin(row),
  revision: row.revision,
  warnings: storedValueProblems({ name: row.name, ...row.spec }),
});

export const revisionRow = origin.omit({ template_hash: true }).extend({
  revision: z.int(),
  spec: storedSpec,
  template_state: templateStates,
  advice: storedAdvice,
  secret_variables: z.array(z.string()),
  created_at: z.date(),
  created_by: z.string(),
});
type RevisionRow = z.output<typeof revisionRow>;

export const presentRevision = (row: RevisionRow) => ({
  ...presentSpec(row.spec, row.secret_variables),
  ...presentOrigin(row),
  revision: row.revision,
  created_at: row.created_at,
  created_by: row.created_by,
});

type Transaction = Prisma.TransactionClient;

/**
 * The base of a revision: the specification and origin of a template, or the defaults. Overrides of
 * the workload apply on top.
 */
export interface RevisionBase extends Origin {
  readonly spec: StoredSpec;
  /** What was signed of the template; null: nothing. Undefined: that of the latest revision. */
  readonly evidence?: Evidence | null;
}

/** The base of a revision without a template. */
export const withoutTemplate: RevisionBase = {
  template_id: null,
  template_slug: null,
  template_version: null,
  template_hash: null,
  template_revision: null,
  min_tier: null,
  spec: workloadDefaults,
  evidence: null,
};

/**
 * The base from the mirrored template with a slug. @throws 404 if the mirror has no such template
 */
export async function templateBase(transaction: Transaction, slug: string): Promise<RevisionBase> {
  const base = await readBase(transaction, Prisma.sql`slug = ${slug} ORDER BY updated_at DESC, id LIMIT 1`);
  if (!base) throw notFound();
  return base;
}

/** The base from the mirrored template with an id; undefined if the mirror has no such template. */
export const presentTemplateBase = (transaction: Transaction, id: string): Promise<RevisionBase | undefined> =>
  readBase(transaction, Prisma.sql`id = ${id}`);

async function readBase(transaction: Transaction, where: Prisma.Sql): Promise<RevisionBase | undefined> {
  const [row] = await transaction.$queryRaw<{ document: Prisma.JsonValue; signed: unknown; hash: string }[]>`
    SELECT document, signed, ${templateHash(Prisma.sql`document`)} AS hash FROM catalog_templates WHERE ${where}`;
  if (!row) return undefined;
  const stored = template.parse(row.document);
  const evidence = presentEvidence(row.signed, stored.updated_at);
  // What runs is what was signed, as it was received.
  const document = evidence ? template.parse({ ...stored, ...evidence.members }) : stored;
  return {
    template_id: document.id,
    template_slug: document.slug,
    template_version: document.version,
    template_hash: row.hash,
    template_revision: document.revision,
    min_tier: document.min_tier,
    spec: workloadSpec.parse(document),
    evidence,
  };
}

/** The members that a workload sets itself, which stay when its template changes. A sealed value stays sealed. */
export const keptOverrides = ({ overrides, spec }: Pick<WorkloadRow, 'overrides' | 'spec'>): Partial<StoredSpec> =>
  overrides.env ? { ...overrides, env: spec.env } : overrides;

/**
 * Whether a base is another copy of a template than that of the latest revision. A template can have a new revision that runs
 * the same: its copy has other advisories.
 */
export const isOtherCopy = (base: RevisionBase, before: WorkloadRow): boolean =>
  base.template_id !== before.template_id ||
  base.template_hash !== before.template_hash ||
  (base.template_revision !== null && base.template_revision !== before.template_revision);

/** Whether a specification from a base is another one than the latest revision of a workload. */
export const differsFrom = (latest: WorkloadRow, base: RevisionBase, spec: StoredSpec): boolean =>
  isOtherCopy(base, latest) || !isDeepStrictEqual(spec, latest.spec);

/** The members of a body that belong to the specification. */
export const specMembersOf = (
  body: { readonly [M in keyof WorkloadSpec]?: WorkloadSpec[M] | undefined },
): Partial<WorkloadSpec> => pickDefined(body, workloadMembers);

interface Revision {
  readonly workloadId: string;
  readonly revision: number;
  readonly base: RevisionBase;
  readonly overrides: Partial<StoredSpec>;
  readonly author: string;
  /** Whether the deployment that created the workload describes it. */
  readonly isDescribed?: boolean;
}

/** Stores a revision, as `insertRevisions` does. */
export const insertRevision = (transaction: Transaction, revision: Revision): Promise<void> =>
  insertRevisions(transaction, [revision]);

/**
 * Stores revisions, which are immutable, in one statement.
 * @throws 400 if no engine would accept a specification; 422 for values of a template that this
 * fleet does not support
 */
export async function insertRevisions(transaction: Transaction, revisions: readonly Revision[]): Promise<void> {
  const data: Prisma.WorkloadRevisionCreateManyInput[] = [];
  for (const revision of revisions) data.push(await columnsOfRevision(transaction, revision));
  await transaction.workloadRevision.createMany({ data });
}

async function columnsOfRevision(
  transaction: Transaction,
  { base, overrides, isDescribed = false, ...revision }: Revision,
): Promise<Prisma.WorkloadRevisionCreateManyInput> {
  const { template_id, template_slug, template_version, template_hash, template_revision, min_tier } = base;
  const spec = { ...base.spec, ...overrides };
  refuseUnsupported(withoutSealed(spec));
  // A mirrored template of an earlier version can have a registry in its image name. Its workloads
  // stay as they are.
  const setsImage = overrides.image_name !== undefined || overrides.registry_url !== undefined;
  const problems = [...specProblems(spec), ...(setsImage ? registryInName(spec) : [])];
  if (problems.length > 0) throw invalid(problems.map(({ path, message }) => ({ path, message })));
  return {
    template_id,
    template_slug,
    template_version,
    template_hash,
    template_revision,
    min_tier,
    trust: await trustOfCopy(transaction, base, revision),
    workload_id: revision.workloadId,
    revision: revision.revision,
    created_by: revision.author,
    spec: storedForm(spec),
    overrides: storedForm(overrides),
    secret_names: secretNamesOf(spec),
    described: isDescribed,
  };
}

/** What is stored of the signatures of a copy. A new copy is compared with what was verified of its template before. */
async function trustOfCopy(
  transaction: Prisma.TransactionClient,
  { evidence }: RevisionBase,
  { workloadId, revision }: Pick<Revision, 'workloadId' | 'revision'>,
) {
  if (evidence === undefined) {
    const where = { workload_id_revision: { workload_id: workloadId, revision: revision - 1 } };
    const before = await transaction.workloadRevision.findUnique({ where, select: { trust: true } });
    return before?.trust ? jsonOf(before.trust) : Prisma.DbNull;
  }
  if (evidence === null) return Prisma.DbNull;
  return jsonOf(await compareCopy(transaction, evidence));
}

/** JSON as Prisma takes it. */
const jsonOf = (stored: StoredEvidence | Prisma.JsonValue): Prisma.InputJsonObject =>
  JSON.parse(JSON.stringify(stored));

/** A sealed value is stored without its placeholder. */
const storedForm = <S extends Partial<StoredSpec>>({ env, ...rest }: S) => ({
  ...rest,
  ...(env && {
    env: env.map(({ name, value, sealed }) => (sealed === undefined ? { name, value } : { name, sealed })),
  }),
});

/** The secrets that a workload needs, by name. */
export function secretNamesOf({
  secret_refs,
  registry_credentials,
}: Pick<WorkloadSpec, 'secret_refs' | 'registry_credentials'>): string[] {
  const names = secret_refs.map(({ name }) => name);
  return [...new Set(registry_credentials === null ? names : [...names, registry_credentials])].sort();
}
