import { expect, test } from '@jest/globals';
import { weekdays as daysOfContract, fleetEndpoints, MAX_RUN_ITEMS, NEW_UPDATES } from '@svc/contract/fleet';
import {
  applicationPolicyChanges,
  NEW_POLICY,
  type PolicyDraft,
  policyChanges,
  policyDraftOf,
  policyOfApplication,
  weekdays,
} from '../src/fleet/deployments/updates/policy/policy-draft.ts';
import {
  chosenOf,
  MAX_DEPLOYMENTS,
  ownFilterOf,
  type SelectionParameters,
  selectionParameters,
} from '../src/fleet/deployments/updates/runs/run-selection.ts';

test('what the console states about updates is what the contract states', () => {
  expect(NEW_POLICY).toEqual(NEW_UPDATES);
  expect(weekdays).toEqual(daysOfContract);
  expect(MAX_DEPLOYMENTS).toBe(MAX_RUN_ITEMS);
  const { chosen: _, ...filters } = Object.fromEntries(selectionParameters.map((name) => [name, '']));
  expect(Object.keys(fleetEndpoints.listDeployments.query.shape)).toEqual(
    expect.arrayContaining([...Object.keys(filters), 'update']),
  );
});

const draft = (given: Partial<PolicyDraft> = {}): PolicyDraft => ({ ...policyDraftOf(NEW_POLICY), ...given });

test('a policy that is not changed is not sent, so that a deployment of an earlier version keeps its behavior', () => {
  expect(policyChanges(NEW_POLICY, draft())).toBeUndefined();
  const stored = { ...NEW_POLICY, from: 'template' as const, window: aWindow };
  expect(policyChanges(stored, policyDraftOf(stored))).toBeUndefined();
});

const aWindow = {
  days: ['sun' as const, 'mon' as const],
  start: '22:00',
  end: '04:00',
  time_zone: 'Europe/Berlin',
};

test('only what is changed is sent, with a window only for automatic updates', () => {
  expect(policyChanges(NEW_POLICY, draft({ ready: '30', order: 'stop_first' }))).toEqual({
    ready_seconds: 30,
    order: 'stop_first',
  });
  expect(policyChanges(NEW_POLICY, draft({ hasWindow: true }))).toBeUndefined();
  const window = { days: ['sun', 'mon'], start: '22:00', end: '04:00', zone: 'Europe/Berlin' } as const;
  expect(policyChanges(NEW_POLICY, draft({ from: 'template', hasWindow: true, ...window }))).toEqual({
    from: 'template',
    window: { ...aWindow, days: ['mon', 'sun'] },
  });
  const automatic = { ...NEW_POLICY, from: 'template' as const, window: aWindow };
  expect(policyChanges(automatic, { ...policyDraftOf(automatic), from: 'manual' })).toEqual({
    from: 'manual',
    window: null,
  });
});

test('the policy of an application has what follows a failure beside it, and only what is changed is sent', () => {
  const updates = { from: 'application' as const, window: aWindow, ready_seconds: 10, deadline_seconds: 1800 };
  const before = policyOfApplication({ updates, on_failure: 'stop' });
  expect(applicationPolicyChanges(before, policyDraftOf(before))).toEqual({});
  const changed = { ...policyDraftOf(before), from: 'manual' as const, onFailure: 'auto' as const, deadline: '60' };
  const body = applicationPolicyChanges(before, changed);
  expect(body).toEqual({
    updates: { from: 'manual', window: null, deadline_seconds: 60 },
    on_failure: 'auto',
  });
  expect(fleetEndpoints.updateApplication.body.safeParse(body).error).toBeUndefined();
});

/** No filter. Each parameter of a selection is a text. */
const nothing = Object.fromEntries(selectionParameters.map((name) => [name, ''])) as SelectionParameters;

test('the service selects by one template or by labels, and other filters select ids', () => {
  expect(ownFilterOf({ ...nothing, template: 'postgres' })).toEqual({ template: 'postgres' });
  expect(ownFilterOf({ ...nothing, label: 'team=ml,gpu' })).toEqual({ label: 'team=ml,gpu' });
  for (const others of [{}, { template: 'a,b' }, { template: 'a', label: 'b' }, { template: 'a', phase: 'running' }])
    expect(ownFilterOf({ ...nothing, ...others })).toBeUndefined();
});

test('a run has at most as many chosen deployments as allowed', () => {
  expect(chosenOf(nothing)).toBeUndefined();
  expect(chosenOf({ ...nothing, chosen: 'a,b' })).toEqual(['a', 'b']);
  const many = Array.from({ length: MAX_DEPLOYMENTS + 1 }, (_, index) => `${index}`).join(',');
  expect(chosenOf({ ...nothing, chosen: many })).toHaveLength(MAX_DEPLOYMENTS);
});
