import { useMutation, useQuery } from '@tanstack/react-query';
import { Save } from 'lucide-react';
import type { FormEvent } from 'react';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { SelectField } from '../../shared/ui/controls/Field.tsx';
import { useEdits } from '../../shared/ui/controls/form.ts';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { type FleetOutput, fleet } from '../api.ts';
import { approvalOptions } from './approvals.ts';

export function ApprovalSettings() {
  const { data, error, refetch } = useQuery(fleet.read('getApprovalSettings'));
  if (error && !data) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the settings…')} />;
  return <ApprovalForm settings={data} />;
}

function ApprovalForm({ settings }: { readonly settings: FleetOutput<'getApprovalSettings'> }) {
  const form = useEdits({ approval: settings.approval });
  const { approval } = form.values;
  const save = useMutation({
    ...fleet.change('setApprovalSettings'),
    onSuccess: (reply) => {
      fleet.queries.setQueryData(fleet.read('getApprovalSettings').queryKey, reply);
      form.discard();
      confirmChange(t('The settings of approvals are saved'));
    },
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ body: { approval } });
  };
  return (
    <form className="panel" onSubmit={onSubmit}>
      <div className="form-section">
        <SelectField
          {...form.bind('approval')}
          label={t('Plans that another person must approve')}
          hint={t('It applies to the plans of everybody. A token can need more.')}
          options={approvalOptions}
        />
        {settings.approvers < 2 && (
          <Notice kind="warning" title={t('Not enough people can approve plans')}>
            <p>
              {t(
                '{count, plural, =0 {No user can approve plans.} one {Only one user can approve plans: nobody can approve the plans of this user.} other {# users can approve plans.}}',
                { count: settings.approvers },
              )}
            </p>
          </Notice>
        )}
        <FormError error={save.error} shown={[]} />
        <div className="actions">
          <Button type="submit" tone="primary" icon={Save} pending={save.isPending}>
            {t('Save')}
          </Button>
        </div>
      </div>
    </form>
  );
}
