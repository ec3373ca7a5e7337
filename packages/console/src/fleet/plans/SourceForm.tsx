import { useMutation } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import { CheckField, SelectField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { CopyLine, ShownOnceDialog } from '../../shared/ui/dialogs/ShownOnceDialog.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { type FleetOutput, fleet } from '../api.ts';

export type Source = FleetOutput<'listSources'>['sources'][number];

const modes = [
  { value: 'manual', label: t('A person applies the plan of each commit') },
  { value: 'automatic', label: t('The fleet applies the plan of each commit') },
] as const;

const prunes = [
  { value: 'never', label: t('They stay') },
  { value: 'ask', label: t('A plan that waits for approval removes them') },
  { value: 'automatic', label: t('They are removed; many at once wait for approval') },
] as const;

const SHOWN = [
  'name',
  'url',
  'branch',
  'folder',
  'token',
  'mode',
  'heal',
  'prune',
  'max_deletions',
  'interval_seconds',
] as const;

/** The form of a new source, or of a change of one. */
export function SourceForm({ source, onClose }: { readonly source?: Source; readonly onClose: () => void }) {
  const form = useForm({
    name: source?.name ?? '',
    url: source?.url ?? '',
    branch: source?.branch ?? 'main',
    folder: source?.folder ?? '',
    token: '',
    mode: source?.mode ?? 'manual',
    heal: source?.heal ?? false,
    prune: source?.prune ?? 'ask',
    max_deletions: String(source?.max_deletions ?? 3),
    interval_seconds: String(source?.interval_seconds ?? 300),
  });
  // The response is not in the cache of changes: closing the dialog removes the secret from memory.
  const create = useMutation({ ...fleet.change('createSource'), gcTime: 0 });
  const change = useMutation({
    ...fleet.change('updateSource'),
    onSuccess: ({ source: { name } }) => {
      confirmChange(t('The source {name} is changed', { name }));
      onClose();
    },
  });
  if (create.data) return <HookDialog source={create.data.source} onClose={onClose} />;
  const error = create.error ?? change.error;
  const errorAt = form.errorsOf(error);
  const { token, max_deletions, interval_seconds, ...values } = form.values;
  const body = {
    ...values,
    max_deletions: Number(max_deletions),
    interval_seconds: Number(interval_seconds),
    ...(token === '' ? {} : { token }),
  };
  return (
    <FormDialog
      title={source ? t('Change the source {name}', { name: source.name }) : t('New source')}
      action={source ? t('Save') : t('Create the source')}
      pending={create.isPending || change.isPending}
      error={error}
      shown={SHOWN}
      onClose={onClose}
      onSubmit={() => (source ? change.mutate({ params: { id: source.id }, body }) : create.mutate({ body }))}
    >
      <TextField {...form.bind('name')} label={t('Name')} required error={errorAt('name', 'set')} />
      <TextField
        {...form.bind('url')}
        label={t('Address of the repository')}
        hint={t('As for git clone, such as https://git.example.com/team/shop.git.')}
        required
        error={errorAt('url')}
      />
      <TextField {...form.bind('branch')} label={t('Branch')} required error={errorAt('branch')} />
      <TextField
        {...form.bind('folder')}
        label={t('Folder')}
        hint={t('Empty: all files of the repository with the endings .yaml, .yml and .json.')}
        error={errorAt('folder')}
      />
      <TextField
        {...form.bind('token')}
        type="password"
        autoComplete="off"
        label={t('Token')}
        hint={
          source?.has_token
            ? t('Empty: the stored one stays. It is sent to the server of the repository only.')
            : t('For a private repository. It only needs to read, and is sent to the server of the repository only.')
        }
        error={errorAt('token')}
      />
      <SelectField {...form.bind('mode')} label={t('When a commit arrives')} options={modes} error={errorAt('mode')} />
      {form.values.mode === 'automatic' && (
        <CheckField
          name="heal"
          label={t('Also revert changes that were made by hand')}
          checked={form.values.heal}
          onChange={(heal) => form.set('heal', heal)}
        />
      )}
      <SelectField
        {...form.bind('prune')}
        label={t('Deployments and applications whose files are gone')}
        options={prunes}
        error={errorAt('prune')}
      />
      {form.values.prune === 'automatic' && (
        <TextField
          {...form.bind('max_deletions')}
          type="number"
          min={0}
          max={100}
          label={t('The most deletions without approval')}
          error={errorAt('max_deletions')}
        />
      )}
      <TextField
        {...form.bind('interval_seconds')}
        type="number"
        min={30}
        max={86_400}
        label={t('Seconds between two readings')}
        error={errorAt('interval_seconds')}
      />
    </FormDialog>
  );
}

/** What the server of the repository needs in order to notify the fleet of a push. */
export function HookDialog({
  source,
  onClose,
}: {
  readonly source: { readonly id: string; readonly name: string; readonly hook_secret: string };
  readonly onClose: () => void;
}) {
  return (
    <ShownOnceDialog
      title={t('Copy the secret of notifications of {name} now', { name: source.name })}
      about={t(
        'Set both at the server of the repository, as a webhook for pushes with JSON. A push is then read at once. Without it, the repository is read regularly.',
      )}
      onClose={onClose}
    >
      <CopyLine
        label={t('Address')}
        text={new URL(`/api/v1/sources/${source.id}/hook`, location.origin).href}
        action={t('Copy address')}
      />
      <CopyLine label={t('Secret')} text={source.hook_secret} action={t('Copy secret')} />
    </ShownOnceDialog>
  );
}
