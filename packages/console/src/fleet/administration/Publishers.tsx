import { useMutation, useQuery } from '@tanstack/react-query';
import { CirclePlus } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { FileField, TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ErrorView } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet } from '../api.ts';

/** The publishers that the fleet trusts, with the thumbprints of their root keys. */
export function Publishers() {
  const { data, error, refetch } = useQuery(fleet.read('listTrustedPublishers'));
  const [isOpen, setOpen] = useState(false);
  if (error && !data) return <ErrorView error={error} retry={refetch} />;
  return (
    <Panel
      title={t('Trusted publishers')}
      actions={
        <Button icon={CirclePlus} aria-haspopup="dialog" onClick={() => setOpen(true)}>
          {t('Trust a publisher')}
        </Button>
      }
      flush
    >
      {data?.publishers.length === 0 ? (
        <p className="muted candidate">{t('No publisher is trusted yet.')}</p>
      ) : (
        <Table
          label={t('Trusted publishers')}
          columns={[
            { label: t('Name') },
            { label: t('Thumbprint of the root key') },
            { label: t('Images') },
            { label: t('Keyring expires') },
          ]}
        >
          {(data?.publishers ?? []).map(({ slug, name, root, images, expires_at, extended_until }) => (
            <tr key={slug}>
              <td>
                {name} <span className="muted small">{slug}</span>
              </td>
              <td className="mono small">{root}</td>
              <td className="mono small">{images.join(', ')}</td>
              <td>
                {expires_at === null ? t('no keyring yet') : <Time at={extended_until ?? expires_at} isUpcoming />}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {isOpen && <PublisherForm onClose={() => setOpen(false)} />}
    </Panel>
  );
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function PublisherForm({ onClose }: { readonly onClose: () => void }) {
  const form = useForm({ slug: '', name: '', root: '', images: '', slugs: '*', secrets: '' });
  const trust = useMutation({
    ...fleet.change('trustPublisher'),
    onSuccess: ({ publisher }) => {
      const { name: trusted, root: thumbprint } = publisher;
      confirmChange(
        t('{name} is trusted. The thumbprint of its root key is {thumbprint}', { name: trusted, thumbprint }),
      );
      onClose();
    },
  });
  const errorAt = form.errorsOf(trust.error);
  const { slug, name, root, images, slugs, secrets } = form.values;
  const body = { slug, name, root, images: linesOf(images), slugs: linesOf(slugs), secrets: linesOf(secrets) };
  return (
    <FormDialog
      title={t('Trust a publisher')}
      action={t('Trust the publisher')}
      wide
      pending={trust.isPending}
      error={trust.error}
      shown={['slug', 'name', 'root', 'images', 'slugs', 'secrets']}
      onClose={onClose}
      onSubmit={() => trust.mutate({ body })}
    >
      <TextField
        {...form.bind('slug')}
        label={t('Slug')}
        hint={t('As the publisher names itself in its keyring.')}
        required
        error={errorAt('slug')}
      />
      <TextField {...form.bind('name')} label={t('Name')} required error={errorAt('name')} />
      <FileField
        label={t('File with the public root key')}
        accept=".pub,.pem,.json"
        onChoose={async (file) => form.set('root', await file.text())}
      />
      <TextAreaField
        {...form.bind('root')}
        label={t('Public root key')}
        hint={t('In PEM. Get it from the publisher and not from the hub, and compare its thumbprint on another way.')}
        required
        error={errorAt('root')}
      />
      <TextAreaField
        {...form.bind('images')}
        label={t('Images that it may publish')}
        hint={t('One repository per line, such as docker.io/library/redis or docker.io/library/*.')}
        rows={3}
        required
        error={errorAt('images')}
      />
      <TextAreaField
        {...form.bind('slugs')}
        label={t('Slugs that it may publish')}
        hint={t('One per line. A final * stands for any text.')}
        rows={2}
        error={errorAt('slugs')}
      />
      <TextAreaField
        {...form.bind('secrets')}
        label={t('Secrets that it may use')}
        hint={t('One name per line. Empty: none.')}
        rows={2}
        error={errorAt('secrets')}
      />
    </FormDialog>
  );
}
