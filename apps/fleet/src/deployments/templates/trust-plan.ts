import { setImmediate } from 'node:timers/promises';
import type { Reply } from '@svc/contract';
import { type fleetEndpoints, MAX_PLANNED_REFUSALS, MAX_PLANNED_SUBJECTS, type Trust } from '@svc/contract/fleet';
import { applications as signedApplications } from '@svc/trust';
import { z } from 'zod';
import type { Prisma } from '../../generated/prisma/client.ts';
import { presentEvidence, storedEvidence } from '../../trust/evidence.ts';
import { readHistory } from '../../trust/memory.ts';
import type { TrustPolicy } from '../../trust/policy.ts';
import { type NamedPublisher, readPublishers } from '../../trust/publishers.ts';
import { BY_HAND, judge } from '../../trust/verdict.ts';
import { hasLabels, refusalsOf } from './trust.ts';

type Plan = Reply<typeof fleetEndpoints.planTrust>;
type Client = Pick<
  Prisma.TransactionClient,
  '$queryRaw' | '$executeRaw' | 'trustPublisher' | 'trustMemory' | 'trustSlug'
>;

const BATCH = 100;

interface Subject {
  readonly kind: Plan['refusals'][number]['kind'];
  readonly name: string;
  readonly trust: Trust;
  readonly overridden: readonly string[];
  /** What the subject is, or is deployed from. */
  readonly of: 'template' | 'application';
}

const catalogRow = z.object({ key: z.string(), name: z.string(), signed: z.unknown(), updated_at: z.string() });
const deploymentRow = z.object({
  key: z.string(),
  template_id: z.string().nullable(),
  trust: storedEvidence.nullable(),
  overridden: z.array(z.string()),
  labels: z.record(z.string(), z.string()).nullable(),
  is_part: z.boolean(),
  /** The application of the catalog of which it is a part; null: it is no part of one. */
  catalog_id: z.string().nullable(),
  application_trust: storedEvidence.nullable(),
});

/**
 * What a policy would refuse to operators if it required trust: the templates and applications of the mirror, and the present revisions of
 * deployments. At most `MAX_PLANNED_SUBJECTS` of each are examined. Other work of the process runs between two of them.
 */
export async function planPolicy(client: Client, given: TrustPolicy): Promise<Plan> {
  const policy = { ...given, mode: 'require' };
  const publishers = await readPublishers(client);
  const tally = createTally(policy);
  for await (const subject of templatesOf(client, policy, publishers)) tally.add(subject);
  for await (const subject of applicationsOf(client, policy, publishers)) tally.add(subject);
  for await (const subject of deploymentsOf(client, policy, publishers)) tally.add(subject);
  return tally.plan();
}

function createTally(policy: TrustPolicy) {
  const counts = {
    template: { total: 0, refused: 0 },
    application: { total: 0, refused: 0 },
    deployment: { total: 0, refused: 0 },
  };
  const reasons = new Map<string, Plan['reasons'][number]>();
  const refusals: Plan['refusals'] = [];
  return {
    add: ({ kind, name, trust, overridden, of }: Subject) => {
      counts[kind].total += 1;
      const [refusal] = refusalsOf(trust, policy, { isAdmin: false, overridden, subject: of });
      if (!refusal) return;
      counts[kind].refused += 1;
      const reason = trust.reason ?? refusal.code;
      const tallied = reasons.get(reason) ?? { reason, templates: 0, applications: 0, deployments: 0 };
      tallied[`${kind}s`] += 1;
      reasons.set(reason, tallied);
      if (refusals.length < MAX_PLANNED_REFUSALS) refusals.push({ kind, name, reason, message: refusal.message });
    },
    plan: (): Plan => ({
      templates: counts.template,
      applications: counts.application,
      deployments: counts.deployment,
      reasons: [...reasons.values()].sort((one, other) => (one.reason < other.reason ? -1 : 1)),
      refusals,
    }),
  };
}

async function* templatesOf(client: Client, policy: TrustPolicy, publishers: readonly NamedPublisher[]) {
  const read = (after: string) => client.$queryRaw<unknown[]>`
    SELECT sort_name || ' ' || id AS key, slug AS name, signed, document->>'updated_at' AS updated_at
    FROM catalog_templates WHERE sort_name || ' ' || id > ${after} ORDER BY 1 LIMIT ${BATCH}`;
  for await (const { name, signed, updated_at } of rowsOf(catalogRow, read)) {
    const trust = await judge(presentEvidence(signed, updated_at), judged(client, policy, publishers));
    yield { kind: 'template' as const, of: 'template' as const, name, trust, overridden: [] };
  }
}

async function* applicationsOf(client: Client, policy: TrustPolicy, publishers: readonly NamedPublisher[]) {
  const read = (after: string) => client.$queryRaw<unknown[]>`
    SELECT sort_name || ' ' || id AS key, slug AS name, signed, document->>'updated_at' AS updated_at
    FROM catalog_applications WHERE sort_name || ' ' || id > ${after} ORDER BY 1 LIMIT ${BATCH}`;
  const kind = signedApplications;
  for await (const { name, signed, updated_at } of rowsOf(catalogRow, read)) {
    const trust = await judge(presentEvidence(signed, updated_at), { ...judged(client, policy, publishers), kind });
    yield { kind: 'application' as const, of: 'application' as const, name, trust, overridden: [] };
  }
}

/** Deployments on targets to which the policy applies. */
async function* deploymentsOf(client: Client, policy: TrustPolicy, publishers: readonly NamedPublisher[]) {
  const read = (after: string) => client.$queryRaw<unknown[]>`
    SELECT d.name AS key, v.template_id, v.trust, ARRAY(SELECT jsonb_object_keys(v.overrides)) AS overridden,
      coalesce(h.labels, c.labels) AS labels, d.application_id IS NOT NULL AS is_part, s.catalog_id,
      CASE WHEN s.catalog_id IS NOT NULL THEN s.trust END AS application_trust
    FROM deployments d JOIN workload_revisions v ON v.workload_id = d.workload_id AND v.revision = d.revision
    LEFT JOIN applications a ON a.id = d.application_id
    LEFT JOIN application_generations g ON g.application_id = a.id AND g.generation = a.generation
    LEFT JOIN application_specs s ON s.application_id = a.id AND s.spec_version = g.spec_version
    LEFT JOIN hosts h ON h.id = d.host_id LEFT JOIN clusters c ON c.id = d.cluster_id
    WHERE d.name > ${after} AND NOT d.deleting ORDER BY d.name LIMIT ${BATCH}`;
  for await (const row of rowsOf(deploymentRow, read)) {
    if (row.labels && !hasLabels(row.labels, policy)) continue;
    const trust = await judgeDeployment(row, judged(client, policy, publishers));
    const of = row.is_part ? ('application' as const) : ('template' as const);
    yield { kind: 'deployment' as const, of, name: row.key, trust, overridden: row.is_part ? [] : row.overridden };
  }
}

async function judgeDeployment(
  { is_part, template_id, trust, catalog_id, application_trust }: z.output<typeof deploymentRow>,
  given: ReturnType<typeof judged>,
): Promise<Trust> {
  if (is_part && catalog_id !== null) return judge(application_trust, { ...given, kind: signedApplications });
  return template_id === null ? BY_HAND : judge(trust, given);
}

const judged = (client: Client, policy: TrustPolicy, publishers: readonly NamedPublisher[]) => ({
  policy,
  publishers,
  now: new Date(),
  historyOf: (key: string) => readHistory(client, key, { lock: false }),
});

/** The rows of a query in parts, in the order of their keys. */
async function* rowsOf<T extends { readonly key: string }>(
  row: z.ZodType<T>,
  read: (after: string) => Promise<unknown[]>,
) {
  let after = '';
  for (let count = 0; count < MAX_PLANNED_SUBJECTS; count += BATCH) {
    const rows = (await read(after)).map((each) => row.parse(each));
    for (const each of rows) {
      await setImmediate();
      yield each;
    }
    after = rows.at(-1)?.key ?? after;
    if (rows.length < BATCH) return;
  }
}
