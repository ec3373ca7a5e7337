import { useMutation } from '@tanstack/react-query';
import { CirclePlus, PlugZap } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { SelectField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { wordsOf } from '../../shared/ui/controls/pairs.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { ErrorView, Notice } from '../../shared/ui/feedback/states.tsx';
import { PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet, type Host, useBlocked } from '../api.ts';
import { reachabilityLook } from '../looks.ts';
import { credentialsOf, HostCredentialsFields, noCredentials } from './HostCredentialsFields.tsx';
import { Resources } from './Resources.tsx';

const fields = ['name', 'endpoint', 'credentials', 'network_types'] as const;

export default function NewHost() {
  const form = useForm({
    name: '',
    engine: 'docker' as 'docker' | 'podman', // widens the literal
    endpoint: '',
    network_types: '',
    ...noCredentials,
  });
  const { name, engine, endpoint, network_types } = form.values;
  const isRemote = endpoint.startsWith('tcp:');
  const [host, setHost] = useState<Host>();
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  const check = useMutation({ ...fleet.change('checkHost'), onSuccess: (reply) => setHost(reply.host) });
  const create = useMutation({
    ...fleet.change('createHost'),
    onSuccess: (reply) => {
      setHost(reply.host);
      check.mutate({ params: { id: reply.host.id } });
    },
  });
  const errorAt = form.errorsOf(create.error);
  return (
    <>
      <PageHeader crumbs={[{ label: t('Hosts'), href: '/hosts' }]} title={t('Add a host')} />
      <div className="split">
        <form
          className="panel"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate({
              body: {
                name,
                engine,
                endpoint,
                network_types: wordsOf(network_types),
                ...(isRemote ? { credentials: credentialsOf(form.values) } : {}),
              },
            });
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
                options={[
                  { value: 'docker', label: t('Docker') },
                  { value: 'podman', label: t('Podman') },
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
            <TextField
              {...form.bind('network_types')}
              label={t('Network types')}
              hint={t(
                'The networks that the host is connected to, such as mesh or public, separated by spaces. Workloads can require them.',
              )}
              mono
              error={errorAt('network_types')}
            />
          </div>
          {isRemote && (
            <fieldset className="form-section">
              <h2>{t('TLS credentials')}</h2>
              <HostCredentialsFields values={form.values} onChange={form.set} errorAt={errorAt} />
            </fieldset>
          )}
          <div className="form-section">
            <FormError error={create.error} shown={fields} />
            <div className="actions">
              <Button
                type="submit"
                tone="primary"
                icon={CirclePlus}
                pending={create.isPending}
                blocked={host ? t('The host is registered.') : blocked('createHost')}
              >
                {t('Add and check')}
              </Button>
            </div>
          </div>
        </form>
        <Panel title={t('Connection')}>
          {host ? (
            <div className="stack">
              <div className="row" role="status">
                <Status {...reachabilityLook(host)} />
                {host.engine_version && (
                  <span className="muted">{t('version {version}', { version: host.engine_version ?? '' })}</span>
                )}
              </div>
              {host.message && (
                <Notice kind="warning" title={t('The check failed')}>
                  <p>{host.message}</p>
                </Notice>
              )}
              {check.error && <ErrorView error={check.error} />}
              {host.capacity && <Resources total={host.capacity} allocated={host.allocated} />}
              <div className="actions">
                <Button
                  icon={PlugZap}
                  pending={check.isPending}
                  onClick={() => check.mutate({ params: { id: host.id } })}
                >
                  {t('Check again')}
                </Button>
                <Button tone="primary" onClick={() => navigate(href('/hosts/:id', { id: host.id }))}>
                  {t('Open the host')}
                </Button>
              </div>
            </div>
          ) : (
            <ol className="bullets-numbered">
              <li>{t('Enter the address of the engine. For another machine, also enter its TLS credentials.')}</li>
              <li>{t('The fleet connects, and reads the version and the capacity.')}</li>
              <li>{t('The host is available for deployments immediately.')}</li>
            </ol>
          )}
        </Panel>
      </div>
    </>
  );
}
