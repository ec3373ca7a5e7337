import { useMutation, useQuery } from '@tanstack/react-query';
import { Pencil, PlugZap, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { isUnavailable } from '../../shared/api/problem.ts';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { useEdit } from '../../shared/routing/search.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { textOfPairs, textOfTaint } from '../../shared/ui/controls/pairs.ts';
import { Tabs, useTab } from '../../shared/ui/controls/Tabs.tsx';
import { type Fact, Facts } from '../../shared/ui/display/Facts.tsx';
import { formatBytes, formatCpus, parseQuantity } from '../../shared/ui/display/format.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type Cluster as ClusterObject, fleet, useBlocked } from '../api.ts';
import { TargetProblems } from '../deployments/problems/Problem.tsx';
import { reachabilityLook } from '../looks.ts';
import { policyFacts } from './clusters/ClusterPolicies.tsx';
import { EditClusterDialog } from './clusters/EditClusterDialog.tsx';
import { Resources } from './Resources.tsx';
import { Conditions, Orphans, RemoveTargetDialog, TargetDeployments, TargetEvents } from './TargetParts.tsx';

const MAX_NODES = 100;
const tabs = [
  { id: 'overview', label: t('Overview') },
  { id: 'nodes', label: t('Nodes') },
  { id: 'orphans', label: t('Orphans') },
  { id: 'events', label: t('Events') },
] as const;

export default function Cluster({ params }: PageProps<'/clusters/:id'>) {
  const { data, error, refetch } = useQuery(fleet.read('getCluster', { params }));
  const [isRemoving, setRemoving] = useState(false);
  const edit = useEdit();
  const tab = useTab(tabs);
  const blocked = useBlocked();
  const check = useMutation({
    ...fleet.change('checkCluster'),
    onSuccess: ({ cluster }) => fleet.queries.setQueryData(fleet.read('getCluster', { params }).queryKey, { cluster }),
  });
  if (isUnavailable({ data, error })) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the cluster…')} />;
  const { cluster } = data;
  const { id, name } = cluster;
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Clusters'), href: '/clusters' }]}
        title={name}
        beside={<Status {...reachabilityLook(cluster)} />}
        about={
          cluster.last_seen_at
            ? rich('Kubernetes {version} · seen {time}', {
                version: cluster.kubernetes_version,
                time: <Time at={cluster.last_seen_at} />,
              })
            : t('Kubernetes {version}', { version: cluster.kubernetes_version ?? '' })
        }
        actions={
          <>
            <Button
              icon={PlugZap}
              pending={check.isPending}
              blocked={blocked('checkCluster')}
              onClick={() => check.mutate({ params: { id } })}
            >
              {t('Check')}
            </Button>
            <Button icon={Pencil} blocked={blocked('updateCluster')} aria-haspopup="dialog" onClick={edit.open}>
              {t('Edit')}
            </Button>
            <Button
              icon={Trash2}
              tone="danger"
              blocked={blocked('deleteCluster')}
              aria-haspopup="dialog"
              onClick={() => setRemoving(true)}
            >
              {t('Remove')}
            </Button>
          </>
        }
      />
      {error && <ErrorView error={error} retry={refetch} />}
      {check.error && <ErrorView error={check.error} />}
      {cluster.reachability === 'unreachable' && (
        <div className="situation">
          <Notice kind="warning" title={t('The cluster does not respond')}>
            <p>{cluster.message}</p>
          </Notice>
        </div>
      )}
      <Tabs label={t('Parts of the cluster')} tabs={tabs} current={tab} path={href('/clusters/:id', params)} />
      {tab === 'overview' && (
        <div className="split">
          <div className="stack">
            <TargetProblems filter={{ cluster_id: id }} />
            <Panel title={t('Capacity')}>
              <Resources total={cluster.allocatable} allocated={cluster.allocated} />
            </Panel>
            <TargetDeployments kind="cluster" id={id} />
          </div>
          <div className="stack">
            <Panel title={t('Details')}>
              <ClusterFacts cluster={cluster} />
            </Panel>
            <Conditions conditions={cluster.conditions} />
          </div>
        </div>
      )}
      {tab === 'nodes' && <Nodes id={id} />}
      {tab === 'orphans' && <Orphans kind="cluster" id={id} />}
      {tab === 'events' && <TargetEvents kind="cluster" id={id} />}
      {edit.field !== undefined && blocked('updateCluster') === undefined && (
        <EditClusterDialog cluster={cluster} field={edit.field} onClose={edit.close} />
      )}
      {isRemoving && <RemoveTargetDialog kind="cluster" target={cluster} onClose={() => setRemoving(false)} />}
    </>
  );
}

function Nodes({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(
    fleet.read('listHosts', { query: { cluster_id: id, limit: MAX_NODES, sort: 'name' } }),
  );
  if (error) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the nodes…')} />;
  return (
    <Panel title={t('Nodes')} flush>
      {data.hosts.length === 0 && <p className="body muted">{t('No node is known yet.')}</p>}
      <ul className="item-list">
        {data.hosts.map((host) => (
          <li key={host.id} className="spread">
            <span>
              <Link href={href('/hosts/:id', { id: host.id })} className="cell-link">
                {host.name}
              </Link>
              {host.taints.length > 0 && (
                <span className="muted small truncate">
                  {t('Taints: {taints}', { taints: host.taints.map(textOfTaint).join(', ') })}
                </span>
              )}
            </span>
            <span className="row">
              {host.capacity && (
                <span className="muted small">
                  {formatCpus(parseQuantity(host.capacity.cpu))}, {formatBytes(parseQuantity(host.capacity.memory))}
                </span>
              )}
              <Status {...reachabilityLook(host)} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function wordsOfElastic(elastic: ClusterObject['elastic']): string {
  if (elastic === null) return t('none');
  const { max_nodes, per_replica, gpus } = elastic;
  const limits = t('up to {count, plural, one {# node} other {# nodes}}, {cpu} CPUs and {memory} per replica', {
    count: max_nodes,
    cpu: per_replica.cpu,
    memory: per_replica.memory,
  });
  return [limits, ...gpus.map(({ model, count }) => `${count} × ${model}`)].join(', ');
}

function ClusterFacts({ cluster }: { readonly cluster: ClusterObject }) {
  const facts: readonly Fact[] = [
    [t('API server'), <code key="server">{cluster.server}</code>],
    [t('Namespace'), <code key="namespace">{cluster.namespace}</code>],
    [t('Credentials'), cluster.auth_kind === 'token' ? t('token') : t('client certificate')],
    ...(cluster.credentials_expire_at
      ? [[t('Credentials expire'), <Time key="expiry" at={cluster.credentials_expire_at} />] as const]
      : []),
    [t('Networks'), cluster.network_types.join(', ') || t('none')],
    [t('Public services'), cluster.public_service_type],
    [t('Storage class'), cluster.default_storage_class ?? t('default of the cluster')],
    [t('GPU resource'), cluster.gpu_resource_name],
    [t('New nodes'), wordsOfElastic(cluster.elastic)],
    [t('Labels'), textOfPairs(cluster.labels, ', ') || t('none')],
    ...policyFacts(cluster),
    [
      t('Registered'),
      <span key="created">
        {rich('{time} by {name}', { time: <Time at={cluster.created_at} />, name: cluster.created_by })}
      </span>,
    ],
  ];
  return <Facts facts={facts} />;
}
