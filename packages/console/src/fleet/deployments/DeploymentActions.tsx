import { useMutation } from '@tanstack/react-query';
import { ArrowUpDown, CirclePlay, CircleStop, Pencil, RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { CheckField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { Menu, type MenuAction, MenuButton } from '../../shared/ui/controls/Menu.tsx';
import { ConfirmDialog, Dialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { ErrorView } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { type Deployment, fleet, useBlocked } from '../api.ts';

type OpenDialog = 'scale' | 'stop' | 'restart' | 'delete';

/** The actions of a deployment, and the dialogs that they open. */
function useActions(deployment: Deployment) {
  const { id, name, version, desired_state, phase } = deployment;
  const [open, setOpen] = useState<OpenDialog>();
  const [, navigate] = useLocation();
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
    { label: t('Scale…'), icon: ArrowUpDown, onSelect: () => setOpen('scale'), opensDialog: true, blocked: noChange },
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
  const dialogs = (
    <>
      {open === 'scale' && <ScaleDialog deployment={deployment} onClose={close} />}
      {open === 'stop' && <StopDialog deployment={deployment} onClose={close} />}
      {open === 'restart' && <RestartDialog deployment={deployment} onClose={close} />}
      {open === 'delete' && <DeleteDialog deployment={deployment} onClose={close} />}
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

function StopDialog({ deployment: { id, name, version, volumes }, onClose }: DialogProps) {
  const stop = useMutation({
    ...fleet.change('stopDeployment'),
    onSuccess: () => {
      confirmChange(t('{name} is stopping', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Stop {name}?', { name })}
      action={t('Stop')}
      pending={stop.isPending}
      error={stop.error}
      onClose={onClose}
      onConfirm={() => stop.mutate({ params: { id }, ifMatch: version })}
    >
      <p>
        {t(
          'Its containers are removed and its CPU, memory and GPUs are released. It may not fit any more when you start it again.',
        )}
      </p>
      <p>
        {Object.keys(volumes).length > 0
          ? t('Its volumes and their data remain.')
          : t('It has no volumes: data in its containers is lost.')}
      </p>
    </ConfirmDialog>
  );
}

function RestartDialog({ deployment: { id, name, version }, onClose }: DialogProps) {
  const restart = useMutation({
    ...fleet.change('restartDeployment'),
    onSuccess: () => {
      confirmChange(t('{name} is restarting', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Restart {name}?', { name })}
      action={t('Restart')}
      pending={restart.isPending}
      error={restart.error}
      onClose={onClose}
      onConfirm={() => restart.mutate({ params: { id }, ifMatch: version })}
    >
      <p>{t('All replicas are replaced. Requests can fail meanwhile. Data outside of volumes is lost.')}</p>
    </ConfirmDialog>
  );
}

function DeleteDialog({ deployment: { id, name, version, volumes, workload_name }, onClose }: DialogProps) {
  const [keepsWorkload, setKeepsWorkload] = useState(false);
  const [path, navigate] = useLocation();
  const remove = useMutation({
    ...fleet.change('deleteDeployment', 'workloads', 'storage'),
    onSuccess: () => {
      confirmChange(t('{name} is being deleted', { name }));
      onClose();
      // A list with its filters stays as it is.
      if (path === href('/deployments/:id', { id })) navigate('/deployments');
    },
  });
  const mounts = Object.entries(volumes);
  return (
    <ConfirmDialog
      title={t('Delete {name}?', { name })}
      action={t('Delete {name}', { name })}
      name={name}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params: { id }, query: { keep_workload: keepsWorkload }, ifMatch: version })}
    >
      <p>{t('This cannot be undone. It removes:')}</p>
      <ul className="bullets">
        <li>{t('the containers of all replicas, and the data in them')}</li>
        {mounts.map(([mount, { size }]) => (
          <li key={mount}>
            {rich(
              'the volume {mount} ({size}) with its data, if it was created for this deployment and its reclaim policy is {policy}; otherwise the volume remains',
              { mount: <strong>{mount}</strong>, size, policy: <code>delete</code> },
            )}
          </li>
        ))}
        <li>{t('its generated values and its history')}</li>
        {!keepsWorkload && (
          <li>
            {t('the workload {workload_name}, if nothing else uses it and it was not changed', { workload_name })}
          </li>
        )}
      </ul>
      <CheckField
        label={t('Keep the workload {workload_name}', { workload_name })}
        checked={keepsWorkload}
        onChange={setKeepsWorkload}
      />
    </ConfirmDialog>
  );
}
