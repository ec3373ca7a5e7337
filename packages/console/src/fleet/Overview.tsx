import { useQuery } from '@tanstack/react-query';
import { Blocks, Boxes, CheckCircle2, FileInput, Rocket, Server, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { href } from '../shared/routing/href.ts';
import { rich, t } from '../shared/texts/texts.ts';
import { ButtonLink } from '../shared/ui/controls/Button.tsx';
import { formatCount, wordsOfCode } from '../shared/ui/display/format.ts';
import { Cells, type Share, ShareBar } from '../shared/ui/display/Meter.tsx';
import { looks, Status, type StatusLook } from '../shared/ui/display/Status.tsx';
import { Step } from '../shared/ui/display/Step.tsx';
import { Time } from '../shared/ui/display/Time.tsx';
import { ErrorView, Loading, Notice } from '../shared/ui/feedback/states.tsx';
import { PageHeader, Panel } from '../shared/ui/shell/PageHeader.tsx';
import { type Deployment, type FleetEvent, fleet, usePhaseCount } from './api.ts';
import { updatesAvailable, useUpdateCount, WITH_UPDATE } from './deployments/updates/UpdateMark.tsx';
import { passingPhases, phaseLook, reachabilityLook, troubledPhases } from './looks.ts';
import { AllocatedMeter } from './targets/AllocatedMeter.tsx';

const RECENT = 8;

const phaseGroups = [
  { label: t('Running'), look: looks.good(t('Running')), phases: ['running'], className: 'bar-good' },
  {
    label: t('With problems'),
    look: looks.alert(t('With problems')),
    phases: troubledPhases,
    className: 'bar-bad',
  },
  {
    label: t('In transition'),
    look: { ...looks.moving(t('In transition')), isMoving: false },
    phases: passingPhases,
    className: 'bar-1',
  },
  { label: t('Stopped'), look: looks.stopped(t('Stopped')), phases: ['stopped'], className: 'bar-idle' },
] as const satisfies readonly {
  label: string;
  look: StatusLook;
  phases: readonly Deployment['phase'][];
  className: string;
}[];

export default function Overview() {
  const count = usePhaseCount();
  const counts = phaseGroups.map(({ phases }) => count?.(phases));
  const total = counts.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const isKnown = count !== undefined;
  const shares = phaseGroups.map(
    ({ label, className }, index): Share => ({ label, className, count: counts[index] ?? 0 }),
  );
  return (
    <>
      <PageHeader
        title={t('Overview')}
        actions={
          <ButtonLink tone="primary" icon={Rocket} href="/catalog">
            {t('Deploy a template')}
          </ButtonLink>
        }
      />
      <div className="stack">
        {isKnown && total === 0 ? (
          <FirstSteps />
        ) : (
          <div className="stack-small">
            <div className="stats">
              {phaseGroups.map(({ label, look, phases }, index) => (
                <Link
                  key={label}
                  href={href('/deployments', undefined, { phase: phases.join(',') })}
                  className="panel stat"
                >
                  <Status {...look} />
                  <span className="figure">{counts[index] === undefined ? '–' : formatCount(counts[index])}</span>
                  <span className="muted small">
                    {t('{count, plural, one {of # deployment} other {of # deployments}}', { count: total })}
                  </span>
                </Link>
              ))}
            </div>
            <ShareBar label={t('Deployments by state')} shares={shares} />
          </div>
        )}
        <CriticalAdvisories />
        <Updates />
        <div className="columns">
          <div className="stack">
            <Problems troubledCount={count?.(troubledPhases) ?? 0} />
            <RecentChanges />
          </div>
          <div className="stack">
            <Capacity />
            <RecentEvents />
          </div>
        </div>
      </div>
    </>
  );
}

/** How many deployments a critical advisory is about. */
function CriticalAdvisories() {
  const { data } = useQuery(
    fleet.read('listDeployments', { query: { advisory: 'critical', limit: 1, view: 'summary' } }),
  );
  const count = data?.pagination.total ?? 0;
  if (count === 0) return null;
  return (
    <Notice kind="warning">
      <Link href={href('/deployments', undefined, { advisory: 'critical' })}>
        {t(
          '{count, plural, one {# deployment runs a revision with a critical advisory} other {# deployments run a revision with a critical advisory}}',
          { count },
        )}
      </Link>
    </Notice>
  );
}

/** For how many deployments an update is available. */
function Updates() {
  const count = useUpdateCount();
  if (count === 0) return null;
  return (
    <Notice>
      <Link href={href('/deployments', undefined, WITH_UPDATE)}>{updatesAvailable(count)}</Link>
    </Notice>
  );
}

/** The number of hosts and clusters that match a query. */
function useTargetCount(query: { readonly limit: number; readonly reachability?: string }): number {
  const hosts = useQuery(fleet.read('listHosts', { query: { ...query, engine: 'docker,podman' } }));
  const clusters = useQuery(fleet.read('listClusters', { query }));
  return (hosts.data?.pagination.total ?? 0) + (clusters.data?.pagination.total ?? 0);
}

function FirstSteps() {
  const isRegistered = useTargetCount({ limit: 1 }) > 0;
  const hasTarget = useTargetCount({ limit: 1, reachability: 'online' }) > 0;
  const templates = useQuery(fleet.read('listMirroredTemplates', { query: { limit: 1, view: 'summary' } }));
  const hasCatalog = (templates.data?.pagination.total ?? 0) > 0;
  return (
    <Panel title={t('First steps')} flush>
      <ol className="item-list">
        {isRegistered && !hasTarget ? (
          <Step isDone={false} icon={Server} title={t('Correct the host or the cluster')} href="/hosts">
            {t('It is registered, but it does not respond.')}
          </Step>
        ) : (
          <Step isDone={hasTarget} icon={Server} title={t('Add a host or a cluster')} href="/hosts/new">
            {t('A machine with Docker or Podman, or a Kubernetes cluster.')}
          </Step>
        )}
        <Step isDone={hasCatalog} icon={Blocks} title={t('Connect a hub')} href="/sync">
          {t('The fleet copies templates from the catalog of a hub.')}
        </Step>
        <Step isDone={false} icon={Boxes} title={t('Deploy a template')} href="/catalog">
          {t('The form shows where it would run, and why, before anything is created.')}
        </Step>
        <Step isDone={false} icon={FileInput} title={t('Convert a Compose file')} href="/convert">
          {t('Paste the file of a program and its database, and deploy both as one application.')}
        </Step>
      </ol>
    </Panel>
  );
}

const addressOfEvent = ({ kind, object_id, reason }: FleetEvent): string => {
  if (reason === 'WebhookDisabled') return '/settings?tab=webhooks';
  if (object_id === null || kind === 'catalog') return '/sync';
  if (kind === 'sources') return '/sources';
  const patterns = {
    hosts: '/hosts/:id',
    clusters: '/clusters/:id',
    deployments: '/deployments/:id',
    plans: '/plans/:id',
  } as const;
  return href(patterns[kind], { id: object_id });
};

/**
 * Warnings that last. Deployments can have a problem that is not a warning, or more than the list
 * shows: they are counted.
 */
function Problems({ troubledCount }: { readonly troubledCount: number }) {
  const { data, error, refetch } = useQuery(
    fleet.read('listEvents', { query: { severity: 'warning', resolved: false, limit: RECENT } }),
  );
  const listed = new Set(data?.events.filter(({ kind }) => kind === 'deployments').map(({ object_id }) => object_id));
  const others = troubledCount - listed.size;
  return (
    <Panel title={t('Current problems')} flush>
      {error && <ErrorView error={error} retry={refetch} />}
      {!data && !error && <Loading text={t('Loading the problems…')} />}
      {data?.events.length === 0 && others <= 0 && (
        <div className="row body">
          <CheckCircle2 size={18} className="text-good" aria-hidden />
          <span>{t('No problem is known.')}</span>
        </div>
      )}
      <ul className="item-list">
        {data?.events.map((event) => (
          <li key={event.id} className="stack-small">
            <span className="spread">
              <span className="row">
                <TriangleAlert size={15} className="text-bad" aria-hidden />
                <span className="text-bad strong">{wordsOfCode(event.reason)}</span>
                <Link href={addressOfEvent(event)} className="cell-link">
                  {event.name}
                </Link>
              </span>
              <span className="muted small">
                <Time at={event.at} />
              </span>
            </span>
            <span className="muted small">{event.message}</span>
          </li>
        ))}
        {data && others > 0 && (
          <li className="row">
            <TriangleAlert size={15} className="text-bad" aria-hidden />
            <Link href={href('/deployments', undefined, { phase: troubledPhases.join(',') })}>
              {listed.size === 0
                ? t('{count, plural, one {# deployment with problems} other {# deployments with problems}}', {
                    count: others,
                  })
                : t('{count, plural, one {# more deployment with problems} other {# more deployments with problems}}', {
                    count: others,
                  })}
            </Link>
          </li>
        )}
      </ul>
    </Panel>
  );
}

/** CPU and memory that are allocated on each target. */
function Capacity() {
  const hosts = useQuery(fleet.read('listHosts', { query: { engine: 'docker,podman', limit: RECENT, sort: 'name' } }));
  const clusters = useQuery(fleet.read('listClusters', { query: { limit: RECENT, sort: 'name' } }));
  const targets = [
    ...(hosts.data?.hosts ?? []).map(({ id, capacity, ...host }) => ({
      ...host,
      address: href('/hosts/:id', { id }),
      total: capacity,
    })),
    ...(clusters.data?.clusters ?? []).map(({ id, allocatable, ...cluster }) => ({
      ...cluster,
      schedulable: true,
      address: href('/clusters/:id', { id }),
      total: allocatable,
    })),
  ];
  const isKnown = hosts.data !== undefined && clusters.data !== undefined;
  return (
    <Panel title={t('Allocated capacity')} flush actions={<Link href="/hosts">{t('All hosts')}</Link>}>
      {isKnown && targets.length === 0 && (
        <p className="body muted">
          {rich('No host or cluster is registered. <link>Add a host</link>.', {
            link: (words) => <Link href="/hosts/new">{words}</Link>,
          })}
        </p>
      )}
      <ul className="item-list">
        {targets.slice(0, RECENT).map(({ name, address, total, allocated, reachability, schedulable }) => (
          <li key={address} className="capacity-row">
            <span className="stack-small">
              <Link href={address} className="cell-link truncate">
                {name}
              </Link>
              {reachability !== 'online' ? (
                <span>
                  <Status {...reachabilityLook({ reachability })} />
                </span>
              ) : (
                !schedulable && (
                  <span>
                    <Status {...looks.off(t('Scheduling disabled'))} />
                  </span>
                )
              )}
            </span>
            {total && allocated ? (
              <>
                <AllocatedMeter resource="cpu" allocated={allocated} total={total} />
                <AllocatedMeter resource="memory" allocated={allocated} total={total} />
                {total.gpu_count > 0 && (
                  <Cells
                    used={allocated.gpu_count}
                    total={total.gpu_count}
                    words={t('{used} of {total, plural, one {# GPU} other {# GPUs}}', {
                      used: formatCount(allocated.gpu_count),
                      total: total.gpu_count,
                    })}
                  />
                )}
              </>
            ) : (
              <span className="muted small">{t('not known yet')}</span>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function RecentChanges() {
  const { data, error, refetch } = useQuery(
    fleet.read('listDeployments', { query: { sort: '-updated_at', limit: RECENT } }),
  );
  return (
    <Panel title={t('Recently changed')} flush actions={<Link href="/deployments">{t('All deployments')}</Link>}>
      {error && <ErrorView error={error} retry={refetch} />}
      {data?.deployments.length === 0 && <p className="body muted">{t('Nothing is deployed yet.')}</p>}
      <ul className="item-list">
        {data?.deployments.map((deployment) => (
          <Line
            key={deployment.id}
            title={
              <Link href={href('/deployments/:id', { id: deployment.id })} className="cell-link">
                {deployment.name}
              </Link>
            }
            beside={<Status {...phaseLook(deployment)} />}
            at={deployment.updated_at}
          />
        ))}
      </ul>
    </Panel>
  );
}

function RecentEvents() {
  const { data, error, refetch } = useQuery(fleet.read('listEvents', { query: { limit: RECENT } }));
  return (
    <Panel title={t('Events')} flush>
      {error && <ErrorView error={error} retry={refetch} />}
      {data?.events.length === 0 && <p className="body muted">{t('There are no events.')}</p>}
      <ul className="item-list">
        {data?.events.map((event) => (
          <Line
            key={event.id}
            title={
              <span
                className={
                  event.severity === 'warning' && event.resolved_at === null ? 'text-bad strong' : 'muted strong'
                }
              >
                {event.resolved_at === null
                  ? wordsOfCode(event.reason)
                  : t('{reason}, resolved', { reason: wordsOfCode(event.reason) })}
              </span>
            }
            beside={
              <Link href={addressOfEvent(event)} className="cell-link">
                {event.name}
              </Link>
            }
            at={event.at}
          />
        ))}
      </ul>
    </Panel>
  );
}

const Line = ({
  title,
  beside,
  at,
}: {
  readonly title: ReactNode;
  readonly beside: ReactNode;
  readonly at: string;
}) => (
  <li className="spread">
    <span className="row">
      {title}
      {beside}
    </span>
    <span className="muted small">
      <Time at={at} />
    </span>
  </li>
);
