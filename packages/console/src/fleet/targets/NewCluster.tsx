import { useMutation } from '@tanstack/react-query';
import { CirclePlus, PlugZap } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { CopyButton } from '../../shared/ui/controls/Copy.tsx';
import { SelectField, TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { ErrorView, Notice } from '../../shared/ui/feedback/states.tsx';
import { PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type Cluster, fleet, useBlocked } from '../api.ts';
import { reachabilityLook } from '../looks.ts';
import { authOf, ClusterAuthFields } from './ClusterAuthFields.tsx';
import { Resources } from './Resources.tsx';
import { Conditions } from './TargetParts.tsx';

const commandsFor = (namespace: string) =>
  [
    `kubectl create namespace ${namespace}`,
    `kubectl -n ${namespace} create serviceaccount fleet`,
    t('# Grant the permissions of docs/clusters.md to the service account, then:'),
    `kubectl -n ${namespace} create token fleet --duration=8760h`,
    'kubectl config view --raw --minify -o jsonpath={.clusters[0].cluster.certificate-authority-data} | base64 -d',
  ].join('\n');

export default function NewCluster() {
  const form = useForm({
    name: '',
    server: '',
    ca_certificate: '',
    kind: 'token' as 'token' | 'client_certificate', // widens the literal
    token: '',
    certificate: '',
    key: '',
    namespace: 'fleet',
  });
  const { name, server, ca_certificate, kind, namespace } = form.values;
  const [cluster, setCluster] = useState<Cluster>();
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  const check = useMutation({ ...fleet.change('checkCluster'), onSuccess: (reply) => setCluster(reply.cluster) });
  const create = useMutation({
    ...fleet.change('createCluster'),
    onSuccess: (reply) => {
      setCluster(reply.cluster);
      check.mutate({ params: { id: reply.cluster.id } });
    },
  });
  const errorAt = form.errorsOf(create.error);
  return (
    <>
      <PageHeader crumbs={[{ label: t('Clusters'), href: '/clusters' }]} title={t('Add a cluster')} />
      <div className="split">
        <form
          className="panel"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            const auth = authOf(kind, form.values);
            create.mutate({
              body: { name, server, namespace, auth, ca_certificate: ca_certificate === '' ? null : ca_certificate },
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
              <TextField
                {...form.bind('namespace')}
                label={t('Namespace')}
                hint={t('All objects of this fleet are in it.')}
                mono
                error={errorAt('namespace')}
              />
            </div>
            <TextField
              {...form.bind('server')}
              label={t('API server')}
              placeholder="https://cluster.example.com:6443"
              required
              mono
              error={errorAt('server')}
            />
            <TextAreaField
              {...form.bind('ca_certificate')}
              label={t('Certificate authority')}
              hint={t('PEM. Leave it empty to use the certificate authorities of the operating system.')}
              error={errorAt('ca_certificate')}
            />
          </div>
          <fieldset className="form-section">
            <h2>{t('Credentials')}</h2>
            <SelectField
              label={t('Kind')}
              value={kind}
              onChange={(value) => form.set('kind', value)}
              options={[
                { value: 'token', label: t('Token of a service account') },
                { value: 'client_certificate', label: t('Client certificate') },
              ]}
            />
            <ClusterAuthFields kind={kind} values={form.values} onChange={form.set} errorAt={errorAt} />
          </fieldset>
          <div className="form-section">
            <FormError error={create.error} shown={['name', 'namespace', 'server', 'ca_certificate', 'auth']} />
            <div className="actions">
              <Button
                type="submit"
                tone="primary"
                icon={CirclePlus}
                pending={create.isPending}
                blocked={cluster ? t('The cluster is registered.') : blocked('createCluster')}
              >
                {t('Add and check')}
              </Button>
            </div>
          </div>
        </form>
        <div className="stack">
          {cluster ? (
            <>
              <Panel title={t('Connection')}>
                <div className="stack">
                  <div className="row" role="status">
                    <Status {...reachabilityLook(cluster)} />
                    {cluster.kubernetes_version && <span className="muted">{cluster.kubernetes_version}</span>}
                  </div>
                  {cluster.message && (
                    <Notice kind="warning" title={t('The check failed')}>
                      <p>{cluster.message}</p>
                    </Notice>
                  )}
                  {check.error && <ErrorView error={check.error} />}
                  {cluster.allocatable && <Resources total={cluster.allocatable} allocated={cluster.allocated} />}
                  <div className="actions">
                    <Button
                      icon={PlugZap}
                      pending={check.isPending}
                      onClick={() => check.mutate({ params: { id: cluster.id } })}
                    >
                      {t('Check again')}
                    </Button>
                    <Button tone="primary" onClick={() => navigate(href('/clusters/:id', { id: cluster.id }))}>
                      {t('Open the cluster')}
                    </Button>
                  </div>
                </div>
              </Panel>
              <Conditions conditions={cluster.conditions} />
            </>
          ) : (
            <Panel
              title={t('Prepare the cluster')}
              flush
              actions={<CopyButton text={commandsFor(namespace)} action={t('Copy commands')} />}
            >
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
              <pre className="code" tabIndex={0}>
                {commandsFor(namespace)}
              </pre>
            </Panel>
          )}
        </div>
      </div>
    </>
  );
}
