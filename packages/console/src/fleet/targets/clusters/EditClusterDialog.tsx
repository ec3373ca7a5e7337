import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { t } from '../../../shared/texts/texts.ts';
import { SelectField, TextAreaField, TextField } from '../../../shared/ui/controls/Field.tsx';
import { useForm } from '../../../shared/ui/controls/form.ts';
import { pairsOf, textOfPairs } from '../../../shared/ui/controls/pairs.ts';
import { FormDialog } from '../../../shared/ui/dialogs/FormDialog.tsx';
import { confirmChange } from '../../../shared/ui/feedback/toast.tsx';
import { type Cluster, fleet, useCaller } from '../../api.ts';
import { AcceptEngineField } from '../AcceptEngineField.tsx';
import { CheckResult } from '../CheckResult.tsx';
import { firstNetworks, NetworksFields, networkTypesOf } from '../NetworksFields.tsx';
import { authOf, ClusterAuthFields } from './ClusterAuthFields.tsx';
import { bodyOfPolicies, draftOfPolicies, PolicyFields, policyFields } from './ClusterPolicies.tsx';
import { ElasticFields, elasticDraftOf, elasticOf } from './ElasticFields.tsx';

const SERVICE_TYPES = ['ClusterIP', 'NodePort', 'LoadBalancer'] as const;

/**
 * Changes a cluster and checks it. The dialog closes when the cluster responds; otherwise it shows
 * why it does not.
 */
export function EditClusterDialog({
  cluster: given,
  field,
  onClose,
}: {
  readonly cluster: Cluster;
  /** The path of the field that receives the focus. */
  readonly field: string;
  readonly onClose: () => void;
}) {
  const [cluster, setCluster] = useState(given);
  const [networks, setNetworks] = useState(() => firstNetworks(given.network_types));
  const isAdmin = useCaller().role === 'admin';
  const [elastic, setElastic] = useState(() => elasticDraftOf(given.elastic));
  const form = useForm({
    server: given.server,
    namespace: given.namespace,
    ca_certificate: given.ca_certificate ?? '',
    kind: 'keep' as 'keep' | Cluster['auth_kind'], // widens the literal
    token: '',
    certificate: '',
    key: '',
    public_service_type: given.public_service_type,
    default_storage_class: given.default_storage_class ?? '',
    gpu_resource_name: given.gpu_resource_name,
    labels: textOfPairs(given.labels),
    accept_engine: false,
  });
  const policies = useForm(draftOfPolicies(given));
  const { values, bind, set } = form;
  const { id, name } = given;
  const check = useMutation({
    ...fleet.change('checkCluster'),
    onSuccess: ({ cluster: checked }) => {
      setCluster(checked);
      fleet.queries.setQueryData(fleet.read('getCluster', { params: { id } }).queryKey, { cluster: checked });
      if (checked.reachability !== 'online') return;
      confirmChange(t('{name} is changed, and responds', { name }));
      onClose();
    },
  });
  const update = useMutation({
    ...fleet.change('updateCluster'),
    onSuccess: (reply) => {
      setCluster(reply.cluster);
      check.mutate({ params: { id } });
    },
  });
  const errorAt = form.errorsOf(update.error);
  const { kind } = values;
  return (
    <FormDialog
      title={t('Edit {name}', { name })}
      wide
      action={t('Save and check')}
      pending={update.isPending || check.isPending}
      error={update.error}
      shown={[
        'server',
        'namespace',
        'ca_certificate',
        'auth',
        'network_types',
        'default_storage_class',
        'gpu_resource_name',
        'elastic',
        'labels',
        ...(isAdmin ? policyFields : []),
      ]}
      field={field}
      onClose={onClose}
      onSubmit={() =>
        update.mutate({
          params: { id },
          ifMatch: cluster.version,
          body: {
            ...(values.server === cluster.server ? {} : { server: values.server }),
            ...(values.namespace === cluster.namespace ? {} : { namespace: values.namespace }),
            ...(kind === 'keep' ? {} : { auth: authOf(kind, values) }),
            ...(values.accept_engine ? { accept_engine: true } : {}),
            ca_certificate: values.ca_certificate.trim() === '' ? null : values.ca_certificate,
            network_types: networkTypesOf(networks),
            public_service_type: values.public_service_type,
            default_storage_class: values.default_storage_class.trim() || null,
            gpu_resource_name: values.gpu_resource_name,
            // Only admins can change them.
            ...(JSON.stringify(elastic) === JSON.stringify(elasticDraftOf(given.elastic))
              ? {}
              : { elastic: elasticOf(elastic) }),
            labels: pairsOf(values.labels),
            ...(isAdmin ? bodyOfPolicies(policies.values) : {}),
          },
        })
      }
    >
      <div className="fields">
        <TextField
          {...bind('server')}
          label={t('API server')}
          hint={t('Another address requires the credentials again.')}
          mono
          error={errorAt('server')}
        />
        <TextField
          {...bind('namespace')}
          label={t('Namespace')}
          hint={t('It can only be changed while nothing of this fleet is on the cluster.')}
          mono
          error={errorAt('namespace')}
        />
      </div>
      <TextAreaField
        {...bind('ca_certificate')}
        label={t('Certificate authority')}
        hint={t('PEM. Leave it empty to use the certificate authorities of the operating system.')}
        rows={3}
        error={errorAt('ca_certificate')}
      />
      <SelectField
        label={t('Credentials')}
        value={kind}
        onChange={(value) => set('kind', value)}
        error={errorAt('auth')}
        options={[
          { value: 'keep', label: t('Keep the current credentials') },
          { value: 'token', label: t('Token of a service account') },
          { value: 'client_certificate', label: t('Client certificate') },
        ]}
      />
      {kind !== 'keep' && <ClusterAuthFields kind={kind} values={values} onChange={set} errorAt={errorAt} />}
      <div className="fields">
        <SelectField
          name="public_service_type"
          label={t('Public services')}
          hint={t('The type of Services of workloads that require the network public.')}
          value={values.public_service_type}
          onChange={(value) => set('public_service_type', value)}
          options={SERVICE_TYPES.map((type) => ({ value: type, label: type }))}
        />
        <TextField
          {...bind('default_storage_class')}
          label={t('Storage class')}
          hint={t('Leave it empty to use the default of the cluster.')}
          mono
          error={errorAt('default_storage_class')}
        />
        <TextField {...bind('gpu_resource_name')} label={t('GPU resource')} mono error={errorAt('gpu_resource_name')} />
      </div>
      <NetworksFields draft={networks} onChange={setNetworks} errorAt={errorAt} />
      <ElasticFields draft={elastic} onChange={setElastic} errorAt={errorAt} />
      <TextAreaField
        {...bind('labels')}
        label={t('Labels')}
        hint={t('One per line: key=value.')}
        rows={2}
        error={errorAt('labels')}
      />
      {isAdmin && <PolicyFields form={policies} error={update.error} />}
      {cluster.reachability === 'unreachable' && (
        <AcceptEngineField checked={values.accept_engine} onChange={(checked) => set('accept_engine', checked)} />
      )}
      <CheckResult
        error={check.error}
        message={check.data && cluster.reachability !== 'online' ? cluster.message : undefined}
      />
    </FormDialog>
  );
}
