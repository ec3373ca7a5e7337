import { useMutation } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import { CheckField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { wordsOf } from '../../shared/ui/controls/pairs.ts';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { fleet, type Secret } from '../api.ts';

/** Where the values of a secret may go, as a form has it. */
export interface ScopeDraft {
  readonly hasKey: boolean;
  readonly isLimited: boolean;
  /** Names, separated by spaces or commas. */
  readonly workloads: string;
}

export const emptyScope: ScopeDraft = { hasKey: false, isLimited: false, workloads: '' };

/** The members of a request. The private key is the only choice of purposes. */
export const scopeOf = (kind: Secret['kind'], { hasKey, isLimited, workloads }: ScopeDraft) => ({
  ...(kind === 'tls' && { purposes: hasKey ? ['variables' as const, 'private_key' as const] : ['variables' as const] }),
  workloads: isLimited ? wordsOf(workloads) : null,
});

export function ScopeFields({
  kind,
  draft,
  error,
  onChange,
}: {
  readonly kind: Secret['kind'];
  readonly draft: ScopeDraft;
  readonly error: string | undefined;
  readonly onChange: (draft: ScopeDraft) => void;
}) {
  const set = (changed: Partial<ScopeDraft>) => onChange({ ...draft, ...changed });
  return (
    <>
      {kind === 'tls' && (
        <CheckField
          label={t('Variables may receive the private key')}
          hint={t('Otherwise they receive only the certificate.')}
          checked={draft.hasKey}
          onChange={(hasKey) => set({ hasKey })}
        />
      )}
      <CheckField
        label={t('Only named workloads may use it')}
        checked={draft.isLimited}
        onChange={(isLimited) => set({ isLimited })}
      />
      {draft.isLimited && (
        <TextField
          label={t('Workloads')}
          hint={t('Names, separated by commas. A deployment of a template creates a workload with its own name.')}
          mono
          value={draft.workloads}
          error={error}
          onChange={(workloads) => set({ workloads })}
        />
      )}
    </>
  );
}

/** Changes where the values of a secret may go. */
export function SecretScopeDialog({ secret, onClose }: { readonly secret: Secret; readonly onClose: () => void }) {
  const { id, name, kind, purposes, workloads, version } = secret;
  const form = useForm<{ readonly scope: ScopeDraft }>({
    scope: {
      hasKey: purposes.includes('private_key'),
      isLimited: workloads !== null,
      workloads: (workloads ?? []).join(', '),
    },
  });
  const change = useMutation({
    ...fleet.change('updateSecret'),
    onSuccess: () => {
      confirmChange(t('The use of {name} is changed', { name }));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('Who may use {name}', { name })}
      action={t('Save')}
      pending={change.isPending}
      error={change.error}
      shown={['workloads']}
      onClose={onClose}
      onSubmit={() => change.mutate({ params: { id }, body: scopeOf(kind, form.values.scope), ifMatch: version })}
    >
      <ScopeFields
        kind={kind}
        draft={form.values.scope}
        error={form.errorsOf(change.error)('workloads')}
        onChange={(scope) => form.set('scope', scope)}
      />
    </FormDialog>
  );
}
