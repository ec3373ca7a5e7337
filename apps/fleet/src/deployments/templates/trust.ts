import { type Trust, workloadMembers } from '@svc/contract/fleet';
import { applications } from '@svc/trust';
import { z } from 'zod';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Changer } from '../../identity/principal.ts';
import { storedEvidence } from '../../trust/evidence.ts';
import { readHistory } from '../../trust/memory.ts';
import { readPolicy, type TrustPolicy } from '../../trust/policy.ts';
import { type NamedPublisher, readPublishers } from '../../trust/publishers.ts';
import { BY_HAND, judge, OFF } from '../../trust/verdict.ts';
import type { Draft } from '../draft.ts';
import type { Refusal } from '../refusals.ts';

type Transaction = Prisma.TransactionClient;

/** The targets that a policy refuses: all, or those with these ids. */
export type RefusedTargets = 'all' | ReadonlySet<string>;

/** What the fleet knows about who signed what a draft runs, and the reasons of the policy against it. */
interface Examined {
  readonly verdict: Trust;
  readonly refusals: readonly Refusal[];
  /** Where the refusals apply. */
  readonly refusedTargets: RefusedTargets;
}

const NOTHING_REFUSED = { refusals: [], refusedTargets: new Set<string>() };

/** Members that change how much a program gets, and how it is configured, but not which program runs. */
const RESOURCES: readonly string[] = [
  'cpu_request',
  'cpu_limit',
  'memory_request',
  'memory_limit',
  'gpu_count',
  'vram_request',
  'concurrent_jobs',
  'env',
];
const PROGRAM: readonly string[] = workloadMembers.filter((name) => !RESOURCES.includes(name));

const copyRow = z.object({
  trust: storedEvidence.nullable(),
  overridden: z.array(z.string()),
  has_run: z.boolean(),
  /** The copy of an application of the catalog whose part it is; null: it is no part of one. */
  application: z.object({ trust: storedEvidence.nullable() }).nullable(),
});

/** Who signed the application of a part. */
export interface OfApplication {
  readonly verdict: Trust;
  /** By name of the part, what is set for it instead of what its specification states. */
  readonly overrides?: Readonly<Record<string, object>>;
}

/** The policy and the publishers. They are read when they are needed first, and once for all decisions of a plan. */
export interface Trusted {
  readonly policy: () => Promise<TrustPolicy>;
  readonly publishers: () => Promise<readonly NamedPublisher[]>;
}

export function trustedIn(transaction: Transaction): Trusted {
  let policy: Promise<TrustPolicy> | undefined;
  let publishers: Promise<readonly NamedPublisher[]> | undefined;
  return {
    policy: () => (policy ??= readPolicy(transaction)),
    publishers: () => (publishers ??= readPublishers(transaction)),
  };
}

interface Asked {
  readonly principal: Changer | undefined;
  readonly trusted: Trusted;
  readonly ofApplication: OfApplication | undefined;
}

/**
 * Verifies what a draft runs with the present keys. A failure refuses a deployment that begins to run a revision, or another image of
 * it, on targets to which the policy applies. Everything else continues: scaling, stopping, restarting, and returning to what has run.
 * A part of an application is what the publisher of the application has signed.
 */
export async function examineTrust(
  transaction: Transaction,
  draft: Draft,
  { principal, trusted, ofApplication }: Asked,
): Promise<Examined> {
  const policy = await trusted.policy();
  if (policy.mode === 'off') return { verdict: OFF, ...NOTHING_REFUSED };
  const { workload } = draft;
  const copy = await readCopy(transaction, draft);
  const verdict = ofApplication?.verdict ?? (await verdictOf(transaction, draft, { copy, policy, trusted }));
  const begins = !copy.has_run && (draft.isNewRevision || draft.desiredState === 'running');
  if (policy.mode !== 'require' || !begins) return { verdict, ...NOTHING_REFUSED };
  const isOfTemplate = ofApplication === undefined && draft.application === null;
  const refusals = refusalsOf(verdict, policy, {
    isAdmin: isAdmin(principal),
    overridden: isOfTemplate
      ? (workload.overridden ?? copy.overridden)
      : Object.keys(ofApplication?.overrides?.[draft.application?.part ?? ''] ?? {}),
    subject: isOfTemplate ? 'template' : 'application',
  });
  if (refusals.length === 0) return { verdict, ...NOTHING_REFUSED };
  return { verdict, refusals, refusedTargets: await targetsUnder(transaction, policy) };
}

export const isAdmin = (principal: Changer | undefined): boolean =>
  principal !== undefined && 'role' in principal && principal.role === 'admin';

/** Whether refusals apply to a target. Without a target, they apply. */
export const isRefusedOn = (refused: RefusedTargets, target: Draft['target']): boolean =>
  refused === 'all' || target === null || refused.has(target.id);

/** The candidates that a policy does not refuse. */
export const admittedOf = <C extends { readonly id: string }>(candidates: readonly C[], refused: RefusedTargets): C[] =>
  candidates.filter(({ id }) => refused !== 'all' && !refused.has(id));

interface Read {
  readonly copy: z.output<typeof copyRow>;
  readonly policy: TrustPolicy;
  readonly trusted: Trusted;
}

async function verdictOf(
  transaction: Transaction,
  { workload: { evidence, templateId } }: Draft,
  { copy, policy, trusted }: Read,
): Promise<Trust> {
  if (templateId === null && copy.application === null) return BY_HAND;
  const judged = {
    policy,
    publishers: await trusted.publishers(),
    now: new Date(),
    historyOf: (key: string) => readHistory(transaction, key, { lock: false }),
  };
  if (templateId === null) return judge(copy.application?.trust ?? null, { ...judged, kind: applications });
  return judge(evidence === undefined ? copy.trust : evidence, judged);
}

interface Given {
  readonly isAdmin: boolean;
  /** The members of the template that the workload sets itself. */
  readonly overridden: readonly string[];
  /** What is deployed. */
  readonly subject: 'template' | 'application';
}

/** The reasons of a policy that requires trust against what would run. */
export function refusalsOf(
  verdict: Trust,
  { by_hand, overrides }: TrustPolicy,
  { isAdmin, overridden, subject }: Given,
): Refusal[] {
  if (verdict.state === 'by_hand') {
    if (by_hand === 'allow' || (by_hand === 'admin' && isAdmin)) return [];
    const what = subject === 'template' ? 'a template' : 'an application of the catalog';
    const who = by_hand === 'admin' ? 'Only an admin can deploy it' : `It must be deployed from ${what}`;
    const path = subject === 'template' ? 'workload' : 'spec';
    return [{ code: 'by_hand_refused', path, message: `was made without ${what}. ${who}` }];
  }
  const untrusted: Refusal[] =
    verdict.state === 'untrusted'
      ? [
          {
            code: 'template_untrusted',
            path: subject,
            message: `is not trusted (${verdict.reason}): ${verdict.message}`,
          },
        ]
      : [];
  const program = overridden.filter((name) => PROGRAM.includes(name));
  if (program.length === 0 || overrides === 'any' || (overrides === 'admin' && isAdmin)) return untrusted;
  const who = overrides === 'admin' ? 'only an admin can deploy that' : `use the values of the ${subject}`;
  const message = `sets ${program.join(', ')}, which the publisher has signed otherwise; ${who}`;
  return [...untrusted, { code: 'override_refused', path: subject === 'template' ? 'workload' : 'overrides', message }];
}

/**
 * What is stored about the revision of a draft, and whether the deployment was requested to run it with the image of the draft. A generation
 * that was stopped from the start, as an adoption stores it, has run nothing.
 */
async function readCopy(
  transaction: Transaction,
  { id, workload, imageDigest, application }: Draft,
): Promise<z.output<typeof copyRow>> {
  const [row] = await transaction.$queryRaw<unknown[]>`
    SELECT v.trust, ARRAY(SELECT jsonb_object_keys(v.overrides)) AS overridden, EXISTS (
        SELECT FROM deployment_revisions d
        WHERE d.deployment_id = ${id}::uuid AND d.revision = v.revision AND d.desired_state = 'running'
          AND (${imageDigest}::text IS NULL OR ${imageDigest} IN (d.requested_digest, d.image_digest))) AS has_run,
      (SELECT jsonb_build_object('trust', s.trust)
        FROM applications a
        JOIN application_generations g ON g.application_id = a.id AND g.generation = a.generation
        JOIN application_specs s ON s.application_id = a.id AND s.spec_version = g.spec_version
        WHERE a.id = ${application?.id ?? null}::uuid AND s.catalog_id IS NOT NULL) AS application
    FROM workload_revisions v
    WHERE v.workload_id = ${workload.workloadId}::uuid AND v.revision = ${workload.revision}`;
  if (row === undefined) return { trust: null, overridden: [], has_run: false, application: null };
  return copyRow.parse(row);
}

/** Whether a target has the labels of the targets to which a policy applies. */
export const hasLabels = (labels: Readonly<Record<string, string>>, { targets }: TrustPolicy): boolean =>
  Object.entries(targets ?? {}).every(([key, value]) => labels[key] === value);

/** The targets to which a policy applies: by labels that users of the fleet set. */
export async function targetsUnder(transaction: Transaction, { targets }: TrustPolicy): Promise<RefusedTargets> {
  if (targets === null) return 'all';
  const labels = JSON.stringify(targets);
  const rows = await transaction.$queryRaw<{ id: string }[]>`
    SELECT id FROM hosts WHERE labels @> ${labels}::jsonb UNION ALL SELECT id FROM clusters WHERE labels @> ${labels}::jsonb`;
  return new Set(rows.map(({ id }) => id));
}
