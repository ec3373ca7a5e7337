import { useMutation, useQuery } from '@tanstack/react-query';
import { CircleStop } from 'lucide-react';
import { memo, useState } from 'react';
import { Link } from 'wouter';
import { isUnavailable } from '../../../../shared/api/problem.ts';
import type { PageProps } from '../../../../shared/routing/page.tsx';
import { rich, t } from '../../../../shared/texts/texts.ts';
import { Button } from '../../../../shared/ui/controls/Button.tsx';
import { ConfirmDialog } from '../../../../shared/ui/dialogs/Dialog.tsx';
import { type Fact, Facts } from '../../../../shared/ui/display/Facts.tsx';
import { formatCount } from '../../../../shared/ui/display/format.ts';
import { ShareBar } from '../../../../shared/ui/display/Meter.tsx';
import { Status } from '../../../../shared/ui/display/Status.tsx';
import { Time } from '../../../../shared/ui/display/Time.tsx';
import { ErrorView, Loading, Notice } from '../../../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../../../shared/ui/feedback/toast.tsx';
import { PageError, PageHeader, Panel } from '../../../../shared/ui/shell/PageHeader.tsx';
import { type FleetOutput, fleet, useBlocked } from '../../../api.ts';
import { isOpen, itemLooks, pageOfItem, type RunItem, runLooks, sizeOf, wordsOfSelection } from './run-looks.ts';

type UpdateRun = FleetOutput<'getUpdateRun'>['run'];

/** The stream of changes does not contain runs. */
const REFRESH_MS = 2000;

const groups = [
  { state: 'failed', className: 'bar-bad' },
  { state: 'updating', className: 'bar-1' },
  { state: 'waiting', className: 'bar-idle' },
  { state: 'succeeded', className: 'bar-good' },
  { state: 'skipped', className: 'meter-back' },
] as const satisfies readonly { readonly state: RunItem['state']; readonly className: string }[];

/** The updates of several deployments as one run: what has been updated, what follows, and what has failed. */
export default function Run({ params }: PageProps<'/updates/:id'>) {
  const { data, error, refetch } = useQuery({
    ...fleet.read('getUpdateRun', { params }),
    refetchInterval: ({ state }) => (state.data === undefined || isOpen(state.data.run) ? REFRESH_MS : false),
  });
  if (isUnavailable({ data, error })) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the update run…')} />;
  const { run } = data;
  const { counts, state } = run;
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Updates'), href: '/updates' }]}
        title={t('{count, plural, one {Update of # deployment} other {Update of # deployments}}', {
          count: sizeOf(counts),
        })}
        beside={<Status {...runLooks[state]} />}
        about={rich('Begun {time} by {name}', { time: <Time at={run.created_at} />, name: run.created_by })}
        actions={state === 'running' && <CancelButton run={run} />}
      />
      {error && <ErrorView error={error} retry={refetch} />}
      <div className="split">
        <div className="stack">
          {state === 'stopped' && (
            <Notice kind="warning" title={t('The run has stopped')}>
              <p>
                {t(
                  '{count, plural, one {# update has failed.} other {# updates have failed.}} The deployments that had not begun stay as they are.',
                  { count: counts.failed },
                )}
              </p>
            </Notice>
          )}
          <ShareBar
            label={t('Deployments by state')}
            shares={groups.map(({ state: one, className }) => ({
              label: itemLooks[one].label,
              count: counts[one],
              className,
            }))}
          />
          {groups.map(({ state: one }) => (
            <Group key={one} state={one} items={run.items.filter((item) => item.state === one)} />
          ))}
        </div>
        <Panel title={t('Details')}>
          <Facts facts={factsOf(run)} />
        </Panel>
      </div>
    </>
  );
}

const factsOf = (run: UpdateRun): readonly Fact[] => [
  [t('Selection'), wordsOfSelection(run)],
  [t('At the same time'), formatCount(run.wave)],
  [t('Failed updates until the run stops'), formatCount(run.stop_after)],
  ...(run.finished_at ? [[t('Ended'), <Time key="ended" at={run.finished_at} />] as const] : []),
];

/** The deployments in one state. */
const Group = memo(function Group({
  state,
  items,
}: {
  readonly state: RunItem['state'];
  readonly items: readonly RunItem[];
}) {
  if (items.length === 0) return null;
  const { label } = itemLooks[state];
  return (
    <Panel
      title={t('{name} ({count})', { name: label, count: formatCount(items.length) })}
      actions={<Status {...itemLooks[state]} />}
      flush
    >
      <ul className="item-list" aria-label={label}>
        {items.map(({ name, wave, message, ...item }) => {
          const { id, page } = pageOfItem(item);
          return (
            <li key={id} className="stack-small">
              <span className="spread">
                <Link href={page} className="cell-link">
                  {name}
                </Link>
                {wave !== null && <span className="muted small">{t('Step {number}', { number: wave })}</span>}
              </span>
              {message && <span className="muted small">{message}</span>}
            </li>
          );
        })}
      </ul>
    </Panel>
  );
});

function CancelButton({ run: { id, counts } }: { readonly run: UpdateRun }) {
  const [isAsking, setAsking] = useState(false);
  const blocked = useBlocked()('cancelUpdateRun');
  const cancel = useMutation({
    ...fleet.change('cancelUpdateRun'),
    onSuccess: () => {
      confirmChange(t('The update run is cancelled'));
      setAsking(false);
    },
  });
  return (
    <>
      <Button tone="danger" icon={CircleStop} blocked={blocked} aria-haspopup="dialog" onClick={() => setAsking(true)}>
        {t('Cancel the run')}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t('Cancel the update run?')}
          action={t('Cancel the run')}
          pending={cancel.isPending}
          error={cancel.error}
          onClose={() => setAsking(false)}
          onConfirm={() => cancel.mutate({ params: { id } })}
        >
          <p>
            {t(
              '{waiting, plural, one {# deployment that has not begun stays as it is.} other {# deployments that have not begun stay as they are.}} {updating, plural, =0 {} one {The update that has begun continues.} other {The updates that have begun continue.}}',
              { waiting: counts.waiting, updating: counts.updating },
            )}
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
