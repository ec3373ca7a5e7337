import { NEW_UPDATES, type Updates, type UpdatesInput, updatesReply } from '@svc/contract/fleet';
import { invalid, pickDefined } from '@svc/http';
import type { z } from 'zod';
import { problemsOfWindow } from './window.ts';

/** The policy of a deployment as its row stores it. That of a deployment from before 0.3.0 is empty. */
export const storedUpdates = updatesReply.partial();

interface Row {
  readonly updates: z.output<typeof storedUpdates>;
  readonly cluster_id: string | null;
}

/**
 * The policy of a deployment. One from before 0.3.0 keeps its behavior: on a host, the old instance ends first; on a cluster, that
 * depends on its volumes and GPUs; and a rollout that fails stays as it is.
 */
export const policyOf = ({ updates, cluster_id }: Row): Updates => ({
  ...NEW_UPDATES,
  order: cluster_id === null ? 'stop_first' : 'auto',
  on_failure: 'stop',
  ...pickDefined(updates, MEMBERS),
});

const MEMBERS = ['from', 'window', 'order', 'ready_seconds', 'deadline_seconds', 'on_failure'] as const;

/**
 * The policy after a change.
 * @throws 400 if the deadline is before the end of the time in which instances must be ready, and for a window that is never open
 */
export function changedPolicy(before: Updates, given: UpdatesInput | undefined): Updates {
  const after = { ...before, ...pickDefined(given ?? {}, MEMBERS) };
  const errors = [...problemsOfDeadline(after), ...(given?.window ? problemsOfWindow(given.window) : [])];
  if (errors.length > 0) throw invalid(errors);
  return after;
}

function problemsOfDeadline({ deadline_seconds, ready_seconds }: Updates) {
  if (deadline_seconds > ready_seconds) return [];
  const message = `must be more than the ${ready_seconds} seconds for which instances must be ready`;
  return [{ path: 'updates.deadline_seconds', message }];
}
