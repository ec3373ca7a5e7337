import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { CheckField, SelectField, TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { pairsOf, textOfPairs, textOfTaint, wordsOf } from '../../shared/ui/controls/pairs.ts';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { ErrorView } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { fleet, type Host } from '../api.ts';
import { AcceptEngineField } from './AcceptEngineField.tsx';
import { CheckResult } from './CheckResult.tsx';
import { credentialsOf, HostCredentialsFields, noCredentials } from './HostCredentialsFields.tsx';
import { firstNetworks, NetworksFields, networksBodyOf } from './NetworksFields.tsx';

/** The parts before and after the first separator. Without one, the second part is empty. */
function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

const textOfTaints = ({ taints }: Host) => taints.map(textOfTaint).join('\n');

function taintsOf(text: string) {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [pair, effect] = splitAt(line, ':');
      const [key, value] = splitAt(pair, '=');
      // The service rejects other effects.
      return { key, value, effect: effect as 'NoSchedule' | 'PreferNoSchedule' };
    });
}

/** Nodes of clusters have no dialog. */
const engineOf = ({ engine }: Host) => (engine === 'podman' ? 'podman' : 'docker');

/** One GPU per line: its id, and optionally its model and its memory. */
const textOfGpus = (gpus: Host['gpus']) => gpus.map(({ id, model, vram }) => [id, model, vram].join(', ')).join('\n');

const gpusOf = (text: string): Host['gpus'] =>
  text
    .split('\n')
    .map((line) => line.split(',').map((part) => part.trim()))
    .filter(([id]) => id)
    .map(([id = '', model = '', vram = '']) => ({ id, model, vram }));

/**
 * Changes a host and checks it. The dialog closes when the engine responds; otherwise it shows why
 * it does not.
 */
export function EditHostDialog({
  host: given,
  field,
  onClose,
}: {
  readonly host: Host;
  /** The path of the field that receives the focus. */
  readonly field: string;
  readonly onClose: () => void;
}) {
  const [host, setHost] = useState(given);
  const [networks, setNetworks] = useState(() => firstNetworks(given.network_types, given.addresses));
  const form = useForm({
    endpoint: given.endpoint ?? '',
    credentials: 'keep' as 'keep' | 'replace' | 'remove', // widens the literal
    ...noCredentials,
    labels: textOfPairs(given.labels),
    taints: textOfTaints(given),
    gpus: textOfGpus(given.gpus),
    open_ports: given.open_ports.join(' '),
    schedulable: given.schedulable,
    accept_engine: false,
  });
  const { id, name } = given;
  const check = useMutation({
    ...fleet.change('checkHost'),
    onSuccess: ({ host: checked }) => {
      setHost(checked);
      fleet.queries.setQueryData(fleet.read('getHost', { params: { id } }).queryKey, { host: checked });
      if (checked.reachability !== 'online') return;
      confirmChange(t('{name} is changed, and responds', { name }));
      onClose();
    },
  });
  const update = useMutation({
    ...fleet.change('updateHost'),
    onSuccess: (reply) => {
      setHost(reply.host);
      check.mutate({ params: { id } });
    },
  });
  /** Only without credentials, which the service does not return. */
  const find = useMutation(fleet.change('checkNewHost'));
  const errorAt = form.errorsOf(update.error);
  const { endpoint, credentials, labels, taints, gpus, open_ports, schedulable, accept_engine } = form.values;
  return (
    <FormDialog
      title={t('Edit {name}', { name })}
      wide
      action={t('Save and check')}
      pending={update.isPending || check.isPending}
      error={update.error}
      shown={['endpoint', 'credentials', 'network_types', 'addresses', 'labels', 'taints', 'gpus', 'open_ports']}
      // A host without networks has no fields for addresses yet.
      field={field === 'addresses' && given.network_types.length === 0 ? 'network_types' : field}
      onClose={onClose}
      onSubmit={() =>
        update.mutate({
          params: { id },
          ifMatch: host.version,
          body: {
            ...(endpoint === host.endpoint ? {} : { endpoint }),
            ...(credentials === 'replace' ? { credentials: credentialsOf(form.values) } : {}),
            ...(credentials === 'remove' ? { credentials: null } : {}),
            labels: pairsOf(labels),
            ...networksBodyOf(networks),
            // A host from before a rule for taints keeps them.
            ...(taints === textOfTaints(given) ? {} : { taints: taintsOf(taints) }),
            gpus: gpusOf(gpus),
            ...(open_ports === given.open_ports.join(' ') ? {} : { open_ports: wordsOf(open_ports) }),
            schedulable,
            ...(accept_engine ? { accept_engine } : {}),
          },
        })
      }
    >
      <TextField
        {...form.bind('endpoint')}
        label={t('Address of the engine')}
        hint={t('A socket such as unix:///var/run/docker.sock, or tcp://host:port with TLS.')}
        mono
        error={errorAt('endpoint')}
      />
      <SelectField
        label={t('TLS credentials')}
        hint={host.has_credentials ? t('Another address requires the credentials again.') : undefined}
        value={credentials}
        onChange={(value) => form.set('credentials', value)}
        error={errorAt('credentials')}
        options={
          host.has_credentials
            ? [
                { value: 'keep', label: t('Keep the current credentials') },
                { value: 'replace', label: t('Replace the credentials') },
                { value: 'remove', label: t('Remove the credentials') },
              ]
            : [
                { value: 'keep', label: t('None') },
                { value: 'replace', label: t('Add credentials') },
              ]
        }
      />
      {credentials === 'replace' && (
        <HostCredentialsFields values={form.values} onChange={form.set} errorAt={errorAt} />
      )}
      <NetworksFields
        draft={networks}
        onChange={setNetworks}
        errorAt={errorAt}
        proposed={find.data?.check.addresses ?? []}
      />
      {!host.has_credentials && (
        <div className="row">
          <Button
            size="small"
            pending={find.isPending}
            onClick={() => find.mutate({ body: { engine: engineOf(host), endpoint } })}
          >
            {t('Find addresses of the machine')}
          </Button>
          {find.data && find.data.check.addresses.length === 0 && (
            <span className="muted small">
              {find.data.check.message || t('The engine does not tell its addresses.')}
            </span>
          )}
        </div>
      )}
      {find.error && <ErrorView error={find.error} />}
      <CheckField
        name="schedulable"
        label={t('Accept new deployments')}
        checked={schedulable}
        onChange={(checked) => form.set('schedulable', checked)}
      />
      <TextAreaField
        {...form.bind('labels')}
        label={t('Labels')}
        hint={t('One per line: key=value.')}
        rows={2}
        error={errorAt('labels')}
      />
      <TextAreaField
        {...form.bind('taints')}
        label={t('Taints')}
        hint={t('One per line: key=value:effect, with the effect NoSchedule or PreferNoSchedule.')}
        placeholder="dedicated=gpu:NoSchedule"
        rows={2}
        error={errorAt('taints')}
      />
      <TextAreaField
        {...form.bind('gpus')}
        label={t('GPUs')}
        hint={t('One per line: id, model, memory. Engines do not report GPUs, so declare them here.')}
        placeholder="0, NVIDIA L4, 24Gi"
        rows={3}
        error={errorAt('gpus')}
      />
      <TextField
        {...form.bind('open_ports')}
        label={t('Open ports')}
        hint={t('Ports that deployments can request, separated by spaces. Only an admin opens ports. Empty: none.')}
        placeholder="53/udp 8000-8999"
        mono
        error={errorAt('open_ports')}
      />
      {host.reachability === 'unreachable' && (
        <AcceptEngineField checked={accept_engine} onChange={(checked) => form.set('accept_engine', checked)} />
      )}
      <CheckResult
        error={check.error}
        message={check.data && host.reachability !== 'online' ? host.message : undefined}
      />
    </FormDialog>
  );
}
