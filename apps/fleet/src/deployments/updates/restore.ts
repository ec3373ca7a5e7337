import { isDeepStrictEqual } from 'node:util';
import { Problem } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import { limitsOfColumns } from '../../render/defaults.ts';
import { storedEnv } from '../../render/env.ts';
import { nextVersion } from '../../resources/kind.ts';
import type { DeploymentChange } from '../changes.ts';
import { isSameEnv } from '../env.ts';
import { DUE_NOW } from '../generations.ts';
import { storedHostPorts } from '../host-ports/stored.ts';
import type { DeploymentRow } from '../rows.ts';
import { storedForm } from './restored.ts';
import { isOpen, presentRollout, type StoredRollout } from './rollout.ts';

type Transaction = Prisma.TransactionClient;

/** The change that restores the last good generation; undefined if there is none, or if it has the same configuration. */
export async function changeToGood(
  transaction: Transaction,
  row: DeploymentRow,
  why: string,
): Promise<DeploymentChange | undefined> {
  const { generation, good_generation: good } = row;
  if (good === null || good === generation) return undefined;
  const message = `returned to generation ${good}: generation ${generation} ${why}`;
  return changeToGeneration(transaction, row, { generation: good, message, isReturn: true });
}

interface Restoring {
  readonly generation: number;
  readonly message: string;
  /** Whether the present generation has failed, so that the one that is restored is not returned from again. */
  readonly isReturn: boolean;
}

/** The change that restores an earlier generation in its form; undefined if there is none, or if it has the same configuration. */
export async function changeToGeneration(
  transaction: Transaction,
  row: DeploymentRow,
  { generation, message, isReturn }: Restoring,
): Promise<DeploymentChange | undefined> {
  const { id } = row;
  const found = await transaction.deploymentRevision.findUnique({
    where: { deployment_id_generation: { deployment_id: id, generation } },
  });
  if (!found) return undefined;
  const env = storedEnv.parse(found.env);
  const hostPorts = storedHostPorts.parse(found.host_ports);
  const isSame =
    found.revision === row.revision &&
    found.requested_digest === row.requested_digest &&
    isDeepStrictEqual(hostPorts, row.host_ports);
  if (isSame && isSameEnv(env, row.env)) return undefined;
  const form = found.rendered === null ? undefined : storedForm.parse(found.rendered);
  return {
    operation: 'rollback',
    message,
    revision: found.revision,
    replicas: found.replicas,
    recordedEnv: env,
    hostPorts,
    imageDigest: found.requested_digest,
    isRollback: true,
    ...(isReturn && {
      restores: {
        failedGeneration: row.generation,
        form: form && {
          defaultsVersion: form.defaults_version,
          defaultLimits: limitsOfColumns(form),
          podSettings: form.pod_settings,
        },
        restartedAt: form?.restarted_at ? new Date(form.restarted_at) : row.restarted_at,
        hostImage: form?.host_image ?? null,
      },
    }),
  };
}

/**
 * The change with which a caller ends a rollout and restores the last good generation.
 * @throws 409 without a rollout that can be aborted, or without a generation to restore
 */
export async function abortedRollout(transaction: Transaction, row: DeploymentRow): Promise<DeploymentChange> {
  const rollout = presentRollout(row);
  if (!rollout || !isOpen(rollout)) throw noRollout(row, 'has no rollout in progress, and none that is held');
  const change = rollout.failed_generation === null ? await changeToGood(transaction, row, 'was aborted') : undefined;
  if (!change) {
    const detail = `Nothing was changed: no other generation of the deployment ${row.name} is known to be good.`;
    throw new Problem('nothing_to_restore', detail);
  }
  await recordOutcome(transaction, row, { outcome: 'failed', outcome_reason: 'Aborted', outcome_at: new Date() });
  return change;
}

/** Continues a rollout that is held with the next pass, with crashes and time from 0. */
export async function resumeHeld(transaction: Transaction, row: DeploymentRow, held: StoredRollout): Promise<void> {
  const rollout = { ...held, state: 'progressing' as const, restarts: 0, reason: null, message: '' };
  await recordOutcome(transaction, row, { outcome: null, outcome_reason: null, outcome_at: null });
  await transaction.deployment.update({
    where: { id: row.id },
    data: { rollout, rollout_elapsed_ms: 0, rollout_observed_at: null, ...DUE_NOW, ...nextVersion() },
  });
}

/** Records how the rollout of the present generation has ended, or that it continues. */
const recordOutcome = (
  transaction: Transaction,
  { id, generation }: Pick<DeploymentRow, 'id' | 'generation'>,
  data: Pick<Prisma.DeploymentRevisionUncheckedUpdateManyInput, 'outcome' | 'outcome_reason' | 'outcome_at'>,
) => transaction.deploymentRevision.updateMany({ where: { deployment_id: id, generation }, data });

export const noRollout = ({ name }: DeploymentRow, what: string) =>
  new Problem('no_rollout', `Nothing was changed: the deployment ${name} ${what}.`);
