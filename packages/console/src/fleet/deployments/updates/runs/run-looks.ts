import { href } from '../../../../shared/routing/href.ts';
import { t } from '../../../../shared/texts/texts.ts';
import { looks, type StatusLook } from '../../../../shared/ui/display/Status.tsx';
import type { FleetOutput } from '../../../api.ts';

export type UpdateRun = FleetOutput<'listUpdateRuns'>['runs'][number];
export type RunItem = FleetOutput<'getUpdateRun'>['run']['items'][number];

export const runLooks: Readonly<Record<UpdateRun['state'], StatusLook>> = {
  running: looks.moving(t('In progress')),
  completed: looks.good(t('Completed')),
  stopped: looks.bad(t('Stopped after failures')),
  cancelled: looks.stopped(t('Cancelled')),
};

/** How the update of a deployment in a run looks, in the order in which they need attention. */
export const itemLooks: Readonly<Record<RunItem['state'], StatusLook>> = {
  failed: looks.bad(t('Failed')),
  updating: looks.moving(t('Updating')),
  waiting: looks.waiting(t('Waiting')),
  succeeded: looks.good(t('Updated')),
  skipped: looks.off(t('Not updated')),
};

/** Whether the states of a run can still change. */
export const isOpen = ({ state, counts }: Pick<UpdateRun, 'state' | 'counts'>): boolean =>
  state === 'running' || counts.updating > 0;

/** The page of the deployment or application of an item, and what identifies it. */
export const pageOfItem = ({ deployment_id, application_id }: Pick<RunItem, 'deployment_id' | 'application_id'>) =>
  deployment_id === null
    ? { id: application_id ?? '', page: href('/applications/:id', { id: application_id ?? '' }) }
    : { id: deployment_id, page: href('/deployments/:id', { id: deployment_id }) };

/** Which deployments and applications a run is about. */
export function wordsOfSelection({ selection: { template, application, label }, counts }: UpdateRun): string {
  if (template !== null) return t('Template {template}', { template });
  if (application !== null) return t('Application {application}', { application });
  if (label !== null) return t('Label {value}', { value: label });
  return t('{count, plural, one {# chosen deployment} other {# chosen deployments}}', { count: sizeOf(counts) });
}

/** The number of deployments of a run. */
export const sizeOf = (counts: UpdateRun['counts']): number =>
  Object.values(counts).reduce((sum, each) => sum + each, 0);
