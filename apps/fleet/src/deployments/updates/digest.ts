import { createHash } from 'node:crypto';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { StoredEnv } from '../../render/env.ts';
import type { Decision } from '../decision.ts';
import { type Draft, runSpecOf } from '../draft.ts';
import type { DeploymentRow } from '../rows.ts';

/** A value as JSON whose text does not depend on the order of the members of objects. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );

/** The SHA-256 of a value as canonical JSON, in hexadecimal digits. */
export const sha256 = (value: unknown): string => createHash('sha256').update(canonical(value)).digest('hex');

/**
 * The digest of a planned change of a deployment. It covers the state of the deployment before, and what the change
 * requests, but no ids that are generated for it: the same change of the same deployment has the same digest.
 */
export function digestOfPlan(before: DeploymentRow, draft: Draft): string {
  const { workload, env, hostPorts, labels, target, replicas, autoscaling, scaledBy, volumes, acceptedLosses } = draft;
  const { desiredState, pull, defaultsVersion, defaultLimits } = draft;
  return sha256({
    deployment: [before.id, before.version, before.generation],
    workload: [workload.revision, runSpecOf(draft), workload.templateId, workload.minTier],
    env: withoutNewIds(env, before.env),
    ...(Object.keys(hostPorts).length > 0 && { host_ports: hostPorts }),
    scaling: [replicas, autoscaling, scaledBy],
    volumes: [volumes, acceptedLosses],
    rest: [labels, target, desiredState, pull, defaultsVersion, defaultLimits],
  });
}

/** The variables, without the ids of values that are still to be generated. */
const withoutNewIds = (env: StoredEnv, before: StoredEnv) =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      const stored = Object.hasOwn(before, name) ? before[name] : undefined;
      const isKept = typeof stored === 'object' && 'id' in stored && typeof value === 'object' && 'id' in value;
      if (typeof value !== 'object' || !('generate' in value) || (isKept && stored.id === value.id))
        return [name, value];
      return [name, { generate: value.generate }];
    }),
  );

/**
 * Identifies what a deployment runs: the specification with the digest that it requests, the variables with the ids of sealed values, and the versions of secrets.
 * Generations with the same fingerprint differ only in what does not concern the program.
 */
export const fingerprintOf = ({ draft, secrets }: Pick<Decision, 'draft' | 'secrets'>): string =>
  sha256({
    spec: runSpecOf(draft),
    env: draft.env,
    secrets: secrets.map(({ name, version }) => `${name}=${version}`).sort(),
  });

/** A generation that has failed. */
interface FailedBefore {
  readonly generation: number;
  readonly reason: string;
  readonly message: string;
  readonly at: Date;
}

/** The last generation of a deployment with a fingerprint that has failed; undefined if none has. */
export async function failedBefore(
  transaction: Pick<Prisma.TransactionClient, 'deploymentRevision'>,
  deploymentId: string,
  fingerprint: string,
): Promise<FailedBefore | undefined> {
  const found = await transaction.deploymentRevision.findFirst({
    where: { deployment_id: deploymentId, fingerprint, outcome: 'failed' },
    orderBy: { generation: 'desc' },
    select: { generation: true, outcome_reason: true, outcome_at: true },
  });
  if (!found) return undefined;
  const { generation, outcome_reason, outcome_at } = found;
  const reason = outcome_reason ?? 'Failed';
  const at = outcome_at ?? new Date(0);
  const message = `Generation ${generation} with the same configuration failed on ${at.toISOString().slice(0, 10)} (${reason}).`;
  return { generation, reason, message, at };
}
