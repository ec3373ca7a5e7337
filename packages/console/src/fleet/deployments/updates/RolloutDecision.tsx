import { useMutation } from '@tanstack/react-query';
import { RotateCw, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { ConfirmDialog, Dialog } from '../../../shared/ui/dialogs/Dialog.tsx';
import { ErrorView } from '../../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../../shared/ui/feedback/toast.tsx';
import { fleet, useBlocked } from '../../api.ts';

/** The operations that end a rollout, or continue it. */
const operations = {
  deployment: { abort: 'abortRollout', resume: 'resumeRollout' },
  application: { abort: 'abortApplicationRollout', resume: 'resumeApplicationRollout' },
} as const;

/** What a person can decide about a rollout that has not ended, or that has failed. */
export function RolloutDecision({
  kind,
  of: { id, name, version },
  generation,
  canResume,
  canReturn = true,
  noReturn,
}: {
  readonly kind: keyof typeof operations;
  readonly of: { readonly id: string; readonly name: string; readonly version: number };
  /** The generation that is restored. */
  readonly generation: number | null;
  readonly canResume: boolean;
  readonly canReturn?: boolean;
  /** Why no generation can be restored, instead of leaving the button out. */
  readonly noReturn?: string | undefined;
}) {
  const [isReturning, setReturning] = useState(false);
  const blocked = useBlocked();
  const names = operations[kind];
  const input = { params: { id }, ifMatch: version };
  const abort = useMutation({
    ...fleet.change(names.abort),
    onSuccess: () => {
      confirmChange(t('{name} returns to what ran before', { name }));
      setReturning(false);
    },
  });
  const resume = useMutation({
    ...fleet.change(names.resume),
    onSuccess: () => confirmChange(t('The rollout of {name} continues', { name })),
  });
  return (
    <div className="row">
      {canResume && (
        <Button
          icon={RotateCw}
          blocked={blocked(names.resume)}
          pending={resume.isPending}
          onClick={() => resume.mutate(input)}
        >
          {t('Try again')}
        </Button>
      )}
      {canReturn && (
        <Button
          icon={Undo2}
          blocked={noReturn ?? blocked(names.abort)}
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
              generation: generation ?? 0,
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
