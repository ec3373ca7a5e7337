import { useQuery } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import { ComboboxField } from '../../shared/ui/controls/Combobox.tsx';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import { fleet, type Template } from '../api.ts';
import type { PlanBody } from './usePlan.ts';
import { useSearched, withChosen } from './useSearched.ts';

type VolumesBody = NonNullable<PlanBody['volumes']>;

/** The input of a user for one volume mount: the size of a new volume, or an existing volume. */
export interface VolumeDraft {
  readonly size: string;
  readonly storageId: string;
}

export const firstVolumeDraft: VolumeDraft = { size: '', storageId: '' };

/**
 * What a request contains for the volume mounts. A mount without input gets a new volume of the
 * default size.
 */
export function volumesBodyOf(drafts: Readonly<Record<string, VolumeDraft>>): VolumesBody {
  const given = Object.entries(drafts).filter(([, { size, storageId }]) => size !== '' || storageId !== '');
  return Object.fromEntries(
    given.map(([mount, { size, storageId }]) => [mount, storageId === '' ? { size } : { storage_id: storageId }]),
  );
}

export function VolumeField({
  mount,
  draft,
  error,
  onChange,
}: {
  readonly mount: Template['volume_mounts'][number];
  readonly draft: VolumeDraft;
  readonly error: string | undefined;
  readonly onChange: (draft: VolumeDraft) => void;
}) {
  const { onSearch, query, isTyping } = useSearched();
  const found = useQuery(fleet.read('listStorage', { query: { ...query, attached: false } }));
  const isNew = draft.storageId === '';
  const chosen = useQuery({ ...fleet.read('getStorage', { params: { id: draft.storageId } }), enabled: !isNew });
  const volumes = withChosen(found.data?.storage, chosen.data?.storage);
  return (
    <div className="fields">
      <ComboboxField
        name={`volumes.${mount.name}`}
        label={t('Volume for {name}', { name: mount.name })}
        hint={t('Mounted at {mountPath}', { mountPath: mount.mountPath })}
        error={isNew ? undefined : error}
        value={draft.storageId}
        onChange={(storageId) => onChange({ ...draft, storageId })}
        onSearch={onSearch}
        isSearching={isTyping || found.isFetching}
        choices={[
          { value: '', label: t('New volume'), detail: t('created with the deployment') },
          ...volumes.map(({ id, name, size }) => ({ value: id, label: name, detail: size })),
        ]}
      />
      {isNew && (
        <TextField
          label={t('Size of {name}', { name: mount.name })}
          hint={t('Docker and Podman do not enforce the size.')}
          placeholder={t('10Gi (default)')}
          mono
          error={error}
          value={draft.size}
          onChange={(size) => onChange({ ...draft, size })}
        />
      )}
    </div>
  );
}
