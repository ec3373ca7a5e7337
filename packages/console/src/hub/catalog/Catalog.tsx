import { useQuery } from '@tanstack/react-query';
import { Blocks, SearchX } from 'lucide-react';
import { CatalogFilters } from '../../shared/catalog/CatalogFilters.tsx';
import { TemplateGrid } from '../../shared/catalog/TemplateGrid.tsx';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { Empty, ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { Pager } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub } from '../api.ts';

const PAGE_SIZE = 48;

export default function Catalog() {
  const { values, set, page, isFiltered, clear } = useFilters('q', 'category', 'tags');
  const templates = useQuery(
    hub.read('listTemplates', { query: { ...values, page, limit: PAGE_SIZE, view: 'summary' } }),
  );
  const categories = useQuery(hub.read('listCategories'));
  return (
    <>
      <PageHeader title={t('Catalog')} about={t('Templates that fleets can deploy')} />
      <CatalogFilters
        values={values}
        set={set}
        categories={categories.data?.categories ?? []}
        total={templates.data?.pagination.total}
      />
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
          />
          <Pager pagination={templates.data.pagination} onPage={(next) => set({ page: next })} />
        </>
      )}
    </>
  );
}
