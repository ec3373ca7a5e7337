import { useQuery } from '@tanstack/react-query';
import { Blocks, Container, FileInput, RefreshCw, Rocket, SearchX } from 'lucide-react';
import { Link } from 'wouter';
import { CatalogFilters } from '../../shared/catalog/CatalogFilters.tsx';
import { FilterChips } from '../../shared/catalog/FilterChips.tsx';
import { TemplateGrid } from '../../shared/catalog/TemplateGrid.tsx';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button, ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { Tabs, useTab } from '../../shared/ui/controls/Tabs.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { Empty, ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { Pager } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { TrustMark } from '../advice/TrustMark.tsx';
import { fleet } from '../api.ts';
import { MirroredApplications } from './MirroredApplications.tsx';

const PAGE_SIZE = 48;

const tabs = [
  { id: 'templates', label: t('Templates') },
  { id: 'applications', label: t('Applications') },
] as const;

/** What the fleet has copied from the hub: templates, and applications of several containers. */
export default function Catalog() {
  const tab = useTab(tabs);
  const sync = useQuery(fleet.read('getSyncState'));
  return (
    <>
      <PageHeader
        title={t('Catalog')}
        about={
          sync.data?.last_success_at
            ? rich('Catalog of the hub, as of {time}', { time: <Time at={sync.data.last_success_at} /> })
            : t('Catalog of the hub')
        }
        actions={
          <>
            <ButtonLink href="/deployments/new" icon={Container}>
              {t('Deploy an image')}
            </ButtonLink>
            <ButtonLink href="/convert" icon={FileInput}>
              {t('Convert a Compose file')}
            </ButtonLink>
            <ButtonLink href="/sync" icon={RefreshCw}>
              {t('Sync')}
            </ButtonLink>
          </>
        }
      />
      <Tabs label={t('Catalog')} tabs={tabs} current={tab} path="/catalog" />
      {tab === 'applications' ? <MirroredApplications /> : <MirroredTemplates />}
    </>
  );
}

function MirroredTemplates() {
  const { values, set, page, isFiltered, clear } = useFilters('q', 'category', 'tags');
  const templates = useQuery(
    fleet.read('listMirroredTemplates', { query: { ...values, page, limit: PAGE_SIZE, view: 'summary' } }),
  );
  const categories = useQuery(fleet.read('listMirroredCategories'));
  return (
    <>
      <CatalogFilters values={values} set={set} total={templates.data?.pagination.total}>
        <FilterChips
          label={t('Category')}
          values={(categories.data?.categories ?? []).map(({ slug, name, template_count }) => ({
            value: slug,
            label: name,
            count: template_count,
          }))}
          chosen={values.category === '' ? [] : [values.category]}
          onChange={(chosen) => set({ category: chosen.at(-1) ?? '' })}
        />
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
          <Empty
            icon={Blocks}
            title={t('The catalog is empty')}
            action={
              <ButtonLink tone="primary" href="/sync">
                {t('Set up the sync')}
              </ButtonLink>
            }
          >
            {t('The fleet copies templates from a hub. Connect it to a hub, then sync.')}
          </Empty>
        ))}
      {templates.data && (
        <>
          <TemplateGrid
            templates={templates.data.templates}
            hrefOf={({ slug }) => href('/catalog/:slug', { slug })}
            actions={({ slug, name, trust }) => (
              <>
                <TrustMark trust={trust} />
                <Link
                  href={href('/deploy/:slug', { slug })}
                  className="button small"
                  aria-label={t('Deploy {name}', { name })}
                >
                  <Rocket size={14} aria-hidden />
                  {t('Deploy')}
                </Link>
              </>
            )}
          />
          <Pager pagination={templates.data.pagination} onPage={(next) => set({ page: next })} />
        </>
      )}
    </>
  );
}
