import { useMutation, useQuery } from '@tanstack/react-query';
import { CirclePlus, Combine, CopyPlus, FileInput, PackageOpen, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { fieldErrorsOf } from '../../shared/api/problem.ts';
import { TemplateStatus } from '../../shared/catalog/TemplateAdvice.tsx';
import { tierLabel } from '../../shared/catalog/tiers.ts';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect, SearchField } from '../../shared/ui/controls/Field.tsx';
import { Menu } from '../../shared/ui/controls/Menu.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { OldValuesMark } from '../../shared/ui/feedback/OldValues.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedTemplate } from '../api.ts';
import { visibilityLook } from '../looks.ts';
import { DeletedTemplates } from './DeletedTemplates.tsx';
import { MessageField } from './MessageField.tsx';

const PAGE_SIZE = 50;

export default function Templates() {
  const { values, set, page, isFiltered, clear } = useFilters('q', 'show');
  const { q, show } = values;
  const query = useQuery({
    ...hub.read('listAllTemplates', { query: { q, page, limit: PAGE_SIZE, view: 'summary' } }),
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
  const showFilter = (
    <FilterSelect
      label={t('Show')}
      value={show}
      onChange={(next) => set({ show: next, q: '' })}
      options={[
        { value: '', label: t('Present') },
        { value: 'deleted', label: t('Deleted') },
      ]}
    />
  );
  return (
    <>
      <PageHeader title={t('Templates')} about={t('All templates, including private ones')} actions={actions} />
      {show === 'deleted' ? (
        <DeletedTemplates filters={showFilter} />
      ) : (
        <ListStates
          query={query}
          pagination={query.data?.pagination}
          count={(count) => t('{count, plural, one {# template} other {# templates}}', { count })}
          loading={t('Loading the templates…')}
          noMatch={t('No template matches')}
          isFiltered={isFiltered}
          onClear={clear}
          onPage={(next) => set({ page: next })}
          filters={
            <>
              <SearchField label={t('Search by name or description')} value={q} onChange={(next) => set({ q: next })} />
              {showFilter}
            </>
          }
          icon={PackageOpen}
          emptyTitle={t('There is no template yet')}
          emptyText={t(
            'Create or import one here, or import the files of a folder with the command import of the hub.',
          )}
          emptyAction={create}
        >
          <Table
            label={t('Templates')}
            columns={[
              { label: t('Name') },
              { label: t('Category') },
              { label: t('Visibility') },
              { label: t('Tier') },
              { label: t('Downloads'), isEnd: true },
              { label: t('Changed') },
              { label: t('Actions'), isHidden: true },
            ]}
          >
            {query.data?.templates.map((template) => (
              <tr key={template.id}>
                <th scope="row">
                  <Link href={href('/admin/templates/:id', { id: template.id })} className="cell-link">
                    {template.name}
                  </Link>
                  <span className="muted small mono truncate">
                    <bdi>{template.slug}</bdi> {template.version}
                  </span>
                  <OldValuesMark warnings={template.warnings} />
                </th>
                <td>{template.category_name}</td>
                <td>
                  <Status {...visibilityLook(!template.is_public)} />
                  <TemplateStatus status={template.status} />
                </td>
                <td className="muted">{tierLabel(template.min_tier)}</td>
                <td className="end numeric">{formatCount(template.download_count)}</td>
                <td className="muted">
                  <Time at={template.updated_at} />
                </td>
                <td className="end">
                  <Menu
                    label={t('Actions for {name}', { name: template.name })}
                    actions={[
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
                </td>
              </tr>
            ))}
          </Table>
        </ListStates>
      )}
      {deleted && <DeleteDialog template={deleted} onClose={() => setDeleted(undefined)} />}
    </>
  );
}

function DeleteDialog({
  template: { id, name, slug, resource_version },
  onClose,
}: {
  readonly template: ManagedTemplate;
  readonly onClose: () => void;
}) {
  const [message, setMessage] = useState('');
  const remove = useMutation({
    ...hub.change('deleteTemplate', 'catalog'),
    onSuccess: () => {
      confirmChange(t('Template {name} is deleted', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Delete {name}?', { name })}
      action={t('Delete')}
      name={slug}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ query: { id }, body: { message }, ifMatch: resource_version })}
    >
      <p>
        {t(
          'It disappears from the catalog of each fleet with its next sync. What fleets run continues, and is marked as withdrawn. It can be restored as long as the hub keeps its history.',
        )}
      </p>
      <MessageField
        name="message"
        value={message}
        onChange={setMessage}
        error={fieldErrorsOf(remove.error).find(({ path }) => path === 'message')?.message}
      />
    </ConfirmDialog>
  );
}
