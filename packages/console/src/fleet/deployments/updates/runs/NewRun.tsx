import { useMutation, useQuery } from '@tanstack/react-query';
import { CircleArrowUp } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { codeOf, fieldErrorsOf } from '../../../../shared/api/problem.ts';
import { href } from '../../../../shared/routing/href.ts';
import { useFilters } from '../../../../shared/routing/search.ts';
import { t } from '../../../../shared/texts/texts.ts';
import { Button } from '../../../../shared/ui/controls/Button.tsx';
import { TextField } from '../../../../shared/ui/controls/Field.tsx';
import { useSettled } from '../../../../shared/ui/controls/useSettled.ts';
import { formatCount } from '../../../../shared/ui/display/format.ts';
import { FormError } from '../../../../shared/ui/feedback/FormError.tsx';
import { ErrorView, Loading, Notice } from '../../../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../../../shared/ui/feedback/toast.tsx';
import { PageError, PageHeader } from '../../../../shared/ui/shell/PageHeader.tsx';
import { fleet, useBlocked } from '../../../api.ts';
import { PlannedRun } from './PlannedRun.tsx';
import { MAX_DEPLOYMENTS, type RunSelection, selectionParameters } from './run-selection.ts';
import { useRunSelection } from './useRunSelection.ts';

/** The review of the updates of several deployments. The run is exactly the plan that the page shows. */
export default function NewRun() {
  const { values } = useFilters(...selectionParameters);
  const { data, error, refetch } = useRunSelection(values);
  if (error) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the deployments…')} />;
  if (data.total === 0) return <NothingToUpdate />;
  return <Review selection={data.selection} total={data.total} />;
}

const crumbs = [{ label: t('Updates'), href: '/updates' }];

const NothingToUpdate = () => (
  <>
    <PageHeader crumbs={crumbs} title={t('Update deployments')} />
    <Notice kind="good" title={t('No update is available')}>
      <p>{t('Each of these deployments runs the present version of its template.')}</p>
    </Notice>
  </>
);

const PAUSE_MS = 300;
/** A plan of many deployments takes longer than other requests. */
const PLAN_SECONDS = 120;

function Review({ selection, total }: { readonly selection: RunSelection; readonly total: number }) {
  const [wave, setWave] = useState('1');
  const [stopAfter, setStopAfter] = useState('1');
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  const body = { ...selection, wave: Number(wave), stop_after: Number(stopAfter) };
  const text = JSON.stringify(body);
  const settled = useSettled(text, PAUSE_MS);
  // The plan remains as it was reviewed, until the service states that it is outdated.
  const plan = useQuery({
    queryKey: ['plan of a run', settled],
    queryFn: ({ signal }) => fleet.call('planUpdateRun', { body: JSON.parse(settled), signal, seconds: PLAN_SECONDS }),
    placeholderData: (previous) => previous,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const start = useMutation({
    ...fleet.change('createUpdateRun', 'deployments', 'workloads'),
    onSuccess: ({ run: { id } }) => {
      confirmChange(t('The update run has begun'));
      navigate(href('/updates/:id', { id }));
    },
    // The present plan is shown together with the sentence that it is another one.
    onError: async (error) => {
      if (codeOf(error) === 'plan_outdated') await plan.refetch();
    },
  });
  const isOutdated = codeOf(start.error) === 'plan_outdated';
  const fieldErrors = fieldErrorsOf(plan.error);
  const errorAt = (path: string) => fieldErrors.find((one) => one.path === path)?.message;
  const { items = [], digest } = plan.data?.plan ?? {};
  const count = items.filter(({ skipped }) => skipped === null).length;
  const isPlanning = plan.error === null && (plan.data === undefined || plan.isPlaceholderData || text !== settled);
  const title = plan.data
    ? t('{count, plural, one {Update # deployment} other {Update # deployments}}', { count })
    : t('Update deployments');
  return (
    <>
      <PageHeader crumbs={crumbs} title={title} />
      <div className="split">
        <div className="stack">
          {isOutdated && (
            <Notice kind="warning" title={t('The plan has changed')}>
              <p>
                {t(
                  'A deployment or a template was changed after you opened this page. Nothing was updated. This is the present plan: review it, then update.',
                )}
              </p>
            </Notice>
          )}
          {total > MAX_DEPLOYMENTS && (
            <Notice title={t('A run updates at most {count} deployments', { count: formatCount(MAX_DEPLOYMENTS) })}>
              <p>
                {t('These are the first by name of {total}. Update the others with another run.', {
                  total: formatCount(total),
                })}
              </p>
            </Notice>
          )}
          {plan.error && fieldErrors.length === 0 && <ErrorView error={plan.error} retry={plan.refetch} />}
          {!plan.data && !plan.error && <Loading text={t('Planning…')} />}
          {plan.data && <PlannedRun items={items} isStale={isPlanning} />}
        </div>
        <form
          className="panel split-sticky"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            if (digest !== undefined) start.mutate({ body: { ...body, expected: digest } });
          }}
        >
          <div className="form-section">
            <div className="fields">
              <TextField
                name="wave"
                label={t('At the same time')}
                hint={t('The next ones begin when these have ended.')}
                type="number"
                min={1}
                max={50}
                value={wave}
                onChange={setWave}
                error={errorAt('wave')}
              />
              <TextField
                name="stop_after"
                label={t('Failed updates until the run stops')}
                hint={t('The deployments that have not begun then stay as they are.')}
                type="number"
                min={1}
                max={50}
                value={stopAfter}
                onChange={setStopAfter}
                error={errorAt('stop_after')}
              />
            </div>
            {!isOutdated && <FormError error={start.error} shown={['wave', 'stop_after']} />}
            <div className="actions">
              <Button
                type="submit"
                tone="primary"
                icon={CircleArrowUp}
                pending={start.isPending || isPlanning}
                blocked={blocked('createUpdateRun') ?? reasonAgainst(plan.error, count)}
              >
                {t('Update {count}', { count: formatCount(count) })}
              </Button>
              <Link href="/updates" className="button ghost">
                {t('Cancel')}
              </Link>
            </div>
          </div>
        </form>
      </div>
    </>
  );
}

/** Why nothing can be started; undefined if it can. */
function reasonAgainst(error: unknown, count: number): string | undefined {
  if (error !== null) return t('There is no plan. See the reason.');
  return count === 0 ? t('None of these deployments can be updated in a run.') : undefined;
}
