import type { Target, WorkloadSpec } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../generated/prisma/client.ts';
import { targetOf } from '../resources/targets.ts';
import { type RevisionBase, secretNamesOf, specOf } from '../resources/workloads.ts';
import type { DeploymentRow } from './rows.ts';

/** The part of a revision of a workload that a deployment needs. */
export interface WorkloadRevision {
  readonly workloadId: string;
  readonly revision: number;
  readonly spec: WorkloadSpec;
  readonly minTier: string | null;
  readonly secretNames: readonly string[];
}

/** The volume that a mount requests: an existing one by its id, or a new one with a size. */
export interface VolumeRequest {
  readonly size?: string | undefined;
  readonly storage_id?: string | undefined;
}

/** A requested deployment, or a deployment with its requested changes, before the decision whether it is accepted. */
export interface Draft {
  readonly id: string;
  readonly name: string;
  readonly workload: WorkloadRevision;
  /**
   * Whether the request selects a revision. The tier of the organization is checked only then: running deployments
   * continue.
   */
  readonly isNewRevision: boolean;
  readonly replicas: number;
  readonly env: Readonly<Record<string, string>>;
  readonly volumes: Readonly<Record<string, VolumeRequest>>;
  readonly target: Target | null;
  readonly desiredState: 'running' | 'stopped';
}

interface DraftChanges extends Partial<Pick<Draft, 'isNewRevision' | 'replicas' | 'env' | 'volumes' | 'desiredState'>> {
  readonly workload: WorkloadRevision;
}

/** An existing deployment with the requested changes. It keeps its target. */
export const draftOf = (row: DeploymentRow, changes: DraftChanges): Draft => ({
  id: row.id,
  name: row.name,
  isNewRevision: false,
  replicas: row.replicas,
  env: row.env,
  volumes: {},
  target: targetOf(row),
  desiredState: row.desired_state,
  ...changes,
});

type Reader = Pick<Prisma.TransactionClient, 'workload' | 'workloadRevision'>;

/** A revision of a workload; the latest if none is given. @throws 422 if the workload or the revision does not exist */
export async function readWorkloadRevision(
  reader: Reader,
  workloadId: string,
  revision: number | undefined,
): Promise<WorkloadRevision> {
  const workload = await reader.workload.findUnique({ where: { id: workloadId } });
  if (!workload) throw unknownWorkload('workload_id', `The workload ${workloadId} does not exist.`);
  const number = revision ?? workload.revision;
  const where = { workload_id_revision: { workload_id: workloadId, revision: number } };
  const found = number > workload.revision ? null : await reader.workloadRevision.findUnique({ where });
  if (!found)
    throw unknownWorkload('revision', `The workload ${workload.name} has revisions 1 to ${workload.revision}.`);
  return {
    workloadId,
    revision: number,
    spec: specOf(found.spec),
    minTier: found.min_tier,
    secretNames: found.secret_names,
  };
}

const unknownWorkload = (path: string, message: string) =>
  new Problem('unknown_workload', message, { errors: [{ path, message }] });

/** The first revision of a workload that is to be created from a template. */
export const newWorkloadRevision = ({ spec, min_tier }: RevisionBase): WorkloadRevision => ({
  workloadId: uuidv7(),
  revision: 1,
  spec,
  minTier: min_tier,
  secretNames: secretNamesOf(spec),
});
