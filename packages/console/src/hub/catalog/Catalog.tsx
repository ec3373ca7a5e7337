import { useQuery } from '@tanstack/react-query';
import { Blocks, SearchX } from 'lucide-react';
import { CatalogFilters } from '../../shared/catalog/CatalogFilters.tsx';
import { TemplateGrid } from '../../shared/catalog/TemplateGrid.tsx';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect } from '../../shared/ui/controls/Field.tsx';
import { Empty, ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { Pager } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, iconOf } from '../api.ts';
import { RequestAccess } from '../organization/RequestAccess.tsx';
import { CountedFilters } from './CountedFilters.tsx';

const PAGE_SIZE = 48;

const sorts = [
  { value: 'name', label: t('By name') },
  { value: '-download_count', label: t('Most downloads first') },
  { value: '-created_at', label: t('Newest first') },
] as const;

export default function Catalog() {
  const { values, set, page, isFiltered, clear } = useFilters('q', 'category', 'kind', 'tier', 'gpu', 'tags', 'sort');
  const { sort: given, gpu: needsGpu, ...texts } = values;
  const sort = sorts.find(({ value }) => value === given)?.value;
  const hasGpu = needsGpu === 'true' || needsGpu === 'false';
  const filters = { ...texts, ...(hasGpu && { gpu: needsGpu === 'true' }) };
  const templates = useQuery(
    hub.read('listTemplates', {
      query: { ...filters, ...(sort && { sort }), page, limit: PAGE_SIZE, view: 'summary' },
    }),
  );
  return (
    <>
      <PageHeader title={t('Catalog')} about={t('Templates that fleets can deploy')} />
      <CatalogFilters
        values={values}
        set={set}
        total={templates.data?.pagination.total}
        actions={
          <FilterSelect
            label={t('Order')}
            value={sort ?? ''}
            onChange={(value) => set({ sort: value })}
            options={values.q === '' ? sorts : [{ value: '', label: t('Best match first') }, ...sorts]}
          />
        }
      >
        <CountedFilters filters={filters} set={set} />
      </CatalogFilters>
      {templates.error && <ErrorView error={templates.error} retry={templates.refetch} />}
      {!templates.data && !templates.error && <Loading text={t('Loading the templates…')} />}
      {templates.data?.templates.length === 0 &&
        (isFiltered ? (
          <Empty
            icon={SearchX}
            title={t('No template matches')}
            action={<Button onClick={clear}>{t('Clear the filters')}</Button>}
          />
        ) : (
          <Empty icon={Blocks} title={t('The catalog is empty')}>
            {t('An administrator publishes templates. Private templates are visible after sign-in.')}
          </Empty>
        ))}
      {templates.data && (
        <>
          <TemplateGrid
            templates={templates.data.templates}
            hrefOf={({ slug }) => href('/templates/:slug', { slug })}
            iconOf={iconOf}
          />
          <Pager pagination={templates.data.pagination} onPage={(next) => set({ page: next })} />
        </>
      )}
      <RequestAccess />
    </>
  );
}
