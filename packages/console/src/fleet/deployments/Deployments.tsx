import { useQueries, useQuery } from '@tanstack/react-query';
import { Boxes, Container, Rocket, SearchX } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { severityOf } from '../../shared/api/severities.ts';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button, ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect, SearchField } from '../../shared/ui/controls/Field.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { Empty, ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { type VirtualColumn, VirtualTable } from '../../shared/ui/lists/VirtualTable.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { AdviceMarks } from '../advice/Advice.tsx';
import { type Deployment, fleet, useBlocked } from '../api.ts';
import { passingPhases, phaseLook, troubledPhases } from '../looks.ts';
import { DeploymentMenu } from './DeploymentActions.tsx';
import { listFilters } from './list/filters.ts';
import { MoreFilters } from './list/MoreFilters.tsx';
import { SelectionBar } from './list/SelectionBar.tsx';
import { MAX_SELECTED, SelectBox, SelectionProvider, useSelection } from './list/selection.tsx';
import { StateMessage } from './problems/Problem.tsx';
import { UpdateAll } from './updates/runs/UpdateAll.tsx';
import { UpdateMark, WITH_UPDATE } from './updates/UpdateMark.tsx';

const PAGE_SIZE = 50;
const ROW_HEIGHT = 56;

/** The last one is the default: deployments with problems, then the others, those that changed last first. */
const sorts = ['name', '-name', 'updated_at', '-updated_at', 'problem', '-problem'] as const;

const phaseGroups = [
  { value: '', label: t('All') },
  { value: troubledPhases.join(','), label: t('With problems') },
  { value: 'running', label: t('Running') },
  { value: passingPhases.join(','), label: t('In transition') },
  { value: 'stopped', label: t('Stopped') },
] as const;

/** Filters of links from other pages. A button shows and removes each of them. */
const narrowing = [
  { name: 'host_id', label: () => t('On one host') },
  { name: 'cluster_id', label: () => t('On one cluster') },
  { name: 'label', label: (value: string) => t('Label {value}', { value }) },
  { name: 'created_by', label: (value: string) => t('Created by {name}', { name: value }) },
  { name: 'advisory', label: () => t('With advisories') },
  { name: 'template_status', label: () => t('By the status of the template') },
  { name: 'template_state', label: () => t('By the state of the template') },
  { name: 'update', label: () => t('By the state of the update') },
] as const;

const columns: readonly VirtualColumn<Deployment>[] = [
  {
    label: t('Name'),
    width: 'minmax(7rem, 2fr)',
    sort: 'name',
    cell: ({ id, name, template_slug }) => (
      <>
        <Link href={href('/deployments/:id', { id })} className="cell-link truncate">
          {name}
        </Link>
        <span className="muted small truncate">{template_slug ?? t('own workload')}</span>
      </>
    ),
  },
  {
    label: t('State'),
    width: 'minmax(7rem, 2.5fr)',
    sort: 'problem',
    cell: (deployment) => (
      <>
        <span className="row">
          <Status {...phaseLook(deployment)} />
          <UpdateMark deployment={deployment} />
          <AdviceMarks advice={deployment.advice} />
        </span>
        <StateMessage deployment={deployment} />
      </>
    ),
  },
  {
    label: t('Target'),
    width: 'minmax(7rem, 1fr)',
    isWideOnly: true,
    cell: ({ target_name }) => <span className="truncate">{target_name ?? t('none yet')}</span>,
  },
  {
    label: t('Replicas'),
    width: '6rem',
    isWideOnly: true,
    cell: ({ replicas }) => <span className="numeric">{formatCount(replicas)}</span>,
  },
  {
    label: t('Changed'),
    width: '9rem',
    sort: 'updated_at',
    isWideOnly: true,
    cell: ({ updated_at }) => (
      <span className="muted">
        <Time at={updated_at} />
      </span>
    ),
  },
  {
    label: t('Actions'),
    width: '3.75rem',
    isHidden: true,
    cell: (deployment) => <DeploymentMenu deployment={deployment} />,
  },
];

const selectableColumns: readonly VirtualColumn<Deployment>[] = [
  {
    label: t('Selection'),
    width: '2.5rem',
    isHidden: true,
    cell: (deployment) => <SelectBox deployment={deployment} />,
  },
  ...columns,
];

export default function Deployments() {
  const blocked = useBlocked();
  const selection = useSelection();
  const { values, set, isFiltered, clear } = useFilters(...listFilters, 'update', 'sort');
  const [range, setRange] = useState({ first: 0, last: 0 });
  const { sort, advisory, ...filters } = values;
  const { sort: _sort, update: _update, ...filtersOfRun } = values;
  const query = {
    ...filters,
    advisory: severityOf(advisory),
    limit: PAGE_SIZE,
    sort: sorts.find((one) => one === sort) ?? '-problem',
  } as const;
  const pageOf = (page: number) => fleet.read('listDeployments', { query: { ...query, page } });
  const first = useQuery(pageOf(1));
  const total = first.data?.pagination.total ?? 0;
  const firstPage = Math.max(1, Math.floor(range.first / PAGE_SIZE) + 1);
  const lastPage = Math.max(firstPage, Math.floor(range.last / PAGE_SIZE) + 1);
  const numbers = Array.from({ length: lastPage - firstPage + 1 }, (_, index) => firstPage + index);
  // A page that is not loaded yet shows placeholders instead of the rows of another page.
  const pages = useQueries({
    queries: numbers.map((page) => {
      const { placeholderData: _, ...options } = pageOf(page);
      return options;
    }),
  });
  const rowAt = (index: number): Deployment | undefined => {
    const page = Math.floor(index / PAGE_SIZE) + 1;
    const { data } = pages[page - firstPage] ?? {};
    return data?.deployments[index % PAGE_SIZE];
  };
  const templates = useQuery(fleet.read('listMirroredTemplates', { query: { limit: 100, view: 'summary' } }));
  const canChange = blocked('updateDeployment') === undefined;
  const isWithUpdate = values.update === WITH_UPDATE.update;
  const isKnownGroup = phaseGroups.some(({ value }) => value === values.phase);
  return (
    <>
      <PageHeader
        title={t('Deployments')}
        actions={
          <>
            <ButtonLink icon={Container} href="/deployments/new">
              {t('Deploy an image')}
            </ButtonLink>
            <ButtonLink tone="primary" icon={Rocket} href="/catalog">
              {t('Deploy a template')}
            </ButtonLink>
          </>
        }
      />
      <div className="filters">
        <SearchField label={t('Search by name')} value={values.search} onChange={(search) => set({ search })} />
        <fieldset className="chips" aria-label={t('State')}>
          {phaseGroups.map(({ value, label }) => (
            <button
              key={value}
              type="button"
              className="chip"
              aria-pressed={values.phase === value}
              onClick={() => set({ phase: value })}
            >
              {label}
            </button>
          ))}
          {!isKnownGroup && (
            <button type="button" className="chip" aria-pressed onClick={() => set({ phase: '' })}>
              {values.phase} ×
            </button>
          )}
        </fieldset>
        <button
          type="button"
          className="chip"
          aria-pressed={isWithUpdate}
          onClick={() => set({ update: isWithUpdate ? '' : WITH_UPDATE.update })}
        >
          {t('Update available')}
        </button>
        {narrowing.map(({ name, label }) =>
          values[name] === '' || (name === 'update' && isWithUpdate) ? null : (
            <button key={name} type="button" className="chip" aria-pressed onClick={() => set({ [name]: '' })}>
              {label(values[name])} ×
            </button>
          ),
        )}
        <FilterSelect
          label={t('Template')}
          value={values.template}
          onChange={(template) => set({ template })}
          options={[
            { value: '', label: t('All templates') },
            ...(templates.data?.templates ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
          ]}
        />
        <MoreFilters values={values} set={set} known={first.data?.deployments ?? []} />
        {canChange && total > 0 && (
          <Button size="small" tone="ghost" onClick={() => selection.set(first.data?.deployments ?? [], true)}>
            {total > MAX_SELECTED ? t('Select the first {count}', { count: MAX_SELECTED }) : t('Select all')}
          </Button>
        )}
        {isWithUpdate && <UpdateAll count={total} filters={filtersOfRun} size="small" />}
        {first.data && (
          <span className="total" role="status">
            {t('{count, plural, one {# deployment} other {# deployments}}', { count: total })}
          </span>
        )}
      </div>
      {first.error && <ErrorView error={first.error} retry={first.refetch} />}
      {!first.data && !first.error && <Loading text={t('Loading the deployments…')} />}
      {first.data && total === 0 && (
        <div className="panel">
          {isFiltered ? (
            <Empty
              icon={SearchX}
              title={t('No deployment matches')}
              action={<Button onClick={clear}>{t('Clear the filters')}</Button>}
            />
          ) : (
            <Empty
              icon={Boxes}
              title={t('Nothing is deployed yet')}
              action={
                <ButtonLink tone="primary" icon={Rocket} href="/catalog">
                  {t('Choose a template')}
                </ButtonLink>
              }
            >
              {t('Choose a template of the catalog. The form shows where it would run before anything is created.')}
            </Empty>
          )}
        </div>
      )}
      {total > 0 && (
        <SelectionProvider selection={selection}>
          <VirtualTable
            label={t('Deployments')}
            columns={canChange ? selectableColumns : columns}
            sorting={{ value: query.sort, onChange: (next) => set({ sort: next }) }}
            total={total}
            rowHeight={ROW_HEIGHT}
            rowAt={rowAt}
            keyOf={({ id }) => id}
            onVisible={(firstRow, lastRow) => setRange({ first: firstRow, last: lastRow })}
          />
        </SelectionProvider>
      )}
      <SelectionBar selection={selection} />
    </>
  );
}
