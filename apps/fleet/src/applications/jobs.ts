import { isSameEnv } from '../deployments/env.ts';
import type { DeploymentRow } from '../deployments/rows.ts';
import type { CompiledPart } from './decision/compile.ts';

/** A part that is a job, in a change of its application. */
interface ChangedJob {
  readonly part: Pick<CompiledPart, 'spec' | 'env' | 'run'>;
  readonly row: Pick<DeploymentRow, 'env' | 'generation' | 'desired_state'>;
  /** Whether it is to run another specification of a workload. */
  readonly isOther: boolean;
  /** Whether the change leads to another version of the application. */
  readonly isNewVersion: boolean;
  /** The generation of the job that the change restores; undefined if it restores none. */
  readonly restores: number | undefined;
  /** The state of the whole after the change, and whether the change requests it. */
  readonly whole: 'running' | 'stopped';
  readonly isRequested: boolean;
}

/** How a change leaves a job. */
interface JobChange {
  readonly desiredState: 'running' | 'stopped';
  /** Whether it runs again with the same content. */
  readonly restart: boolean;
}

export const isJob = ({ spec }: Pick<CompiledPart, 'spec'>): boolean => spec.kind === 'job';

/**
 * Whether a job runs with a change. It runs again with other content, and one for each version with each new version of the application.
 * A restored generation does not run it: data is not restored, and an earlier migration does not know the later data.
 */
export function changeOfJob({ part, row, restores, whole, ...change }: ChangedJob): JobChange {
  if (whole === 'stopped' || change.isRequested) return { desiredState: whole, restart: false };
  if (restores !== undefined)
    return { desiredState: restores === row.generation ? row.desired_state : 'stopped', restart: false };
  const isDue = change.isNewVersion && part.run === 'each_version';
  const runs = isDue || change.isOther || !isSameEnv(part.env, row.env);
  return { desiredState: runs ? 'running' : row.desired_state, restart: isDue };
}
