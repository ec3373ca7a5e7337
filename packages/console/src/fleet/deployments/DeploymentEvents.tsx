import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { formatList, wordsOfCode } from '../../shared/ui/display/format.ts';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { Pager } from '../../shared/ui/lists/Table.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type Deployment, type FleetOutput, fleet } from '../api.ts';
import { wordsOfScaling } from './scaling/scaling-draft.ts';

type Details = NonNullable<FleetOutput<'listDeploymentEvents'>['events'][number]['details']>;

/** What callers requested, and what happened, newest first. */
export function DeploymentEvents({ id }: { readonly id: string }) {
  const { page, set } = useFilters();
  const { data, error, refetch } = useQuery(fleet.read('listDeploymentEvents', { params: { id }, query: { page } }));
  if (error) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the events…')} />;
  return (
    <Panel title={t('Events')}>
      {data.events.length === 0 && <p className="muted">{t('No events yet.')}</p>}
      <ol className="timeline">
        {data.events.map((event) => (
          <li key={event.id} className={event.kind}>
            <span className="row">
              <span className="strong">{wordsOfCode(event.reason)}</span>
              <span className="muted small">
                {event.actor
                  ? rich('{time} by {name} · generation {generation}', {
                      time: <Time at={event.at} />,
                      name: event.actor,
                      generation: event.generation,
                    })
                  : rich('{time} · generation {generation}', {
                      time: <Time at={event.at} />,
                      generation: event.generation,
                    })}
              </span>
            </span>
            {event.message && <p className="muted">{event.message}</p>}
            {event.details && <Details details={event.details} />}
          </li>
        ))}
      </ol>
      <Pager pagination={data.pagination} onPage={(next) => set({ page: next })} />
    </Panel>
  );
}

const RECENT = 5;

/** What happened last. */
export function RecentEvents({ id }: { readonly id: string }) {
  const { data } = useQuery(fleet.read('listDeploymentEvents', { params: { id }, query: { limit: RECENT } }));
  return (
    <Panel
      title={t('Recent events')}
      flush
      actions={<Link href={href('/deployments/:id', { id }, { tab: 'events' })}>{t('All events')}</Link>}
    >
      {data?.events.length === 0 && <p className="muted body">{t('No events yet.')}</p>}
      <ul className="item-list">
        {data?.events.map((event) => (
          <li key={event.id} className="stack-small">
            <span className="spread">
              <span className="strong">{wordsOfCode(event.reason)}</span>
              <span className="muted small">
                <Time at={event.at} />
              </span>
            </span>
            {event.message && <span className="muted small">{event.message}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const wordsOfScalingChange = (autoscaling: Deployment['autoscaling'], scaled_by: Deployment['scaled_by']) =>
  t('Number of replicas: {scaling}', { scaling: wordsOfScaling({ autoscaling, scaled_by }) });

/** What an operation changed. */
function Details({ details }: { readonly details: Details }) {
  const { revision, replicas, autoscaling, scaled_by, desired_state, env = [] } = details;
  const changes = [
    [t('Revision'), revision],
    [t('Replicas'), replicas],
    [t('Desired state'), desired_state],
  ] as const;
  const words = [
    ...changes.flatMap(([name, change]) =>
      change === undefined ? [] : [`${name}: ${change.from === null ? '' : `${change.from} `}→ ${change.to}`],
    ),
    ...(autoscaling || scaled_by ? [wordsOfScalingChange(autoscaling?.to ?? null, scaled_by?.to ?? 'fleet')] : []),
    ...(env.length > 0 ? [t('Variables: {names}', { names: formatList(env) })] : []),
  ];
  return words.length === 0 ? null : <p className="muted small">{words.join(' · ')}</p>;
}
