import { useMutation, useQuery } from '@tanstack/react-query';
import { FileUp, RefreshCw, Settings } from 'lucide-react';
import { useState } from 'react';
import { isUnavailable } from '../../shared/api/problem.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button, ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { type Fact, Facts } from '../../shared/ui/display/Facts.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { looks, Status, type StatusLook } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageError, PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type FleetOutput, fleet, useBlocked } from '../api.ts';
import { BundleDialog } from './BundleDialog.tsx';

type SyncState = FleetOutput<'getSyncState'>;

const statusLooks: Readonly<Record<SyncState['status'], StatusLook>> = {
  fresh: looks.good(t('Current')),
  stale: looks.warning(t('Stale')),
  never_synced: looks.unknown(t('Not synced yet')),
  not_configured: looks.off(t('No hub')),
};

const countsOf = ({ updated, removed }: NonNullable<SyncState['last_sync']>) => ({
  updated: formatCount(updated),
  removed: formatCount(removed),
});

export default function Sync() {
  const { data, error, refetch } = useQuery({ ...fleet.read('getSyncState'), refetchInterval: 10_000 });
  const blocked = useBlocked();
  const [isImporting, setImporting] = useState(false);
  const sync = useMutation({
    ...fleet.change('syncCatalog'),
    onSuccess: ({ last_sync }) =>
      confirmChange(
        last_sync ? t('Synced: {updated} updated, {removed} removed', countsOf(last_sync)) : t('The sync has finished'),
      ),
  });
  if (isUnavailable({ data, error })) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the state of the sync…')} />;
  return (
    <>
      <PageHeader
        title={t('Catalog sync')}
        beside={<Status {...statusLooks[data.status]} />}
        about={t('The fleet keeps a copy of the templates that its organization can see at the hub')}
        actions={
          <>
            <Button
              icon={FileUp}
              aria-haspopup="dialog"
              blocked={blocked('importBundle')}
              onClick={() => setImporting(true)}
            >
              {t('Import a file…')}
            </Button>
            <Button
              blocked={blocked('syncCatalog')}
              pending={sync.isPending}
              onClick={() => sync.mutate({ body: { full: true } })}
            >
              {t('Full sync')}
            </Button>
            <Button
              tone="primary"
              icon={RefreshCw}
              blocked={blocked('syncCatalog')}
              pending={sync.isPending}
              onClick={() => sync.mutate({ body: {} })}
            >
              {t('Sync now')}
            </Button>
          </>
        }
      />
      {error && <ErrorView error={error} retry={refetch} />}
      {isImporting && <BundleDialog onClose={() => setImporting(false)} />}
      <div className="stack">
        {sync.error && <ErrorView error={sync.error} />}
        {data.status === 'not_configured' && (
          <Notice kind="warning" title={t('The fleet is not connected to a hub')}>
            <p>{t('Set the URL and the API key of the hub.')}</p>
            {blocked('setHubSettings') ? (
              <p>{blocked('setHubSettings')}</p>
            ) : (
              <div>
                <ButtonLink icon={Settings} href="/settings?tab=hub">
                  {t('Open the settings')}
                </ButtonLink>
              </div>
            )}
          </Notice>
        )}
        {data.status === 'stale' && data.last_failure && (
          <Notice kind="warning" title={t('The last sync failed')}>
            <p>{data.last_failure.reason}</p>
            <p>{t('Deployments are not affected, and the catalog stays as it was.')}</p>
            {data.last_success_at && (
              <p>{rich('Last successful sync: {time}', { time: <Time at={data.last_success_at} /> })}</p>
            )}
            {data.next_try_at && (
              <p>{rich('Next attempt: {time}', { time: <Time at={data.next_try_at} isUpcoming /> })}</p>
            )}
          </Notice>
        )}
        <div className="columns">
          <Panel title={t('State')}>
            <SyncFacts state={data} />
          </Panel>
          <Panel title={t('Content')}>
            <div className="grid-small">
              <Figure figure={data.counts.templates} words={t('templates')} />
              <Figure figure={data.counts.categories} words={t('categories')} />
              <Figure figure={data.skipped.total} words={t('skipped')} />
            </div>
          </Panel>
        </div>
        {data.skipped.total > 0 && (
          <Panel
            title={t(
              '{count, plural, one {# entry that this version cannot read} other {# entries that this version cannot read}}',
              { count: data.skipped.total },
            )}
            flush
          >
            <Table
              label={t('Skipped entries')}
              columns={[{ label: t('Kind') }, { label: t('Slug') }, { label: t('Reason') }]}
            >
              {data.skipped.entries.map(({ kind, id, slug, reason }) => (
                <tr key={`${kind}-${id}-${slug}`}>
                  <td>{kind}</td>
                  <td className="mono small">{slug ?? t('not known')}</td>
                  <td className="muted">{reason}</td>
                </tr>
              ))}
            </Table>
          </Panel>
        )}
      </div>
    </>
  );
}

const Figure = ({ figure, words }: { readonly figure: number; readonly words: string }) => (
  <div className="stack-small">
    <span className="figure-large numeric">{formatCount(figure)}</span>
    <span className="muted">{words}</span>
  </div>
);

function SyncFacts({ state }: { readonly state: SyncState }) {
  const facts: readonly Fact[] = [
    [
      t('Hub'),
      state.hub_url ? <code key="url">{state.hub_url}</code> : state.from_bundle ? t('none, from a file') : t('none'),
    ],
    [
      t('Organization'),
      state.organization
        ? t('{name} ({tier})', { name: state.organization.name, tier: state.organization.tier })
        : t('not known yet'),
    ],
    [
      t('Last success'),
      state.last_success_at === null ? t('never') : <Time key="success" at={state.last_success_at} />,
    ],
    [
      t('Next sync'),
      state.next_try_at === null ? t('only on demand') : <Time key="next" at={state.next_try_at} isUpcoming />,
    ],
    [
      t('Last failure'),
      state.last_failure ? (
        <span key="failure">
          <Time at={state.last_failure.at} />: {state.last_failure.reason}
        </span>
      ) : (
        t('none')
      ),
    ],
    [
      t('Last transfer'),
      state.last_sync
        ? state.last_sync.full
          ? t('full, {updated} updated, {removed} removed', countsOf(state.last_sync))
          : t('{updated} updated, {removed} removed', countsOf(state.last_sync))
        : t('none'),
    ],
  ];
  return <Facts facts={facts} />;
}
