import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrorsOf } from '../../shared/api/problem.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { type Application, fleet, useBlocked } from '../api.ts';
import { PolicyInputs } from '../deployments/updates/policy/PolicyFields.tsx';
import { PolicyPanel } from '../deployments/updates/policy/PolicyPanel.tsx';
import {
  applicationPolicyChanges,
  policyDraftOf,
  policyOfApplication,
} from '../deployments/updates/policy/policy-draft.ts';
import { ManagedNotice } from '../plans/ManagedNotice.tsx';

/** How upgrades of an application begin, and when its parts are proven, with the form that changes it. */
export function ApplicationPolicy({ application }: { readonly application: Application }) {
  const [isOpen, setOpen] = useState(false);
  const blocked = useBlocked();
  return (
    <>
      <PolicyPanel
        policy={policyOfApplication(application)}
        hasOrder={false}
        change={
          <Button
            size="small"
            blocked={
              application.phase === 'deleting' ? t('The application is being deleted.') : blocked('updateApplication')
            }
            aria-haspopup="dialog"
            onClick={() => setOpen(true)}
          >
            {t('Change')}
          </Button>
        }
      />
      {isOpen && <PolicyDialog application={application} onClose={() => setOpen(false)} />}
    </>
  );
}

function PolicyDialog({
  application: latest,
  onClose,
}: {
  readonly application: Application;
  readonly onClose: () => void;
}) {
  // The form keeps the version that the person began to change. A change by someone else meanwhile is a conflict.
  const [application] = useState(latest);
  const { id, name, version, slug, managed_by } = application;
  const before = policyOfApplication(application);
  const [draft, setDraft] = useState(() => policyDraftOf(before));
  const update = useMutation({
    ...fleet.change('updateApplication'),
    onSuccess: () => {
      confirmChange(t('{name} is changed', { name }));
      onClose();
    },
  });
  const messages = fieldErrorsOf(update.error);
  const save = () => {
    const changes = applicationPolicyChanges(before, draft);
    if (Object.keys(changes).length === 0) onClose();
    else update.mutate({ params: { id }, ifMatch: version, body: changes });
  };
  return (
    <FormDialog
      title={t('Updates of {name}', { name })}
      action={t('Apply the change')}
      wide
      pending={update.isPending}
      error={update.error}
      shown={['updates']}
      onClose={onClose}
      onSubmit={save}
    >
      <ManagedNotice kind="application" place={managed_by} />
      <PolicyInputs
        source={slug === null ? 'parts' : 'application'}
        draft={draft}
        errorAt={(path) => messages.find((one) => one.path === path || one.path.startsWith(`${path}.`))?.message}
        onChange={(changed) => {
          update.reset(); // its messages are about earlier input
          setDraft(changed);
        }}
      />
    </FormDialog>
  );
}
