import { useMutation, useQuery } from '@tanstack/react-query';
import { Ban, CirclePlay, Microchip, Pencil, PlugZap, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { isUnavailable } from '../../shared/api/problem.ts';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { useEdit } from '../../shared/routing/search.ts';
import { isolated, rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { textOfPairs, textOfTaint } from '../../shared/ui/controls/pairs.ts';
import { Tabs, useTab } from '../../shared/ui/controls/Tabs.tsx';
import { type Fact, Facts } from '../../shared/ui/display/Facts.tsx';
import { formatBytes, formatCount, parseQuantity } from '../../shared/ui/display/format.ts';
import { looks, Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageError, PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet, type Host as HostObject, useBlocked } from '../api.ts';
import { TargetProblems } from '../deployments/problems/Problem.tsx';
import { reachabilityLook } from '../looks.ts';
import { EditHostDialog } from './EditHostDialog.tsx';
import { Resources } from './Resources.tsx';
import { Conditions, Orphans, RemoveTargetDialog, TargetDeployments, TargetEvents } from './TargetParts.tsx';

const tabs = [
  { id: 'overview', label: t('Overview') },
  { id: 'orphans', label: t('Orphans') },
  { id: 'events', label: t('Events') },
] as const;

export default function Host({ params }: PageProps<'/hosts/:id'>) {
  const { data, error, refetch } = useQuery(fleet.read('getHost', { params }));
  const [isRemoving, setRemoving] = useState(false);
  const edit = useEdit();
  const tab = useTab(tabs);
  const blocked = useBlocked();
  const check = useMutation({
    ...fleet.change('checkHost'),
    onSuccess: ({ host }) => fleet.queries.setQueryData(fleet.read('getHost', { params }).queryKey, { host }),
  });
  const update = useMutation({
    ...fleet.change('updateHost'),
    onSuccess: ({ host }) =>
      confirmChange(
        host.schedulable
          ? t('{name} accepts new deployments', { name: host.name })
          : t('{name} accepts no new deployments', { name: host.name }),
      ),
  });
  if (isUnavailable({ data, error })) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the host…')} />;
  const { host } = data;
  const { id, name, engine, engine_version, schedulable, version, message, reachability } = host;
  const isNode = engine === 'kubernetes';
  const noChange = isNode ? t('A node is managed by its cluster.') : blocked('updateHost');
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Hosts'), href: '/hosts' }]}
        title={name}
        beside={
          <>
            <Status {...reachabilityLook(host)} />
            {!schedulable && <Status {...looks.off(t('Scheduling disabled'))} />}
          </>
        }
        about={
          <>
            {engine} {engine_version} {host.arch && `· ${host.arch}`}{' '}
            {host.last_seen_at && rich('· seen {time}', { time: <Time at={host.last_seen_at} /> })}
          </>
        }
        actions={
          <>
            <Button
              icon={PlugZap}
              pending={check.isPending}
              blocked={noChange}
              onClick={() => check.mutate({ params: { id } })}
            >
              {t('Check')}
            </Button>
            <Button
              icon={schedulable ? Ban : CirclePlay}
              pending={update.isPending}
              blocked={noChange}
              onClick={() => update.mutate({ params: { id }, ifMatch: version, body: { schedulable: !schedulable } })}
            >
              {schedulable ? t('Disable scheduling') : t('Enable scheduling')}
            </Button>
            <Button icon={Pencil} blocked={noChange} aria-haspopup="dialog" onClick={edit.open}>
              {t('Edit')}
            </Button>
            <Button
              icon={Trash2}
              tone="danger"
              blocked={noChange}
              aria-haspopup="dialog"
              onClick={() => setRemoving(true)}
            >
              {t('Remove')}
            </Button>
          </>
        }
      />
      {error && <ErrorView error={error} retry={refetch} />}
      {(check.error ?? update.error) && <ErrorView error={check.error ?? update.error} />}
      {reachability === 'unreachable' && (
        <div className="situation">
          <Notice kind="warning" title={t('The host does not respond')}>
            <p>{message}</p>
            <p>{t('Its deployments continue by themselves. The fleet checks again every few seconds.')}</p>
          </Notice>
        </div>
      )}
      <Tabs
        label={t('Parts of the host')}
        tabs={isNode ? tabs.filter((one) => one.id !== 'orphans') : tabs}
        current={tab}
        path={href('/hosts/:id', params)}
      />
      {tab === 'overview' && (
        <div className="split">
          <div className="stack">
            <TargetProblems filter={{ host_id: id }} />
            <Panel title={t('Capacity')}>
              <Resources total={host.capacity} allocated={host.allocated} />
            </Panel>
            {host.gpus.length > 0 && <Gpus host={host} />}
            <TargetDeployments kind="host" id={id} />
          </div>
          <div className="stack">
            <Panel title={t('Details')}>
              <HostFacts host={host} />
            </Panel>
            <Conditions conditions={host.conditions} />
          </div>
        </div>
      )}
      {tab === 'orphans' && !isNode && <Orphans kind="host" id={id} />}
      {tab === 'events' && <TargetEvents kind="host" id={id} />}
      {edit.field !== undefined && noChange === undefined && (
        <EditHostDialog host={host} field={edit.field} onClose={edit.close} />
      )}
      {isRemoving && <RemoveTargetDialog kind="host" target={host} onClose={() => setRemoving(false)} />}
    </>
  );
}

/** The GPUs that users declared for a host, and the deployment that holds each. */
function Gpus({ host: { gpus, gpu_allocations } }: { readonly host: HostObject }) {
  const holders = new Map(gpu_allocations.map((allocation) => [allocation.gpu_id, allocation]));
  const free = gpus.filter(({ id }) => !holders.has(id)).length;
  return (
    <Panel
      title={t('GPUs')}
      actions={
        <span className="muted small numeric">
          {t('{used} allocated, {free} free', { used: formatCount(gpus.length - free), free: formatCount(free) })}
        </span>
      }
    >
      <ul className="gpu-map">
        {gpus.map(({ id, model, vram }) => {
          const holder = holders.get(id);
          return (
            <li key={id} className={holder ? 'gpu taken' : 'gpu'}>
              <span className="spread">
                <span className="muted small">
                  <span className="visually-hidden">{t('GPU')} </span>
                  <span className="mono">{id}</span>
                </span>
                <Microchip size={15} aria-hidden />
              </span>
              <span className="strong truncate" title={model}>
                {model || t('GPU')}
              </span>
              <span className="muted small">{vram ? formatBytes(parseQuantity(vram)) : t('memory not stated')}</span>
              {holder ? (
                <Link href={href('/deployments/:id', { id: holder.deployment_id })} className="cell-link truncate">
                  {holder.deployment_name}
                </Link>
              ) : (
                <span className="muted">{t('free')}</span>
              )}
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

function HostFacts({ host }: { readonly host: HostObject }) {
  const facts: readonly Fact[] = [
    [t('Address'), host.endpoint ? <code key="endpoint">{host.endpoint}</code> : t('a node of a cluster')],
    ...(host.cluster_id
      ? [
          [
            t('Cluster'),
            <Link key="cluster" href={href('/clusters/:id', { id: host.cluster_id })}>
              {t('open')}
            </Link>,
          ] as const,
        ]
      : [[t('TLS'), host.has_credentials ? t('with client certificate') : t('none')] as const]),
    [t('Networks'), host.network_types.join(', ') || t('none')],
    [t('Open ports'), host.open_ports.join(', ') || t('none')],
    [
      t('Addresses'),
      Object.entries(host.addresses)
        .map(([type, address]) => `${type} ${address}`)
        .join(', ') || t('none: ports bind to 127.0.0.1'),
    ],
    [t('Taints'), host.taints.map((taint) => isolated(textOfTaint(taint))).join(', ') || t('none')],
    [t('Labels'), textOfPairs(host.labels, ', ') || t('none')],
    [
      t('Registered'),
      <span key="created">
        {rich('{time} by {name}', { time: <Time at={host.created_at} />, name: host.created_by })}
      </span>,
    ],
  ];
  return <Facts facts={facts} />;
}
