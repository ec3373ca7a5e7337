import { useQuery } from '@tanstack/react-query';
import { Layers, Rocket } from 'lucide-react';
import { Link } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { SearchField } from '../../shared/ui/controls/Field.tsx';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { OldValuesMark } from '../../shared/ui/feedback/OldValues.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { AdviceMarks } from '../advice/Advice.tsx';
import { fleet } from '../api.ts';
import { templateStateLook } from '../looks.ts';

const sorts = ['name', '-name', 'updated_at', '-updated_at'] as const;

export default function Workloads() {
  const { values, set, page, isFiltered, clear } = useFilters(
    'search',
    'template',
    'template_state',
    'template_status',
    'sort',
  );
  const sort = sorts.find((one) => one === values.sort) ?? '-updated_at';
  const query = useQuery(fleet.read('listWorkloads', { query: { ...values, page, sort } }));
  return (
    <>
      <PageHeader
        title={t('Workloads')}
        about={t('What deployments run: image, variables, ports, volumes and requirements, as revisions')}
      />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# workload} other {# workloads}}', { count })}
        loading={t('Loading the workloads…')}
        noMatch={t('No workload matches')}
        isFiltered={isFiltered}
        onClear={clear}
        onPage={(next) => set({ page: next })}
        filters={
          <SearchField label={t('Search by name')} value={values.search} onChange={(search) => set({ search })} />
        }
        icon={Layers}
        emptyTitle={t('There is no workload yet')}
        emptyText={t(
          'A deployment of a template or an image creates a workload with the same name. Programs can also create workloads with the API.',
        )}
        emptyAction={
          <ButtonLink tone="primary" icon={Rocket} href="/catalog">
            {t('Deploy a template')}
          </ButtonLink>
        }
      >
        <Table
          label={t('Workloads')}
          sorting={{ value: sort, onChange: (next) => set({ sort: next }) }}
          columns={[
            { label: t('Name'), sort: 'name' },
            { label: t('Image') },
            { label: t('Revision'), isEnd: true },
            { label: t('Template') },
            { label: t('Changed'), sort: 'updated_at' },
          ]}
        >
          {query.data?.workloads.map((workload) => (
            <tr key={workload.id}>
              <th scope="row">
                <Link href={href('/workloads/:id', { id: workload.id })} className="cell-link">
                  {workload.name}
                </Link>
              </th>
              <td className="mono small">
                <bdi>{workload.image_name}</bdi>:{workload.image_tag}
              </td>
              <td className="end numeric">{workload.revision}</td>
              <td>
                <span className="row">
                  {workload.template_slug ?? <span className="muted">{t('none')}</span>}
                  {workload.template_state && <Status {...templateStateLook(workload.template_state)} />}
                  <AdviceMarks advice={workload.advice} />
                  <OldValuesMark warnings={workload.warnings} />
                </span>
              </td>
              <td className="muted">
                <Time at={workload.updated_at} />
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
    </>
  );
}
