import { useMutation } from '@tanstack/react-query';
import { t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { FormError } from '../../../shared/ui/feedback/FormError.tsx';
import { confirmChange } from '../../../shared/ui/feedback/toast.tsx';
import { type Deployment, fleet, useBlocked } from '../../api.ts';

/** What to do about a number of replicas that somebody else has set: keep it, or set that of the deployment. */
export function ReplicasChoice({ deployment }: { readonly deployment: Deployment }) {
  const { id, name, version, replicas } = deployment;
  const blocked = useBlocked()('updateDeployment');
  const update = useMutation({
    ...fleet.change('updateDeployment'),
    onSuccess: () => confirmChange(t('{name} is changed', { name })),
  });
  const send = (body: { readonly scaled_by: 'cluster' } | { readonly take_over: true }) =>
    update.mutate({ params: { id }, ifMatch: version, body });
  return (
    <div className="stack-small">
      <div className="row">
        <Button
          size="small"
          pending={update.isPending}
          blocked={blocked}
          onClick={() => send({ scaled_by: 'cluster' })}
        >
          {t('Keep theirs from now on')}
        </Button>
        <Button size="small" pending={update.isPending} blocked={blocked} onClick={() => send({ take_over: true })}>
          {t('Set {replicas}', { replicas })}
        </Button>
      </div>
      <FormError error={update.error} shown={[]} />
    </div>
  );
}
