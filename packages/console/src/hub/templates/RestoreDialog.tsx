import { useMutation, useQuery } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import { SelectField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { hub } from '../api.ts';
import { MessageField } from './MessageField.tsx';
import { TemplateChanges } from './TemplateChanges.tsx';

/** A template with a history. */
export interface Restorable {
  readonly id: string;
  readonly name: string;
  /** The number of the newest revision. */
  readonly newest: number;
  /** The version that the restoration replaces: of a deleted template, its newest revision. */
  readonly version: number;
  readonly isDeleted: boolean;
}

/** Restores a revision, after a preview of what changes. */
export function RestoreDialog({
  template: { id, name, newest, version, isDeleted },
  revision,
  onClose,
}: {
  readonly template: Restorable;
  readonly revision: number;
  readonly onClose: () => void;
}) {
  const form = useForm({ message: '', slug: '', category_id: '' });
  const categories = useQuery(hub.read('listAllCategories'));
  const preview = useQuery(
    hub.read('compareRevisions', { params: { id, revision: `${newest}` }, query: { since: revision } }),
  );
  const restore = useMutation({
    ...hub.change('restoreTemplate', 'catalog'),
    onSuccess: () => {
      confirmChange(t('Revision {revision} of {name} is restored', { revision, name }));
      onClose();
    },
  });
  const errorAt = form.errorsOf(restore.error);
  const { message, slug, category_id } = form.values;
  return (
    <FormDialog
      title={t('Restore revision {revision} of {name}?', { revision, name })}
      action={t('Restore')}
      wide
      pending={restore.isPending}
      error={restore.error}
      shown={['message', 'slug', 'category_id']}
      onClose={onClose}
      onSubmit={() =>
        restore.mutate({
          params: { id },
          body: { revision, message, ...(slug && { slug }), ...(category_id && { category_id }) },
          ifMatch: version,
        })
      }
    >
      <p>
        {isDeleted
          ? t('The template is created again with its history. Fleets receive it with their next sync.')
          : t(
              'A new revision has the old content. Fleets receive it with their next sync. What they run does not change.',
            )}
      </p>
      {preview.error && <ErrorView error={preview.error} retry={preview.refetch} />}
      {preview.isPending && <Loading text={t('Loading the differences…')} />}
      {preview.data && (
        <TemplateChanges
          changes={preview.data.changes.map(({ member, before, after }) => ({ member, before: after, after: before }))}
        />
      )}
      {isDeleted && (
        <>
          <TextField
            {...form.bind('slug')}
            label={t('Another slug')}
            hint={t('Only if another template has the slug now.')}
            mono
            error={errorAt('slug')}
          />
          <SelectField
            {...form.bind('category_id')}
            label={t('Another category')}
            options={[
              { value: '', label: t('That of the revision') },
              ...(categories.data?.categories ?? []).map((category) => ({ value: category.id, label: category.name })),
            ]}
            error={errorAt('category_id')}
          />
        </>
      )}
      <MessageField {...form.bind('message')} error={errorAt('message')} />
    </FormDialog>
  );
}
