import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { t } from '../../shared/texts/texts.ts';
import { CheckField, FileField } from '../../shared/ui/controls/Field.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { fleet } from '../api.ts';

/** An import takes up to some minutes: its file can have a whole catalog. */
const SECONDS = 600;

/** Replaces the catalog with that in a file of a hub, for a fleet without a connection. */
export function BundleDialog({ onClose }: { readonly onClose: () => void }) {
  const [file, setFile] = useState<File>();
  const [isForced, setForced] = useState(false);
  const imported = useMutation({
    ...fleet.change('importBundle', 'catalog'),
    onSuccess: () => {
      confirmChange(t('The catalog is imported'));
      onClose();
    },
  });
  const submit = async () => {
    if (!file) return;
    const body = new Uint8Array(await file.arrayBuffer());
    imported.mutate({ query: { force: isForced }, body, seconds: SECONDS });
  };
  return (
    <FormDialog
      title={t('Import the catalog from a file')}
      action={t('Import')}
      pending={imported.isPending}
      error={imported.error}
      shown={[]}
      onClose={onClose}
      onSubmit={() => void submit()}
    >
      <p>
        {t(
          'The file replaces the catalog of this fleet. The command bundle of a hub writes it. Signatures are verified as from a hub, and what runs continues.',
        )}
      </p>
      <FileField label={t('File')} accept=".bundle,.gz" onChoose={setFile} required />
      <CheckField
        name="force"
        label={t('Also if it is older, is of another organization, or the fleet has a hub')}
        checked={isForced}
        onChange={setForced}
      />
    </FormDialog>
  );
}
