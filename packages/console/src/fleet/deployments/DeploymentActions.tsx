import { useMutation } from '@tanstack/react-query';
import { ArrowUpDown, CirclePlay, CircleStop, Pencil, RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { Menu, type MenuAction, MenuButton } from '../../shared/ui/controls/Menu.tsx';
import { Dialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { ErrorView } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { type Deployment, fleet, useBlocked } from '../api.ts';
import { ActionDialog } from './list/ActionDialog.tsx';
import type { BulkAction } from './list/bulk-plan.ts';

type OpenDialog = 'scale' | Exclude<BulkAction, 'start'>;

/** The actions of a deployment, and the dialogs that they open. */
function useActions(deployment: Deployment) {
  const { id, name, version, desired_state, phase, autoscaling, scaled_by } = deployment;
  const [open, setOpen] = useState<OpenDialog>();
  const [path, navigate] = useLocation();
  const blocked = useBlocked();
  const noChange = phase === 'deleting' ? t('The deployment is being deleted.') : blocked('updateDeployment');
  const start = useMutation({
    ...fleet.change('startDeployment'),
    onSuccess: () => confirmChange(t('{name} is starting', { name })),
  });
  const input = { params: { id }, ifMatch: version };
  const isStopped = desired_state === 'stopped';
  const actions: readonly MenuAction[] = [
    {
      label: t('Change…'),
      icon: Pencil,
      onSelect: () => navigate(href('/deployments/:id/change', { id })),
      blocked: noChange,
    },
    {
      label: t('Scale…'),
      icon: ArrowUpDown,
      onSelect: () => setOpen('scale'),
      opensDialog: true,
      blocked:
        autoscaling || scaled_by === 'cluster' ? t('The cluster sets the number of replicas. See Change.') : noChange,
    },
    {
      label: t('Restart…'),
      icon: RotateCw,
      onSelect: () => setOpen('restart'),
      opensDialog: true,
      blocked: isStopped ? t('The deployment is stopped.') : noChange,
    },
    isStopped
      ? {
          label: t('Start'),
          icon: CirclePlay,
          onSelect: () => start.mutate(input),
          blocked: noChange,
          isPending: start.isPending,
        }
      : { label: t('Stop…'), icon: CircleStop, onSelect: () => setOpen('stop'), opensDialog: true, blocked: noChange },
    {
      label: t('Delete…'),
      icon: Trash2,
      onSelect: () => setOpen('delete'),
      opensDialog: true,
      blocked: noChange,
      isDangerous: true,
      startsGroup: true,
    },
  ];
  const close = () => setOpen(undefined);
  const leave = () => {
    // A list with its filters stays as it is.
    if (open === 'delete' && path === href('/deployments/:id', { id })) navigate('/deployments');
  };
  const dialogs = (
    <>
      {open === 'scale' && <ScaleDialog deployment={deployment} onClose={close} />}
      {open && open !== 'scale' && (
        <ActionDialog action={open} deployments={[deployment]} onDone={leave} onClose={close} />
      )}
      {start.error && (
        <Dialog title={t('{name} did not start', { name })} onClose={() => start.reset()}>
          <ErrorView error={start.error} />
        </Dialog>
      )}
    </>
  );
  return { actions, dialogs };
}

/** The actions of a deployment in a list. They exist only after their first use. */
export function DeploymentMenu({ deployment }: { readonly deployment: Deployment }) {
  const [isUsed, setUsed] = useState(false);
  if (isUsed) return <UsedMenu deployment={deployment} />;
  return <MenuButton label={labelOf(deployment)} onClick={() => setUsed(true)} />;
}

const labelOf = ({ name }: Deployment) => t('Actions for {name}', { name });

function UsedMenu({ deployment }: { readonly deployment: Deployment }) {
  const { actions, dialogs } = useActions(deployment);
  return (
    <>
      <Menu label={labelOf(deployment)} actions={actions} isOpen />
      {dialogs}
    </>
  );
}

/** The actions of a deployment on its page. */
export function DeploymentButtons({ deployment }: { readonly deployment: Deployment }) {
  const { actions, dialogs } = useActions(deployment);
  return (
    <>
      {actions.map(({ label, icon, onSelect, opensDialog, blocked, isDangerous, isPending = false }) => (
        <Button
          key={label}
          icon={icon}
          tone={isDangerous ? 'danger' : undefined}
          blocked={blocked}
          pending={isPending}
          aria-haspopup={opensDialog && 'dialog'}
          onClick={onSelect}
        >
          {label.replace('…', '')}
        </Button>
      ))}
      {dialogs}
    </>
  );
}

interface DialogProps {
  readonly deployment: Deployment;
  readonly onClose: () => void;
}

function ScaleDialog({ deployment: { id, name, version, replicas }, onClose }: DialogProps) {
  const form = useForm({ replicas: String(replicas) });
  const scale = useMutation({
    ...fleet.change('scaleDeployment'),
    onSuccess: () => {
      confirmChange(t('{name} is scaled to {replicas}', { name, replicas: form.values.replicas }));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('Scale {name}', { name })}
      action={t('Scale')}
      pending={scale.isPending}
      error={scale.error}
      shown={['replicas']}
      onClose={onClose}
      onSubmit={() =>
        scale.mutate({ params: { id }, ifMatch: version, body: { replicas: Number(form.values.replicas) } })
      }
    >
      <TextField
        {...form.bind('replicas')}
        label={t('Replicas')}
        type="number"
        min={1}
        max={1000}
        hint={t('{replicas} now. Each replica needs the requested CPU, memory and GPUs on the target.', { replicas })}
        error={form.errorsOf(scale.error)('replicas')}
      />
    </FormDialog>
  );
}
