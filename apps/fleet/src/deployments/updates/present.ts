import type { WorkloadSpec } from '@svc/contract/fleet';
import type { Prisma } from '../../generated/prisma/client.ts';
import { type Draft, readWorkloadRevision } from '../draft.ts';
import { countedReplicas, scalingRow } from '../scaling/scaling.ts';

/** What a deployment runs before a change, with the amounts that are allocated to all its instances together. */
export interface PresentDeployment {
  readonly desired_state: 'running' | 'stopped';
  readonly spec: WorkloadSpec;
  readonly replicas: number;
  readonly extra_instances: number;
  readonly cpu_millis: number;
  readonly memory_bytes: number;
}

/** Reads the deployment that a draft changes; undefined if it does not exist yet, or stops, so that nothing is placed. */
export async function readPresent(
  transaction: Prisma.TransactionClient,
  { id, creates, desiredState }: Pick<Draft, 'id' | 'creates' | 'desiredState'>,
): Promise<PresentDeployment | undefined> {
  if (creates.includes('deployment') || desiredState === 'stopped') return undefined;
  const row = await transaction.deployment.findUnique({ where: { id } });
  if (!row) return undefined;
  const { desired_state, extra_instances } = row;
  const { spec } = await readWorkloadRevision(transaction, row.workload_id, row.revision);
  return {
    ...{ desired_state, spec, extra_instances },
    replicas: countedReplicas(scalingRow.parse(row)),
    cpu_millis: Number(row.cpu_millis),
    memory_bytes: Number(row.memory_bytes),
  };
}
