import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrorsOf } from '../../shared/api/problem.ts';
import { t } from '../../shared/texts/texts.ts';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { type FleetOutput, fleet } from '../api.ts';
import { type EnvDraft, envBodyOf, firstEnvDraft } from '../deployments/env-draft.ts';
import { forgetsValues, GeneratedValues, hasValues } from '../deployments/GeneratedValues.tsx';
import { VariableField } from '../deployments/VariableField.tsx';
import type { OrphanDialogProps } from './TargetParts.tsx';

/**
 * Adopts an orphan. The fleet does not read values back from an engine, so the user enters those
 * that the deployment needs.
 */
export default function AdoptOrphanDialog({ kind, id, orphan, onClose }: OrphanDialogProps) {
  const variables = orphan.variables.map((name) => ({ name, description: '', default_value: '', required: false }));
  const [drafts, setDrafts] = useState<Readonly<Record<string, EnvDraft>>>({});
  const options = {
    ...forgetsValues,
    onSuccess: (reply: FleetOutput<'adoptHostOrphan'>) => {
      confirmChange(t('{name} is adopted', { name: orphan.name }));
      if (!hasValues(reply)) onClose();
    },
  };
  const host = useMutation({ ...fleet.change('adoptHostOrphan', 'deployments', 'storage'), ...options });
  const cluster = useMutation({ ...fleet.change('adoptClusterOrphan', 'deployments', 'storage'), ...options });
  const adopt = kind === 'host' ? host : cluster;
  if (adopt.data && hasValues(adopt.data)) {
    return <GeneratedValues reply={adopt.data} deployment={orphan.name} onClose={onClose} />;
  }
  const messages = fieldErrorsOf(adopt.error);
  return (
    <FormDialog
      title={t('Adopt {name}?', { name: orphan.name })}
      wide={variables.length > 0}
      action={t('Adopt')}
      pending={adopt.isPending}
      error={adopt.error}
      shown={orphan.variables.map((name) => `env.${name}`)}
      onClose={onClose}
      onSubmit={() =>
        adopt.mutate({ params: { id, orphan_id: orphan.id }, body: { env: envBodyOf(variables, drafts) } })
      }
    >
      <p>{t('It is created again in this fleet, with the same id.')}</p>
      {variables.length > 0 && (
        <p>
          {t(
            'The deployment set these variables itself. The fleet does not know their values: enter those that it needs.',
          )}
        </p>
      )}
      {variables.map((variable) => (
        <VariableField
          key={variable.name}
          variable={variable}
          draft={drafts[variable.name] ?? firstEnvDraft(variable)}
          error={messages.find(({ path }) => path === `env.${variable.name}`)?.message}
          deploymentName={orphan.name}
          onChange={(draft) => setDrafts({ ...drafts, [variable.name]: draft })}
        />
      ))}
    </FormDialog>
  );
}
