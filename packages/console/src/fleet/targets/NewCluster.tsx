import { useMutation } from '@tanstack/react-query';
import { CirclePlus, PlugZap } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { CopyButton } from '../../shared/ui/controls/Copy.tsx';
import { SelectField, TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet, useBlocked } from '../api.ts';
import { authOf, ClusterAuthFields } from './clusters/ClusterAuthFields.tsx';
import { firstNetworks, NetworksFields, networkTypesOf } from './NetworksFields.tsx';
import { NewTargetCheck } from './NewTarget.tsx';
import { Conditions } from './TargetParts.tsx';

const commandsFor = (namespace: string) =>
  [
    `kubectl create namespace ${namespace}`,
    `kubectl -n ${namespace} create serviceaccount fleet`,
    t('# Grant the permissions of docs/clusters.md to the service account, then:'),
    `kubectl -n ${namespace} create token fleet --duration=8760h`,
    'kubectl config view --raw --minify -o jsonpath={.clusters[0].cluster.certificate-authority-data} | base64 -d',
  ].join('\n');

/** Adds a cluster in two steps: it is checked, and then registered with its networks. */
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
  const [networks, setNetworks] = useState(firstNetworks);
  const connection = {
    server,
    auth: authOf(kind, form.values),
    ca_certificate: ca_certificate === '' ? null : ca_certificate,
    namespace,
  };
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  const first = useMutation(fleet.change('checkCluster'));
  const create = useMutation({
    ...fleet.change('createCluster'),
    onSuccess: ({ cluster }) =>
      first.mutate(
        { params: { id: cluster.id } },
        {
          onSettled: () => {
            confirmChange(t('{name} is added', { name: cluster.name }));
            navigate(href('/clusters/:id', { id: cluster.id }));
          },
        },
      ),
  });
  const check = useMutation({ ...fleet.change('checkNewCluster'), onMutate: () => create.reset() });
  const tried = check.variables?.body;
  // A failure stays visible while the fields are corrected. What was found is that of these fields only.
  const isCurrent = JSON.stringify(tried) === JSON.stringify(connection);
  const found = isCurrent || check.data?.check.reachability === 'unreachable' ? check.data?.check : undefined;
  const register = () => create.mutate({ body: { name, ...connection, network_types: networkTypesOf(networks) } });
  const isRegistering = create.isPending || first.isPending;
  const error = create.error ?? check.error;
  const errorAt = form.errorsOf(error);
  const isFound = found?.reachability === 'online';
  const noCreation =
    blocked('createCluster') ?? (found?.registered_as ? t('The cluster is registered already.') : undefined);
  return (
    <>
      <PageHeader crumbs={[{ label: t('Clusters'), href: '/clusters' }]} title={t('Add a cluster')} />
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
              <TextField
                {...form.bind('namespace')}
                label={t('Namespace')}
                hint={t(
                  'All objects of this registration are in it. The cluster can be added again with another namespace.',
                )}
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
            <NetworksFields draft={networks} onChange={setNetworks} errorAt={errorAt} />
          </div>
          <div className="form-section">
            <FormError
              error={error}
              shown={['name', 'namespace', 'server', 'ca_certificate', 'auth', 'network_types']}
            />
            <div className="actions">
              {isFound ? (
                <Button type="submit" tone="primary" icon={CirclePlus} pending={isRegistering} blocked={noCreation}>
                  {t('Add the cluster')}
                </Button>
              ) : (
                <Button
                  type="submit"
                  tone="primary"
                  icon={PlugZap}
                  pending={check.isPending}
                  blocked={blocked('checkNewCluster')}
                >
                  {check.data ? t('Check again') : t('Check the connection')}
                </Button>
              )}
            </div>
          </div>
        </form>
        <div className="stack">
          {found && tried ? (
            <>
              <NewTargetCheck
                check={found}
                version={found.kubernetes_version}
                tried={rich('Tried: {server} with {credentials}.', {
                  server: <code>{tried.server}</code>,
                  credentials: tried.auth.kind === 'token' ? t('a token') : t('a client certificate'),
                })}
                existing={(id) => href('/clusters/:id', { id })}
                register={{ run: register, isPending: isRegistering, blocked: noCreation }}
              >
                {found.node_count !== null && (
                  <p>{t('{count, plural, one {# node} other {# nodes}}', { count: found.node_count })}</p>
                )}
              </NewTargetCheck>
              {isFound && <Conditions conditions={found.conditions} />}
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
