import { t } from '../../shared/texts/texts.ts';
import { looks, type StatusLook } from '../../shared/ui/display/Status.tsx';
import type { FleetOutput } from '../api.ts';

export type StoredPlan = FleetOutput<'listPlans'>['plans'][number];
export type PlanWithChanges = FleetOutput<'getPlan'>['plan'];
export type PlannedChange = PlanWithChanges['changes'][number];

export const planLooks: Readonly<Record<StoredPlan['state'], StatusLook>> = {
  needs_approval: looks.waiting(t('Waits for approval')),
  ready: looks.waiting(t('Ready to apply')),
  refused: looks.bad(t('Refused')),
  unchanged: looks.neutral(t('Nothing changes')),
  rejected: looks.off(t('Rejected')),
  applied: looks.good(t('Applied')),
  outdated: looks.off(t('Outdated')),
  expired: looks.off(t('Expired')),
};

/** The name of a plan: its title, or its set. */
export const nameOfPlan = ({ title, set }: Pick<StoredPlan, 'title' | 'set'>): string =>
  title === '' ? t('Plan of {set}', { set }) : title;

/** What a plan changes, in words. */
export const wordsOfSummary = ({ summary }: Pick<StoredPlan, 'summary'>): string =>
  t('{created} to create, {changed} to change, {deleted} to delete', {
    created: summary.create,
    changed: summary.change,
    deleted: summary.delete,
  });
