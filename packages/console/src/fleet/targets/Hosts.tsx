import { useQuery } from '@tanstack/react-query';
import { CirclePlus, Server } from 'lucide-react';
import { Link } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button, ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect, SearchField } from '../../shared/ui/controls/Field.tsx';
import { textOfTaint } from '../../shared/ui/controls/pairs.ts';
import { formatCount } from '../../shared/ui/display/format.ts';
import { Cells } from '../../shared/ui/display/Meter.tsx';
import { looks, Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet, type Host, useBlocked } from '../api.ts';
import { reachabilityLook } from '../looks.ts';
import { AllocatedMeter } from './AllocatedMeter.tsx';

const sorts = ['name', '-name', 'problem', '-problem', 'last_seen_at', '-last_seen_at'] as const;

export default function Hosts() {
  const { values, set, page, isFiltered, clear } = useFilters('search', 'engine', 'reachability', 'sort');
  const sort = sorts.find((one) => one === values.sort) ?? '-problem';
  const query = useQuery(fleet.read('listHosts', { query: { ...values, page, sort } }));
  const blocked = useBlocked();
  const add = blocked('createHost') ? (
    <Button icon={CirclePlus} blocked={blocked('createHost')}>
      {t('Add a host')}
    </Button>
  ) : (
    <ButtonLink tone="primary" icon={CirclePlus} href="/hosts/new">
      {t('Add a host')}
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title={t('Hosts')}
        about={t('Machines with Docker or Podman, and the nodes of clusters')}
        actions={add}
      />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# host} other {# hosts}}', { count })}
        loading={t('Loading the hosts…')}
        noMatch={t('No host matches')}
        isFiltered={isFiltered}
        onClear={clear}
        onPage={(next) => set({ page: next })}
        filters={
          <>
            <SearchField label={t('Search by name')} value={values.search} onChange={(search) => set({ search })} />
            <FilterSelect
              label={t('Engine')}
              value={values.engine}
              onChange={(engine) => set({ engine })}
              options={[
                { value: '', label: t('All engines') },
                { value: 'docker', label: t('Docker') },
                { value: 'podman', label: t('Podman') },
                { value: 'kubernetes', label: t('Kubernetes nodes') },
              ]}
            />
            <FilterSelect
              label={t('Reachability')}
              value={values.reachability}
              onChange={(reachability) => set({ reachability })}
              options={[
                { value: '', label: t('Any state') },
                { value: 'online', label: t('Online') },
                { value: 'unreachable', label: t('Unreachable') },
                { value: 'unknown', label: t('Not checked') },
              ]}
            />
          </>
        }
        icon={Server}
        emptyTitle={t('No host is registered')}
        emptyText={t(
          'A host is a machine with Docker or Podman. The fleet reaches it by a local socket or over TCP with TLS.',
        )}
        emptyAction={add}
      >
        <Table
          label={t('Hosts')}
          sorting={{ value: sort, onChange: (next) => set({ sort: next }) }}
          columns={[
            { label: t('Name'), sort: 'name' },
            { label: t('State'), sort: 'problem' },
            { label: t('CPU allocated') },
            { label: t('Memory allocated') },
            { label: t('GPUs allocated') },
            { label: t('Last seen'), sort: 'last_seen_at' },
          ]}
        >
          {query.data?.hosts.map((host) => (
            <HostRow key={host.id} host={host} />
          ))}
        </Table>
      </ListStates>
    </>
  );
}

function HostRow({ host }: { readonly host: Host }) {
  const { id, name, engine, engine_version, capacity, allocated, gpus, schedulable, taints, last_seen_at, message } =
    host;
  const gpuCount = gpus.length > 0 ? gpus.length : (capacity?.gpu_count ?? 0);
  return (
    <tr>
      <th scope="row">
        <Link href={href('/hosts/:id', { id })} className="cell-link">
          {name}
        </Link>
        <span className="muted small truncate">
          {engine} {engine_version}
        </span>
      </th>
      <td>
        <span className="row">
          <Status {...reachabilityLook(host)} />
          {!schedulable && <Status {...looks.off(t('Scheduling disabled'))} />}
        </span>
        {message && <span className="muted small">{message}</span>}
        {taints.length > 0 && (
          <span className="muted small truncate">
            {t('Taints: {taints}', { taints: taints.map(textOfTaint).join(', ') })}
          </span>
        )}
      </td>
      <td>
        <AllocatedMeter resource="cpu" allocated={allocated} total={capacity} />
      </td>
      <td>
        <AllocatedMeter resource="memory" allocated={allocated} total={capacity} />
      </td>
      <td>
        {gpuCount === 0 ? (
          <span className="muted">–</span>
        ) : allocated ? (
          <Cells
            used={allocated.gpu_count}
            total={gpuCount}
            words={t('{used} of {total}', { used: formatCount(allocated.gpu_count), total: formatCount(gpuCount) })}
          />
        ) : (
          <span className="numeric">{formatCount(gpuCount)}</span>
        )}
      </td>
      <td className="muted">{last_seen_at ? <Time at={last_seen_at} /> : t('never')}</td>
    </tr>
  );
}
