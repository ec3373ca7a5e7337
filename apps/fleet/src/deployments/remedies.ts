import { isReason, type Reason } from '../engines/errors.ts';

const CORRECT_PROGRAM = 'Read the log of the instance, and correct the workload or its variables.';

/** What to do about a reason on a cluster, whose message states the cause. `path` is that of the deployment in the API. */
const REMEDIES: Readonly<Partial<Record<Reason, (path: string) => string>>> = {
  ImageNotFound: () => 'Correct the name or the tag of the image in the workload, or give it a pull secret.',
  ImagePullFailed: () => 'The nodes try again by themselves: correct the cause there, or the image in the workload.',
  AuthFailed: () =>
    'If this is about the image, give the workload a valid pull secret. Otherwise correct the credentials or the permissions of the fleet in the cluster.',
  CrashLoop: () => CORRECT_PROGRAM,
  JobFailed: () => CORRECT_PROGRAM,
  Exited: () => 'A service must keep running: read the log of the instance, or let the workload be a job.',
  OOMKilled: () => 'Give the workload more memory, or let the program use less.',
  Unschedulable: () =>
    'Free or add capacity, correct a storage class that does not exist, or reduce what the workload requires.',
  DeadlineExceeded: () =>
    'Read the log and the events of the instances, correct the workload, and restart the deployment.',
  FieldConflict: (path) => `Stop the other manager, or take over the fields: PUT ${path} with {"take_over": true}.`,
  NameConflict: () => 'Delete or rename the other object in the cluster.',
  InvalidSpec: () => 'Correct the workload, or the policy or setting of the cluster.',
  EngineError: () => 'The fleet tries again by itself: correct the cause in the cluster.',
};

interface Troubled {
  readonly id: string;
  readonly phase: string;
  readonly reason: string | null;
}

/** What to do about the phase of a deployment on a cluster; undefined if there is nothing to do, or if the message states it. */
export function remedyOf({ id, phase, reason }: Troubled): string | undefined {
  const remedy = reason !== null && isReason(reason) ? REMEDIES[reason] : undefined;
  if (remedy) return remedy(`/api/v1/deployments/${id}`);
  if (phase !== 'degraded' || reason !== null) return undefined;
  return 'Read the log and the events of its instances, and check its nodes and its health check.';
}
