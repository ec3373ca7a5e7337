import { useMutation } from '@tanstack/react-query';
import { CirclePlus, PlugZap } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { SelectField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet, useBlocked } from '../api.ts';
import { credentialsOf, HostCredentialsFields, noCredentials } from './HostCredentialsFields.tsx';
import { firstNetworks, NetworksFields, networksBodyOf } from './NetworksFields.tsx';
import { NewTargetCheck } from './NewTarget.tsx';
import { Resources } from './Resources.tsx';

const fields = ['name', 'engine', 'endpoint', 'credentials', 'network_types', 'addresses'] as const;
const engines = { docker: t('Docker'), podman: t('Podman') } as const;

/** Adds a host in two steps: the engine is checked, and then registered with its networks. */
export default function NewHost() {
  const form = useForm({
    name: '',
    engine: 'docker' as keyof typeof engines, // widens the literal
    endpoint: '',
    ...noCredentials,
  });
  const [networks, setNetworks] = useState(firstNetworks);
  const { name, engine, endpoint } = form.values;
  const isRemote = endpoint.startsWith('tcp:');
  const credentials = credentialsOf(form.values);
  const hasCredentials = isRemote && Object.values(credentials).some((value) => value !== '');
  const connection = { engine, endpoint, credentials: hasCredentials ? credentials : null };
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  const first = useMutation(fleet.change('checkHost'));
  const create = useMutation({
    ...fleet.change('createHost'),
    onSuccess: ({ host }) =>
      first.mutate(
        { params: { id: host.id } },
        {
          onSettled: () => {
            confirmChange(t('{name} is added', { name: host.name }));
            navigate(href('/hosts/:id', { id: host.id }));
          },
        },
      ),
  });
  const check = useMutation({ ...fleet.change('checkNewHost'), onMutate: () => create.reset() });
  const tried = check.variables?.body;
  // A failure stays visible while the fields are corrected. What was found is that of these fields only.
  const isCurrent = JSON.stringify(tried) === JSON.stringify(connection);
  const found = isCurrent || check.data?.check.reachability === 'unreachable' ? check.data?.check : undefined;
  const register = () => create.mutate({ body: { name, ...connection, ...networksBodyOf(networks) } });
  const isRegistering = create.isPending || first.isPending;
  const error = create.error ?? check.error;
  const errorAt = form.errorsOf(error);
  const isFound = found?.reachability === 'online';
  const noCreation =
    blocked('createHost') ?? (found?.registered_as ? t('The engine is registered already.') : undefined);
  return (
    <>
      <PageHeader crumbs={[{ label: t('Hosts'), href: '/hosts' }]} title={t('Add a host')} />
      <div className="split">
        <form
          className="panel"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            if (isFound) register();
            else check.mutate({ body: connection });
          }}
        >
          <div className="form-section">
            <div className="fields">
              <TextField
                {...form.bind('name')}
                label={t('Name')}
                hint={t('Lower-case letters, digits and inner hyphens. It cannot be changed later.')}
                required
                mono
                error={errorAt('name')}
              />
              <SelectField
                label={t('Engine')}
                value={engine}
                onChange={(value) => form.set('engine', value)}
                error={errorAt('engine')}
                options={[
                  { value: 'docker', label: engines.docker },
                  { value: 'podman', label: engines.podman },
                ]}
              />
            </div>
            <TextField
              {...form.bind('endpoint')}
              label={t('Address of the engine')}
              hint={t('A socket such as unix:///var/run/docker.sock, or tcp://host:port with TLS.')}
              placeholder={engine === 'docker' ? 'unix:///var/run/docker.sock' : 'unix:///run/podman/podman.sock'}
              required
              mono
              error={errorAt('endpoint')}
            />
          </div>
          {isRemote && (
            <fieldset className="form-section">
              <h2>{t('TLS credentials')}</h2>
              <HostCredentialsFields values={form.values} onChange={form.set} errorAt={errorAt} />
            </fieldset>
          )}
          <div className="form-section">
            <NetworksFields
              draft={networks}
              onChange={setNetworks}
              errorAt={errorAt}
              proposed={found?.addresses ?? []}
            />
          </div>
          <div className="form-section">
            <FormError error={error} shown={fields} />
            <div className="actions">
              {isFound ? (
                <Button type="submit" tone="primary" icon={CirclePlus} pending={isRegistering} blocked={noCreation}>
                  {t('Add the host')}
                </Button>
              ) : (
                <Button
                  type="submit"
                  tone="primary"
                  icon={PlugZap}
                  pending={check.isPending}
                  blocked={blocked('checkNewHost')}
                >
                  {check.data ? t('Check again') : t('Check the connection')}
                </Button>
              )}
            </div>
          </div>
        </form>
        {found && tried ? (
          <NewTargetCheck
            check={found}
            version={found.engine_version}
            tried={rich('Tried: {engine} at {endpoint}, {tls}.', {
              engine: engines[tried.engine],
              endpoint: <code>{tried.endpoint}</code>,
              tls: tried.credentials ? t('with a client certificate') : t('without TLS'),
            })}
            existing={(id) => href('/hosts/:id', { id })}
            register={{ run: register, isPending: isRegistering, blocked: noCreation }}
          >
            {found.capacity && <Resources total={found.capacity} allocated={null} />}
          </NewTargetCheck>
        ) : (
          <Panel title={t('Connection')}>
            <ol className="bullets-numbered">
              <li>{t('Enter the address of the engine. For another machine, also enter its TLS credentials.')}</li>
              <li>{t('The fleet connects, and reads the version and the capacity. Nothing is registered yet.')}</li>
              <li>{t('Select the networks of the host, and add it.')}</li>
            </ol>
          </Panel>
        )}
      </div>
    </>
  );
}
