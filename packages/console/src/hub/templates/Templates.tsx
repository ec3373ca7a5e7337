import { useQuery } from '@tanstack/react-query';
import { CirclePlus, Combine, CopyPlus, FileInput, PackageOpen, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { OldValuesMark } from '../../shared/ui/feedback/OldValues.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedTemplate } from '../api.ts';
import { DeleteDialog } from '../history/DeleteDialog.tsx';
import { DeletedObjects, PresentOrDeleted } from '../history/DeletedObjects.tsx';
import { MANAGED_PAGE_SIZE, ManagedList } from './ManagedList.tsx';

export default function Templates() {
  const { values, set, page, isFiltered, clear } = useFilters('q', 'show');
  const { q, show } = values;
  const query = useQuery({
    ...hub.read('listAllTemplates', { query: { q, page, limit: MANAGED_PAGE_SIZE, view: 'summary' } }),
    enabled: show !== 'deleted',
  });
  const [deleted, setDeleted] = useState<ManagedTemplate>();
  const [, navigate] = useLocation();
  const create = (
    <ButtonLink tone="primary" icon={CirclePlus} href="/admin/templates/new">
      {t('New template')}
    </ButtonLink>
  );
  const actions = (
    <>
      <ButtonLink icon={FileInput} href={href('/admin/templates/new', undefined, { import: 'yaml' })}>
        {t('Import YAML')}
      </ButtonLink>
      <ButtonLink icon={Combine} href="/admin/convert">
        {t('Convert a Compose file')}
      </ButtonLink>
      {create}
    </>
  );
  const showFilter = <PresentOrDeleted value={show} onChange={(next) => set({ show: next, q: '' })} />;
  return (
    <>
      <PageHeader title={t('Templates')} about={t('All templates, including private ones')} actions={actions} />
      {show === 'deleted' ? (
        <DeletedObjects kind="template" filters={showFilter} />
      ) : (
        <ManagedList
          label={t('Templates')}
          query={query}
          pagination={query.data?.pagination}
          count={(count) => t('{count, plural, one {# template} other {# templates}}', { count })}
          loading={t('Loading the templates…')}
          noMatch={t('No template matches')}
          isFiltered={isFiltered}
          onClear={clear}
          onPage={(next) => set({ page: next })}
          search={{ value: q, onChange: (next) => set({ q: next }) }}
          filters={showFilter}
          icon={PackageOpen}
          emptyTitle={t('There is no template yet')}
          emptyText={t(
            'Create or import one here, or import the files of a folder with the command import of the hub.',
          )}
          emptyAction={create}
          rows={query.data?.templates}
          hrefOf={({ id }) => href('/admin/templates/:id', { id })}
          marksOf={({ warnings }) => <OldValuesMark warnings={warnings} />}
          actionsOf={(template) => [
            {
              label: t('Edit'),
              icon: Pencil,
              onSelect: () => navigate(href('/admin/templates/:id', { id: template.id })),
            },
            {
              label: t('Duplicate'),
              icon: CopyPlus,
              onSelect: () => navigate(href('/admin/templates/new', undefined, { from: template.id })),
            },
            {
              label: t('Delete…'),
              icon: Trash2,
              isDangerous: true,
              onSelect: () => setDeleted(template),
              opensDialog: true,
            },
          ]}
        />
      )}
      {deleted && <DeleteDialog kind="template" of={deleted} onClose={() => setDeleted(undefined)} />}
    </>
  );
}
