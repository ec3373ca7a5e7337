import controls from 'virtual:template-controls';
import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { Dialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { fleet, type Workload } from '../api.ts';
import { catalogFileOf } from './catalog-file.ts';

const CATEGORIES = 'categories-of-the-catalog';

/** Downloads a workload as a file of a catalog, with what only a template has. */
export function CatalogFileDialog({
  workload,
  onClose,
}: {
  readonly workload: Workload;
  readonly onClose: () => void;
}) {
  const form = useForm({ title: workload.name, category: '', version: '1.0.0', description: '' });
  const categories = useQuery(fleet.read('listMirroredCategories'));
  const { title, category, version, description } = form.values;
  const download = () => {
    const entry = { name: title, slug: workload.name, category, version, description };
    const file = new Blob([catalogFileOf(controls, entry, workload)], { type: 'application/yaml' });
    const url = URL.createObjectURL(file);
    const link = document.createElement('a');
    link.href = url;
    link.download = `${workload.name}.yaml`;
    link.click();
    URL.revokeObjectURL(url);
    onClose();
  };
  return (
    <Dialog title={t('Download {name} as a catalog file', { name: workload.name })} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (category !== '') download();
        }}
      >
        <p className="muted">
          {t(
            'An administrator of a hub imports the file as a template. It contains no values of secrets, and the values that deployments set are not part of it.',
          )}
        </p>
        <TextField {...form.bind('title')} label={t('Name')} required />
        <TextField
          {...form.bind('category')}
          label={t('Category')}
          hint={t('The slug of a category of the hub, such as databases.')}
          required
          mono
          list={CATEGORIES}
        />
        <datalist id={CATEGORIES}>
          {categories.data?.categories.map(({ slug, name }) => (
            <option key={slug} value={slug}>
              {name}
            </option>
          ))}
        </datalist>
        <TextField {...form.bind('version')} label={t('Version')} mono />
        <TextAreaField {...form.bind('description')} label={t('Description')} rows={2} mono={false} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button
            type="submit"
            tone="primary"
            icon={Download}
            blocked={category === '' ? t('Enter a category.') : undefined}
          >
            {t('Download')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
