import type { Target, WorkloadSpec } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../generated/prisma/client.ts';
import { targetOf } from '../resources/targets.ts';
import { type Base, secretNamesOf, specOf } from '../resources/workloads.ts';
import type { DeploymentRow } from './rows.ts';

/** A revision of a workload, as far as a deployment needs it. */
export interface Runs {
  readonly workloadId: string;
  readonly revision: number;
  readonly spec: WorkloadSpec;
  readonly minTier: string | null;
  readonly secretNames: readonly string[];
}

/** Which volume a mount is to have: one that is there, or a new one of a size. */
export interface VolumeWish {
  readonly size?: string | undefined;
  readonly storage_id?: string | undefined;
}

/** What a deployment is to be: a new one, or what a change makes of one. Nothing is decided yet. */
export interface Draft {
  readonly id: string;
  readonly name: string;
  readonly runs: Runs;
  /** It asks for a revision anew: the organization must be entitled to it. What runs already goes on. */
  readonly isNewRevision: boolean;
  readonly replicas: number;
  readonly env: Readonly<Record<string, string>>;
  readonly volumes: Readonly<Record<string, VolumeWish>>;
  readonly target: Target | null;
  readonly desired: 'running' | 'stopped';
}

interface Changed extends Partial<Pick<Draft, 'isNewRevision' | 'replicas' | 'env' | 'volumes' | 'desired'>> {
  readonly runs: Runs;
}

/** A deployment as it is, with what is to change of it. It stays where it is. */
export const draftOf = (row: DeploymentRow, changed: Changed): Draft => ({
  id: row.id,
  name: row.name,
  isNewRevision: false,
  replicas: row.replicas,
  env: row.env,
  volumes: {},
  target: targetOf(row),
  desired: row.desired_state,
  ...changed,
});

type Reader = Pick<Prisma.TransactionClient, 'workload' | 'workloadRevision'>;

/** A revision of a workload; the latest unless it is said. @throws 422 where there is none */
export async function runsOf(reader: Reader, workloadId: string, revision: number | undefined): Promise<Runs> {
  const workload = await reader.workload.findUnique({ where: { id: workloadId } });
  if (!workload) throw unknown('workload_id', `There is no workload ${workloadId}.`);
  const wanted = revision ?? workload.revision;
  const where = { workload_id_revision: { workload_id: workloadId, revision: wanted } };
  const found = wanted > workload.revision ? null : await reader.workloadRevision.findUnique({ where });
  if (!found) throw unknown('revision', `The workload ${workload.name} has revisions 1 to ${workload.revision}.`);
  return {
    workloadId,
    revision: wanted,
    spec: specOf(found.spec),
    minTier: found.min_tier,
    secretNames: found.secret_names,
  };
}

const unknown = (path: string, message: string) =>
  new Problem('unknown_workload', message, { errors: [{ path, message }] });

/** What a template says, before a workload is made of it. */
export const runsFrom = ({ spec, min_tier }: Base): Runs => ({
  workloadId: uuidv7(),
  revision: 1,
  spec,
  minTier: min_tier,
  secretNames: secretNamesOf(spec),
});
