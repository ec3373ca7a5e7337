import {
  type ApplicationUpdates,
  type ApplicationUpdatesInput,
  applicationUpdatesReply,
  NEW_UPDATES,
} from '@svc/contract/fleet';
import type { z } from 'zod';
import { changedPolicy } from '../../deployments/updates/policy.ts';

/** The policy of an application as its row stores it. That of an application from before it had one is empty. */
export const storedApplicationUpdates = applicationUpdatesReply.partial();

interface Row {
  readonly updates: z.output<typeof storedApplicationUpdates>;
}

/** The policy of an application. */
export function policyOfApplication({ updates }: Row): ApplicationUpdates {
  const { from = 'manual', window = NEW_UPDATES.window } = updates;
  const { ready_seconds = NEW_UPDATES.ready_seconds, deadline_seconds = NEW_UPDATES.deadline_seconds } = updates;
  return { from, window, ready_seconds, deadline_seconds };
}

/** The policy after a change, under the rules for deployments. @throws 400 */
export function changedApplicationPolicy(
  before: ApplicationUpdates,
  { from = before.from, ...given }: ApplicationUpdatesInput = {},
): ApplicationUpdates {
  const { window, ready_seconds, deadline_seconds } = changedPolicy(
    { ...NEW_UPDATES, ...before, from: 'manual' },
    given,
  );
  return { from, window, ready_seconds, deadline_seconds };
}

/** The policy of a new application. @throws 400 */
export const newApplicationPolicy = (given?: ApplicationUpdatesInput): ApplicationUpdates =>
  changedApplicationPolicy(policyOfApplication({ updates: {} }), given);
