import type { UpdatesInput } from '@svc/contract/fleet';
import type { Deployment } from '../../../api.ts';

export type Policy = Deployment['updates'];
export type Weekday = NonNullable<Policy['window']>['days'][number];

/** What a form has for the policy of updates. */
export interface PolicyDraft {
  readonly from: Policy['from'];
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
}: Policy): PolicyDraft {
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

const policyOf = ({ from, order, ready, deadline, onFailure, hasWindow, ...draft }: PolicyDraft): Policy => ({
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

/** The members that a draft changes, as a request has them; undefined if it changes none. Others keep their values. */
export function policyChanges(before: Policy, draft: PolicyDraft): UpdatesInput | undefined {
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const known: Readonly<Record<string, unknown>> = { ...policyOf(policyDraftOf(before)) }; // in the order of a draft
  const changed = Object.entries(policyOf(draft)).filter(([name, value]) => !isSame(value, known[name]));
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
