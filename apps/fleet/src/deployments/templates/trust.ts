import { type Trust, workloadMembers } from '@svc/contract/fleet';
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

/** What the fleet knows about who signed what a draft runs, and the reasons of the policy against it. */
interface Examined {
  readonly verdict: Trust;
  readonly refusals: readonly Refusal[];
}

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

const copyRow = z.object({ trust: storedEvidence.nullable(), overridden: z.array(z.string()), has_run: z.boolean() });

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
  readonly target: Draft['target'];
  readonly trusted: Trusted;
}

/**
 * Verifies what a draft runs with the present keys. A failure refuses a deployment that begins to run a revision, or another image of
 * it, on targets to which the policy applies. Everything else continues: scaling, stopping, restarting, and returning to what has run.
 */
export async function examineTrust(
  transaction: Transaction,
  draft: Draft,
  { principal, target, trusted }: Asked,
): Promise<Examined> {
  const policy = await trusted.policy();
  if (policy.mode === 'off') return { verdict: OFF, refusals: [] };
  const { workload } = draft;
  const copy = await readCopy(transaction, draft);
  const evidence = workload.evidence === undefined ? copy.trust : workload.evidence;
  const verdict =
    workload.templateId === null
      ? BY_HAND
      : await judge(evidence, {
          policy,
          publishers: await trusted.publishers(),
          now: new Date(),
          historyOf: (slug) => readHistory(transaction, slug, { lock: false }),
        });
  const begins = !copy.has_run && (draft.isNewRevision || draft.desiredState === 'running');
  if (policy.mode !== 'require' || !begins) return { verdict, refusals: [] };
  if (!(await applies(transaction, policy, target))) return { verdict, refusals: [] };
  const isAdmin = principal !== undefined && 'role' in principal && principal.role === 'admin';
  return {
    verdict,
    refusals: refusalsOf(verdict, policy, { isAdmin, overridden: workload.overridden ?? copy.overridden }),
  };
}

interface Given {
  readonly isAdmin: boolean;
  /** The members of the template that the workload sets itself. */
  readonly overridden: readonly string[];
}

/** The reasons of a policy that requires trust against what would run. */
export function refusalsOf(
  verdict: Trust,
  { by_hand, overrides }: TrustPolicy,
  { isAdmin, overridden }: Given,
): Refusal[] {
  if (verdict.state === 'by_hand') {
    if (by_hand === 'allow' || (by_hand === 'admin' && isAdmin)) return [];
    const who = by_hand === 'admin' ? 'Only an admin can deploy it' : 'It must be deployed from a template';
    return [{ code: 'by_hand_refused', path: 'workload', message: `was made without a template. ${who}` }];
  }
  const untrusted: Refusal[] =
    verdict.state === 'untrusted'
      ? [
          {
            code: 'template_untrusted',
            path: 'template',
            message: `is not trusted (${verdict.reason}): ${verdict.message}`,
          },
        ]
      : [];
  const program = overridden.filter((name) => PROGRAM.includes(name));
  if (program.length === 0 || overrides === 'any' || (overrides === 'admin' && isAdmin)) return untrusted;
  const who = overrides === 'admin' ? 'only an admin can deploy that' : 'use the values of the template';
  const message = `sets ${program.join(', ')}, which the publisher has signed otherwise; ${who}`;
  return [...untrusted, { code: 'override_refused', path: 'workload', message }];
}

/**
 * What is stored about the revision of a draft, and whether the deployment was requested to run it with the image of the draft. A generation
 * that was stopped from the start, as an adoption stores it, has run nothing.
 */
async function readCopy(
  transaction: Transaction,
  { id, workload, imageDigest }: Draft,
): Promise<z.output<typeof copyRow>> {
  const [row] = await transaction.$queryRaw<unknown[]>`
    SELECT v.trust, ARRAY(SELECT jsonb_object_keys(v.overrides)) AS overridden, EXISTS (
        SELECT FROM deployment_revisions d
        WHERE d.deployment_id = ${id}::uuid AND d.revision = v.revision AND d.desired_state = 'running'
          AND (${imageDigest}::text IS NULL OR ${imageDigest} IN (d.requested_digest, d.image_digest))) AS has_run
    FROM workload_revisions v
    WHERE v.workload_id = ${workload.workloadId}::uuid AND v.revision = ${workload.revision}`;
  return row === undefined ? { trust: null, overridden: [], has_run: false } : copyRow.parse(row);
}

/** Whether a target has the labels of the targets to which a policy applies. */
export const hasLabels = (labels: Readonly<Record<string, string>>, { targets }: TrustPolicy): boolean =>
  Object.entries(targets ?? {}).every(([key, value]) => labels[key] === value);

/** Whether a policy applies to a target: by labels that admins of the fleet set. Without a target, it applies. */
async function applies(transaction: Transaction, policy: TrustPolicy, target: Draft['target']): Promise<boolean> {
  if (policy.targets === null || target === null) return true;
  const where = { id: target.id };
  const select = { labels: true };
  const row =
    target.kind === 'host'
      ? await transaction.host.findUnique({ where, select })
      : await transaction.cluster.findUnique({ where, select });
  const labels = z.record(z.string(), z.string()).parse(row?.labels ?? {});
  return hasLabels(labels, policy);
}
