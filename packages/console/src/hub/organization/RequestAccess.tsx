import { useMutation } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { SelectField, TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { hub, useBlocked, useUser } from '../api.ts';

/** Offers a request for what the caller cannot see, below a page of the catalog. */
export function RequestAccess() {
  const user = useUser();
  return (
    <aside className="spread stack-top" aria-label={t('Private templates')}>
      <p className="muted">
        {user
          ? t('Not what you are looking for? If you know the slug of a private template or category, request access.')
          : t('Not what you are looking for? Sign in to request access to a private template or category.')}
      </p>
      {user && <RequestAccessButton />}
    </aside>
  );
}

/** Requests access to a template or a category by its slug. */
export function RequestAccessButton({ template }: { readonly template?: string }) {
  const user = useUser();
  const blocked = useBlocked();
  const [isOpen, setOpen] = useState(false);
  const noOrganization = user?.organization === null ? t('Create or join an organization first.') : undefined;
  return (
    <>
      <Button
        icon={Send}
        blocked={noOrganization ?? blocked('requestAccess')}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {t('Request access')}
      </Button>
      {isOpen && <RequestDialog template={template} onClose={() => setOpen(false)} />}
    </>
  );
}

function RequestDialog({
  template = '',
  onClose,
}: {
  readonly template: string | undefined;
  readonly onClose: () => void;
}) {
  // The cast widens the literal.
  const form = useForm({ slug: template, kind: 'template' as 'category' | 'template', reason: '' });
  const request = useMutation({
    ...hub.change('requestAccess'),
    onSuccess: () => {
      confirmChange(t('The request is sent to the administrators'));
      onClose();
    },
  });
  const errorAt = form.errorsOf(request.error);
  const { slug, kind, reason } = form.values;
  return (
    <FormDialog
      title={t('Request access')}
      action={t('Send the request')}
      pending={request.isPending}
      error={request.error}
      shown={['category_slug', 'template_slug', 'reason']}
      onClose={onClose}
      onSubmit={() =>
        request.mutate({
          body: { ...(kind === 'category' ? { category_slug: slug } : { template_slug: slug }), reason },
        })
      }
    >
      <SelectField
        {...form.bind('kind')}
        label={t('Access to')}
        options={[
          { value: 'template', label: t('A template') },
          { value: 'category', label: t('A category') },
        ]}
      />
      <TextField
        {...form.bind('slug')}
        label={t('Slug')}
        mono
        required
        hint={t('The response does not show whether it exists.')}
        error={errorAt('slug', 'category_slug', 'template_slug')}
      />
      <TextAreaField
        {...form.bind('reason')}
        label={t('Why your organization needs it')}
        mono={false}
        error={errorAt('reason')}
      />
    </FormDialog>
  );
}
