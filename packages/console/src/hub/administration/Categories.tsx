import { useMutation, useQuery } from '@tanstack/react-query';
import { CirclePlus, FolderTree, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { CategoryIcon, categoryIcons } from '../../shared/catalog/CategoryIcon.tsx';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { CheckField, SearchField, SelectField, TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { Menu } from '../../shared/ui/controls/Menu.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { type Category, hub } from '../api.ts';
import { visibilityLook } from '../looks.ts';

const PAGE_SIZE = 50;
type Open = { readonly kind: 'new' } | { readonly kind: 'edit' | 'delete'; readonly category: Category };

export default function Categories() {
  const { values, set, page, isFiltered, clear } = useFilters('search');
  const query = useQuery(hub.read('listAllCategories', { query: { ...values, page, limit: PAGE_SIZE } }));
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const create = (
    <Button tone="primary" icon={CirclePlus} aria-haspopup="dialog" onClick={() => setOpen({ kind: 'new' })}>
      {t('New category')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('Categories')}
        about={t('Private categories are visible only to organizations with a grant')}
        actions={create}
      />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# category} other {# categories}}', { count })}
        loading={t('Loading the categories…')}
        noMatch={t('No category matches')}
        isFiltered={isFiltered}
        onClear={clear}
        onPage={(next) => set({ page: next })}
        filters={
          <SearchField
            label={t('Search by name or slug')}
            value={values.search}
            onChange={(search) => set({ search })}
          />
        }
        icon={FolderTree}
        emptyTitle={t('There is no category yet')}
        emptyText={t('Each template belongs to a category.')}
        emptyAction={create}
      >
        <Table
          label={t('Categories')}
          columns={[
            { label: t('Name') },
            { label: t('Visibility') },
            { label: t('Templates'), isEnd: true },
            { label: t('Grants'), isEnd: true },
            { label: t('Order'), isEnd: true },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {query.data?.categories.map((category) => (
            <tr key={category.id}>
              <th scope="row">
                <span className="row-nowrap">
                  <span className="glyph">
                    <CategoryIcon name={category.icon} size={18} />
                  </span>
                  <span className="grow">
                    {category.name}
                    <span className="muted small mono truncate">{category.slug}</span>
                  </span>
                </span>
              </th>
              <td>
                <Status {...visibilityLook(category.is_private)} />
              </td>
              <td className="end numeric">{formatCount(category.template_count)}</td>
              <td className="end numeric">{category.is_private ? formatCount(category.access_count) : '–'}</td>
              <td className="end numeric">{category.sort_order}</td>
              <td className="end">
                <Menu
                  label={t('Actions for {name}', { name: category.name })}
                  actions={[
                    {
                      label: t('Edit…'),
                      icon: Pencil,
                      onSelect: () => setOpen({ kind: 'edit', category }),
                      opensDialog: true,
                    },
                    {
                      label: t('Delete…'),
                      icon: Trash2,
                      isDangerous: true,
                      onSelect: () => setOpen({ kind: 'delete', category }),
                      opensDialog: true,
                      blocked: category.template_count > 0 ? t('It has templates.') : undefined,
                    },
                  ]}
                />
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
      {open?.kind === 'new' && <CategoryDialog category={undefined} onClose={close} />}
      {open?.kind === 'edit' && <CategoryDialog category={open.category} onClose={close} />}
      {open?.kind === 'delete' && <DeleteDialog category={open.category} onClose={close} />}
    </>
  );
}

function CategoryDialog({
  category,
  onClose,
}: {
  readonly category: Category | undefined;
  readonly onClose: () => void;
}) {
  const form = useForm({
    name: category?.name ?? '',
    slug: category?.slug ?? '',
    description: category?.description ?? '',
    icon: category?.icon ?? '',
    sort_order: String(category?.sort_order ?? 0),
    is_private: category?.is_private ?? false,
  });
  const onSuccess = (reply: { readonly category: Category }) => {
    confirmChange(t('Category {name} is saved', { name: reply.category.name }));
    onClose();
  };
  const create = useMutation({ ...hub.change('createCategory', 'catalog'), onSuccess });
  const update = useMutation({ ...hub.change('updateCategory', 'catalog'), onSuccess });
  const { error, isPending } = category ? update : create;
  const errorAt = form.errorsOf(error);
  const { slug, sort_order, ...others } = form.values;
  const body = { ...others, sort_order: Number(sort_order), ...(slug === '' ? {} : { slug }) };
  const becomesPrivate = category !== undefined && !category.is_private && others.is_private;
  const becomesPublic = category?.is_private === true && !others.is_private;
  return (
    <FormDialog
      title={category ? t('Edit {name}', { name: category.name }) : t('New category')}
      action={t('Save')}
      pending={isPending}
      error={error}
      shown={['name', 'slug', 'description', 'icon', 'sort_order', 'is_private']}
      onClose={onClose}
      onSubmit={() => {
        if (category) update.mutate({ query: { id: category.id }, body, ifMatch: category.version });
        else create.mutate({ body });
      }}
    >
      <TextField {...form.bind('name')} label={t('Name')} required error={errorAt('name')} />
      <TextField
        {...form.bind('slug')}
        label={t('Slug')}
        mono
        hint={t('Empty: derived from the name.')}
        error={errorAt('slug')}
      />
      <TextAreaField
        {...form.bind('description')}
        label={t('Description')}
        mono={false}
        rows={2}
        error={errorAt('description')}
      />
      <SelectField
        {...form.bind('icon')}
        label={t('Icon')}
        options={[{ value: '', label: t('Box') }, ...categoryIcons.map((icon) => ({ value: icon, label: icon }))]}
        error={errorAt('icon')}
      />
      <TextField
        {...form.bind('sort_order')}
        label={t('Order')}
        type="number"
        hint={t('Categories are listed in ascending order.')}
        error={errorAt('sort_order')}
      />
      <CheckField
        label={t('Private')}
        hint={t('Only organizations with a grant see its templates.')}
        checked={others.is_private}
        onChange={(checked) => form.set('is_private', checked)}
      />
      {becomesPrivate && (
        <Notice
          kind="warning"
          title={t(
            '{count, plural, one {# template disappears from most fleets} other {# templates disappear from most fleets}}',
            { count: category.template_count },
          )}
        >
          <p>
            {t(
              '{count, plural, =0 {No organization has a grant.} one {Only the organization with a grant keeps seeing them.} other {Only the # organizations with a grant keep seeing them.}}',
              { count: category.access_count },
            )}
          </p>
        </Notice>
      )}
      {becomesPublic && (
        <Notice
          kind="warning"
          title={t(
            '{count, plural, one {# template becomes visible to everybody} other {# templates become visible to everybody}}',
            { count: category.template_count },
          )}
        />
      )}
    </FormDialog>
  );
}

function DeleteDialog({
  category: { id, name, version },
  onClose,
}: {
  readonly category: Category;
  readonly onClose: () => void;
}) {
  const remove = useMutation({
    ...hub.change('deleteCategory', 'catalog'),
    onSuccess: () => {
      confirmChange(t('Category {name} is deleted', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Delete {name}?', { name })}
      action={t('Delete')}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ query: { id }, body: {}, ifMatch: version })}
    >
      <p>{t('The category is deleted with its grants.')}</p>
    </ConfirmDialog>
  );
}
