import { useMutation } from '@tanstack/react-query';
import { RotateCw, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { ConfirmDialog, Dialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { ErrorView } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { type FleetOutput, fleet, useBlocked } from '../api.ts';

type Application = FleetOutput<'getApplication'>['application'];

/** What a person can decide about an update that has not ended, or that has failed. */
export function UpdateDecision({ application }: { readonly application: Application }) {
  const { id, name, version, generation, good_generation, failed_generation, outcome, desired_state } = application;
  const [isReturning, setReturning] = useState(false);
  const blocked = useBlocked();
  const input = { params: { id }, ifMatch: version };
  const abort = useMutation({
    ...fleet.change('abortApplicationRollout'),
    onSuccess: () => {
      confirmChange(t('{name} returns to what ran before', { name }));
      setReturning(false);
    },
  });
  const resume = useMutation({
    ...fleet.change('resumeApplicationRollout'),
    onSuccess: () => confirmChange(t('The rollout of {name} continues', { name })),
  });
  const isHeld = outcome === 'failed';
  const isOpen = desired_state === 'running' && generation !== good_generation && (outcome === null || isHeld);
  const canReturn = good_generation !== null && failed_generation === null;
  if (!isOpen || application.phase === 'deleting' || (!isHeld && !canReturn)) return null;
  return (
    <div className="row">
      {isHeld && (
        <Button
          icon={RotateCw}
          blocked={blocked('resumeApplicationRollout')}
          pending={resume.isPending}
          onClick={() => resume.mutate(input)}
        >
          {t('Try again')}
        </Button>
      )}
      {canReturn && (
        <Button
          icon={Undo2}
          blocked={blocked('abortApplicationRollout')}
          aria-haspopup="dialog"
          onClick={() => setReturning(true)}
        >
          {t('Stop and return')}
        </Button>
      )}
      {isReturning && (
        <ConfirmDialog
          title={t('Stop the rollout of {name}?', { name })}
          action={t('Stop and return')}
          pending={abort.isPending}
          error={abort.error}
          onClose={() => setReturning(false)}
          onConfirm={() => abort.mutate(input)}
        >
          <p>
            {t('The fleet restores generation {generation}. Data that the new instances have changed stays changed.', {
              generation: good_generation ?? 0,
            })}
          </p>
        </ConfirmDialog>
      )}
      {resume.error && (
        <Dialog title={t('The rollout of {name} did not continue', { name })} onClose={() => resume.reset()}>
          <ErrorView error={resume.error} />
        </Dialog>
      )}
    </div>
  );
}
