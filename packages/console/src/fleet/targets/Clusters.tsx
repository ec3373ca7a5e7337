import { useQuery } from '@tanstack/react-query';
import { CirclePlus, Waypoints } from 'lucide-react';
import { Link } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button, ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { SearchField } from '../../shared/ui/controls/Field.tsx';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet, useBlocked } from '../api.ts';
import { reachabilityLook } from '../looks.ts';
import { AllocatedMeter } from './AllocatedMeter.tsx';

export default function Clusters() {
  const { values, set, page, isFiltered, clear } = useFilters('search');
  const query = useQuery(fleet.read('listClusters', { query: { ...values, page, sort: '-problem' } }));
  const blocked = useBlocked();
  const add = blocked('createCluster') ? (
    <Button icon={CirclePlus} blocked={blocked('createCluster')}>
      {t('Add a cluster')}
    </Button>
  ) : (
    <ButtonLink tone="primary" icon={CirclePlus} href="/clusters/new">
      {t('Add a cluster')}
    </ButtonLink>
  );
  return (
    <>
      <PageHeader title={t('Clusters')} about={t('Kubernetes clusters on which the fleet deploys')} actions={add} />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# cluster} other {# clusters}}', { count })}
        loading={t('Loading the clusters…')}
        noMatch={t('No cluster matches')}
        isFiltered={isFiltered}
        onClear={clear}
        onPage={(next) => set({ page: next })}
        filters={
          <SearchField label={t('Search by name')} value={values.search} onChange={(search) => set({ search })} />
        }
        icon={Waypoints}
        emptyTitle={t('No cluster is registered')}
        emptyText={t(
          'The fleet needs the address of the API server, and a token or a client certificate with permissions in one namespace.',
        )}
        emptyAction={add}
      >
        <Table
          label={t('Clusters')}
          columns={[
            { label: t('Name') },
            { label: t('State') },
            { label: t('CPU') },
            { label: t('Memory') },
            { label: t('GPUs') },
            { label: t('Last seen') },
          ]}
        >
          {query.data?.clusters.map((cluster) => {
            const { id, name, kubernetes_version, allocatable, allocated, message, last_seen_at } = cluster;
            return (
              <tr key={id}>
                <th scope="row">
                  <Link href={href('/clusters/:id', { id })} className="cell-link">
                    {name}
                  </Link>
                  <span className="muted small truncate">
                    {kubernetes_version === null
                      ? t('Kubernetes')
                      : t('Kubernetes {version}', { version: kubernetes_version })}
                  </span>
                </th>
                <td>
                  <Status {...reachabilityLook(cluster)} />
                  {message && <span className="muted small"> {message}</span>}
                </td>
                <td>
                  <AllocatedMeter resource="cpu" label={t('allocated')} allocated={allocated} total={allocatable} />
                </td>
                <td>
                  <AllocatedMeter resource="memory" label={t('allocated')} allocated={allocated} total={allocatable} />
                </td>
                <td className="numeric">{allocatable?.gpu_count ?? '–'}</td>
                <td className="muted">{last_seen_at ? <Time at={last_seen_at} /> : t('never')}</td>
              </tr>
            );
          })}
        </Table>
      </ListStates>
    </>
  );
}
