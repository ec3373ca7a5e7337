import { useMutation, useQuery } from '@tanstack/react-query';
import { Save } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { codeOf, fieldErrorsOf } from '../../shared/api/problem.ts';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { isolated, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { CheckField, SelectField, TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { pairsOf, textOfPairs } from '../../shared/ui/controls/pairs.ts';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageError, PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { AcknowledgeFields } from '../advice/Advice.tsx';
import { type Deployment, type FleetOutput, fleet, useBlocked } from '../api.ts';
import { ManagedNotice } from '../plans/ManagedNotice.tsx';
import { draftOfValue, type EnvDraft, envBodyOf } from './env-draft.ts';
import { HostPortsField, hostPortsOf, textOfHostPorts } from './form/HostPortsField.tsx';
import { forgetsValues, GeneratedValues, hasValues } from './GeneratedValues.tsx';
import { PlanBeside, PlanPanel } from './PlanPanel.tsx';
import { ScalingFields } from './scaling/ScalingFields.tsx';
import { type ScalingDraft, scalingBodyOf, scalingDraftOf } from './scaling/scaling-draft.ts';
import { PolicyFields } from './updates/policy/PolicyFields.tsx';
import {
  NEW_POLICY,
  type Policy,
  type PolicyDraft,
  policyChanges,
  policyDraftOf,
} from './updates/policy/policy-draft.ts';
import { usePlan } from './usePlan.ts';
import { VariableField } from './VariableField.tsx';

const MAX_REVISIONS = 100;

type WorkloadRevision = FleetOutput<'listWorkloadRevisions'>['revisions'][number];

export default function ChangeDeployment({ params }: PageProps<'/deployments/:id/change'>) {
  const { data, error, refetch } = useQuery(fleet.read('getDeployment', { params }));
  const workloadId = data?.deployment.workload_id ?? '';
  const revisions = useQuery({
    ...fleet.read('listWorkloadRevisions', { params: { id: workloadId }, query: { limit: MAX_REVISIONS } }),
    enabled: workloadId !== '',
  });
  if (error && !data) return <PageError error={error} retry={refetch} />;
  if (revisions.error && !revisions.data) return <PageError error={revisions.error} retry={revisions.refetch} />;
  if (!data || !revisions.data) return <Loading text={t('Loading the deployment…')} />;
  return <ChangeForm deployment={data.deployment} revisions={revisions.data.revisions} />;
}

function ChangeForm({
  deployment: latest,
  revisions,
}: {
  readonly deployment: Deployment;
  readonly revisions: readonly WorkloadRevision[];
}) {
  // The form keeps the version that the user began to change. A later change by someone else is a
  // conflict, not an overwrite.
  const [deployment, setDeployment] = useState(latest);
  const { id, name, version } = deployment;
  // What the user has not changed is that of the version.
  const [revision = String(deployment.revision), setRevision] = useState<string>();
  const [replicas = String(deployment.replicas), setReplicas] = useState<string>();
  const [labels = textOfPairs(deployment.labels), setLabels] = useState<string>();
  const presentHostPorts = textOfHostPorts(deployment.host_ports ?? {}); // a replica of version 0.2 states none
  const [hostPorts = presentHostPorts, setHostPorts] = useState<string>();
  const [scaling = scalingDraftOf(deployment), setScaling] = useState<ScalingDraft>();
  // A replica of version 0.2 states none.
  const present = (deployment.updates as Policy | undefined) ?? NEW_POLICY;
  const [policy = policyDraftOf(present), setPolicy] = useState<PolicyDraft>();
  const [takesOver, setTakesOver] = useState(false);
  const [acknowledged, setAcknowledged] = useState<readonly string[]>([]);
  const spec = revisions.find((one) => one.revision === Number(revision)) ?? revisions[0];
  const variables = spec?.env_schema ?? [];
  const [drafts, setDrafts] = useState<Readonly<Record<string, EnvDraft>>>({});
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  const draftOf = (variable: WorkloadRevision['env_schema'][number]) =>
    drafts[variable.name] ?? draftOfValue(variable, deployment.env[variable.name]);
  const env = envBodyOf(variables, Object.fromEntries(variables.map((variable) => [variable.name, draftOf(variable)])));
  const isOnCluster = deployment.target?.cluster_id != null;
  const updates = policyChanges(present, policy);
  const changes = {
    revision: Number(revision),
    replicas: Number(replicas),
    ...(isOnCluster && scalingBodyOf(scaling)),
    env,
    ...(hostPorts !== presentHostPorts && { host_ports: hostPortsOf(hostPorts) }),
    labels: pairsOf(labels),
    acknowledge: [...acknowledged],
    updates,
  };
  const plan = usePlan({ deployment_id: id, ...changes });
  const update = useMutation({
    ...fleet.change('updateDeployment'),
    ...forgetsValues,
    onSuccess: (reply) => {
      confirmChange(t('{name} is changed', { name }));
      if (!hasValues(reply)) navigate(href('/deployments/:id', { id }));
    },
  });
  const reload = useMutation({
    mutationFn: () => fleet.call('getDeployment', { params: { id } }),
    meta: { tags: ['deployments', 'workloads'] },
    onSuccess: (reply) => {
      setDeployment(reply.deployment);
      update.reset();
    },
  });
  const messages = [...fieldErrorsOf(update.error), ...plan.fieldErrors, ...(plan.data?.refusals ?? [])];
  const errorAt = (path: string) =>
    messages.find((one) => one.path === path || one.path.startsWith(`${path}.`))?.message;
  const isConflict = codeOf(update.error) === 'version_conflict';
  return (
    <>
      <PageHeader
        crumbs={[
          { label: t('Deployments'), href: '/deployments' },
          { label: name, href: href('/deployments/:id', { id }) },
        ]}
        title={t('Change {name}', { name })}
      />
      <ManagedNotice kind="deployment" place={deployment.managed_by} />
      <PlanBeside
        form={
          <form
            className="panel"
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              update.mutate({
                params: { id },
                ifMatch: version,
                body: { ...changes, ...(takesOver ? { take_over: true } : {}) },
              });
            }}
          >
            <div className="form-section">
              <div className="fields">
                <SelectField
                  label={t('Revision of the workload')}
                  value={revision}
                  onChange={setRevision}
                  options={revisions.map((one) => ({
                    value: String(one.revision),
                    label:
                      one.revision === deployment.revision
                        ? t('{revision} (current)', { revision: revisionWords(one) })
                        : revisionWords(one),
                  }))}
                  error={errorAt('revision')}
                />
                <TextField
                  name="replicas"
                  label={t('Replicas')}
                  type="number"
                  min={1}
                  max={1000}
                  value={replicas}
                  onChange={setReplicas}
                  error={errorAt('replicas')}
                />
                {isOnCluster && <ScalingFields draft={scaling} errorAt={errorAt} onChange={setScaling} />}
              </div>
            </div>
            {variables.length > 0 && (
              <fieldset className="form-section">
                <h2>{t('Variables')}</h2>
                {variables.map((variable) => (
                  <VariableField
                    key={variable.name}
                    variable={variable}
                    draft={draftOf(variable)}
                    error={errorAt(`env.${variable.name}`)}
                    deploymentName={name}
                    onChange={(draft) => setDrafts({ ...drafts, [variable.name]: draft })}
                  />
                ))}
              </fieldset>
            )}
            {!isOnCluster && spec !== undefined && spec.ports.length > 0 && (
              <div className="form-section">
                <HostPortsField
                  ports={spec.ports}
                  value={hostPorts}
                  error={errorAt('host_ports')}
                  onChange={setHostPorts}
                />
              </div>
            )}
            <PolicyFields
              source={deployment.template_slug === null ? 'image' : 'template'}
              draft={policy}
              errorAt={errorAt}
              onChange={setPolicy}
            />
            <AcknowledgeFields advice={plan.data?.advice} acknowledged={acknowledged} onChange={setAcknowledged} />
            <div className="form-section">
              <TextAreaField
                name="labels"
                label={t('Labels')}
                hint={
                  isOnCluster
                    ? t(
                        'One per line: key=value. The objects in the cluster have them, pods only those that the cluster lists.',
                      )
                    : t('One per line: key=value.')
                }
                rows={2}
                value={labels}
                onChange={setLabels}
                error={errorAt('labels')}
              />
              {isOnCluster && (
                <CheckField
                  label={t('Take over fields that another program manages')}
                  hint={t('Only if the deployment reports a field conflict, or that the cluster has set its replicas.')}
                  checked={takesOver}
                  onChange={setTakesOver}
                />
              )}
              {isConflict ? (
                <Notice kind="warning" title={t('The deployment was changed meanwhile')}>
                  <p>{t('Your input is kept. The plan now compares it with the current state.')}</p>
                  <div>
                    <Button pending={reload.isPending} onClick={() => reload.mutate()}>
                      {t('Continue with the current version')}
                    </Button>
                  </div>
                  <FormError error={reload.error} shown={[]} />
                </Notice>
              ) : (
                <FormError
                  error={update.error}
                  shown={['revision', 'replicas', 'autoscaling', 'scaled_by', 'env', 'host_ports', 'labels', 'updates']}
                />
              )}
              <div className="actions">
                <Button
                  type="submit"
                  tone="primary"
                  icon={Save}
                  pending={update.isPending}
                  blocked={
                    blocked('updateDeployment') ??
                    (plan.data?.ok &&
                    plan.data.changes.length === 0 &&
                    !plan.isStale &&
                    !takesOver &&
                    acknowledged.length === 0 &&
                    updates === undefined &&
                    labels === textOfPairs(deployment.labels) &&
                    Number(replicas) === deployment.replicas &&
                    JSON.stringify(scaling) === JSON.stringify(scalingDraftOf(deployment))
                      ? t('Nothing would change.')
                      : undefined)
                  }
                >
                  {t('Apply the change')}
                </Button>
                <Link href={href('/deployments/:id', { id })} className="button ghost">
                  {t('Cancel')}
                </Link>
              </div>
            </div>
          </form>
        }
        plan={
          <PlanPanel
            plan={plan.data}
            error={plan.error}
            isInvalid={plan.isInvalid}
            isStale={plan.isStale}
            correctable={{
              fields: ['replicas', ...(isOnCluster ? ['autoscaling', 'scaled_by'] : [])],
              workloadId: deployment.workload_id,
            }}
          />
        }
      />
      {update.data && (
        <GeneratedValues
          reply={update.data}
          deployment={name}
          onClose={() => navigate(href('/deployments/:id', { id }))}
        />
      )}
    </>
  );
}

const revisionWords = ({ revision, image_name, image_tag }: WorkloadRevision) =>
  isolated(`${revision}: ${image_name}:${image_tag}`);
