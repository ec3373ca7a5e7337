import { useMutation } from '@tanstack/react-query';
import { Eye } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { Dialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { CopyLine } from '../../shared/ui/dialogs/ShownOnceDialog.tsx';
import { fleet, useBlocked } from '../api.ts';
import { forgetsValues } from './GeneratedValues.tsx';

/** What has a generated value, and the name of the value. */
interface Revealed {
  readonly kind: 'deployment' | 'application';
  readonly id: string;
  /** For a deployment, the variable that has the value. */
  readonly variable: string;
}

/** Reveals a value that the fleet generated for a deployment or an application. */
export function RevealButton({ kind, id, variable }: Revealed) {
  const [isOpen, setOpen] = useState(false);
  const blocked = useBlocked();
  return (
    <>
      <Button
        size="small"
        icon={Eye}
        label={t('Reveal {variable}', { variable })}
        blocked={blocked('revealDeploymentValue')}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {t('Reveal')}
      </Button>
      {isOpen && <RevealDialog kind={kind} id={id} variable={variable} onClose={() => setOpen(false)} />}
    </>
  );
}

function RevealDialog({ kind, id, variable, onClose }: Revealed & { readonly onClose: () => void }) {
  const isOfApplication = kind === 'application';
  const reveal = useMutation({
    mutationFn: () =>
      isOfApplication
        ? fleet.call('revealApplicationValue', { params: { id, name: variable } })
        : fleet.call('revealDeploymentValue', { params: { id, variable } }),
    meta: { tags: [fleet.tagOf(isOfApplication ? 'revealApplicationValue' : 'revealDeploymentValue')] },
    ...forgetsValues,
  });
  if (reveal.data) {
    return (
      <Dialog title={t('The value of {variable}', { variable })} wide onClose={onClose}>
        <CopyLine text={reveal.data.value} action={t('Copy the value of {name}', { name: variable })} />
        <div className="dialog-actions">
          <Button tone="primary" onClick={onClose}>
            {t('Done')}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={t('Reveal the value of {variable}?', { variable })}
      action={t('Reveal')}
      pending={reveal.isPending}
      error={reveal.error}
      shown={[]}
      onClose={onClose}
      onSubmit={() => reveal.mutate()}
    >
      <p>
        {isOfApplication
          ? t('The audit log and the events of the application will state that you have read it.')
          : t('The audit log and the events of the deployment will state that you have read it.')}
      </p>
    </FormDialog>
  );
}
