import type { ApplicationUpdatesInput, UpdatesInput } from '@svc/contract/fleet';
import type { Application, Deployment } from '../../../api.ts';

/** The policy of a deployment. */
export type Policy = Deployment['updates'];
/** How updates of a deployment or an application begin. */
export type Begin = Policy['from'] | Application['updates']['from'];
/** The policy of a deployment or an application. */
export type AnyPolicy = Omit<Policy, 'from'> & { readonly from: Begin };
export type Weekday = NonNullable<Policy['window']>['days'][number];

/** What a form has for the policy of updates. */
export interface PolicyDraft {
  readonly from: Begin;
  readonly order: Policy['order'];
  readonly ready: string;
  readonly deadline: string;
  readonly onFailure: Policy['on_failure'];
  /** Whether automatic updates begin only in the window. */
  readonly hasWindow: boolean;
  readonly days: readonly Weekday[];
  readonly start: string;
  readonly end: string;
  readonly zone: string;
}

export const weekdays: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** The policy of a new deployment. A browser does not load the contract, which states it. */
export const NEW_POLICY: Policy = {
  from: 'manual',
  window: null,
  order: 'auto',
  ready_seconds: 10,
  deadline_seconds: 1800,
  on_failure: 'auto',
};

/** The window that a form proposes, in the zone of the reader. */
const proposedWindow = (): NonNullable<Policy['window']> => ({
  days: ['sat', 'sun'],
  start: '02:00',
  end: '05:00',
  time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

export function policyDraftOf({
  from,
  window,
  order,
  ready_seconds,
  deadline_seconds,
  on_failure,
}: AnyPolicy): PolicyDraft {
  const { days, start, end, time_zone } = window ?? proposedWindow();
  return {
    from,
    order,
    ready: String(ready_seconds),
    deadline: String(deadline_seconds),
    onFailure: on_failure,
    hasWindow: window !== null,
    days,
    start,
    end,
    zone: time_zone,
  };
}

const policyOf = ({ from, order, ready, deadline, onFailure, hasWindow, ...draft }: PolicyDraft): AnyPolicy => ({
  from,
  window:
    hasWindow && from !== 'manual'
      ? {
          days: weekdays.filter((day) => draft.days.includes(day)),
          start: draft.start,
          end: draft.end,
          time_zone: draft.zone,
        }
      : null,
  order,
  ready_seconds: Number(ready),
  deadline_seconds: Number(deadline),
  on_failure: onFailure,
});

/** The members that a draft changes. Others keep their values. */
function changesOf(before: AnyPolicy, draft: PolicyDraft): Partial<AnyPolicy> {
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const known: Readonly<Record<string, unknown>> = { ...policyOf(policyDraftOf(before)) }; // in the order of a draft
  return Object.fromEntries(Object.entries(policyOf(draft)).filter(([name, value]) => !isSame(value, known[name])));
}

/** What a draft changes, as a request for a deployment has it; undefined if it changes nothing. */
export function policyChanges(before: Policy, draft: PolicyDraft): UpdatesInput | undefined {
  // The form of a deployment offers only what a deployment can follow.
  const changed = changesOf(before, draft) as UpdatesInput;
  return Object.keys(changed).length === 0 ? undefined : changed;
}

/** The policy of an application, and what happens if an upgrade fails. */
type ApplicationPolicy = Pick<Application, 'updates' | 'on_failure'>;

/** An application has no order of instances of its own. */
export const policyOfApplication = ({ updates, on_failure }: ApplicationPolicy): AnyPolicy => ({
  ...NEW_POLICY,
  ...updates,
  on_failure,
});

/** What a draft changes, as a request for an application has it; empty if it changes nothing. */
export function applicationPolicyChanges(
  before: AnyPolicy,
  draft: PolicyDraft,
): { readonly updates?: ApplicationUpdatesInput; readonly on_failure?: AnyPolicy['on_failure'] } {
  const { on_failure, order: _, ...members } = changesOf(before, draft);
  // The form of an application offers only what an application can follow.
  const updates = members as ApplicationUpdatesInput;
  return { ...(Object.keys(updates).length > 0 && { updates }), ...(on_failure !== undefined && { on_failure }) };
}
