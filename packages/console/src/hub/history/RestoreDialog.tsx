import { useMutation, useQuery } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import { SelectField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { hub } from '../api.ts';
import { type Kind, operations } from './kinds.ts';
import { MemberChanges } from './MemberChanges.tsx';
import { MessageField } from './MessageField.tsx';

/** A template or an application with a history. */
export interface Restorable {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  /** The number of the newest revision. */
  readonly newest: number;
  /** The version that the restoration replaces: of a deleted object, its newest revision. */
  readonly version: number;
  readonly isDeleted: boolean;
}

const words = {
  template: {
    again: t('The template is created again with its history. Fleets receive it with their next sync.'),
    slug: t('Only if another template has the slug now.'),
  },
  application: {
    again: t('The application is created again with its history. Fleets receive it with their next sync.'),
    slug: t('Only if another application has the slug now.'),
  },
} as const;

/** Restores a revision, after a preview of what changes. */
export function RestoreDialog({
  of: { kind, id, name, newest, version, isDeleted },
  revision,
  onClose,
}: {
  readonly of: Restorable;
  readonly revision: number;
  readonly onClose: () => void;
}) {
  const form = useForm({ message: '', slug: '', category_id: '' });
  const categories = useQuery(hub.read('listAllCategories'));
  const preview = useQuery(
    hub.read(operations[kind].compare, { params: { id, revision: `${newest}` }, query: { since: revision } }),
  );
  const restore = useMutation({
    ...hub.change(operations[kind].restore, 'catalog'),
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
          ? words[kind].again
          : t(
              'A new revision has the old content. Fleets receive it with their next sync. What they run does not change.',
            )}
      </p>
      {preview.error && <ErrorView error={preview.error} retry={preview.refetch} />}
      {preview.isPending && <Loading text={t('Loading the differences…')} />}
      {preview.data && (
        <MemberChanges
          changes={preview.data.changes.map(({ member, before, after }) => ({ member, before: after, after: before }))}
        />
      )}
      {isDeleted && (
        <>
          <TextField
            {...form.bind('slug')}
            label={t('Another slug')}
            hint={words[kind].slug}
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
      <MessageField kind={kind} {...form.bind('message')} error={errorAt('message')} />
    </FormDialog>
  );
}
