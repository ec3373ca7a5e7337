import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { t } from '../../shared/texts/texts.ts';
import { formatCount, formatList } from '../../shared/ui/display/format.ts';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { Loading } from '../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { AcknowledgeFields, AdviceNotice, adviceOfCatalog, blockedReasonOf } from '../advice/Advice.tsx';
import { fleet, type Template, useBlocked } from '../api.ts';
import { type EnvDraft, envBodyOf, firstEnvDraft } from './env-draft.ts';
import { DeployActions, NameAndTargetFields, ReplicasFields, VolumeFields } from './form/DeployFields.tsx';
import { HostPortsField, hostPortsOf } from './form/HostPortsField.tsx';
import { NewDeploymentPlan, useNewDeployment } from './form/NewDeployment.tsx';
import { useFreeName } from './form/useFreeName.ts';
import { usePlannedForm } from './form/usePlannedForm.ts';
import { PlanBeside } from './PlanPanel.tsx';
import { firstScalingDraft, type ScalingDraft, scalingBodyOf } from './scaling/scaling-draft.ts';
import { PolicyFields } from './updates/policy/PolicyFields.tsx';
import { NEW_POLICY, type PolicyDraft, policyChanges, policyDraftOf } from './updates/policy/policy-draft.ts';
import { type PlanBody, planFields, usePlan } from './usePlan.ts';
import { targetOf } from './useTargets.ts';
import { VariableField } from './VariableField.tsx';
import { firstVolumeDraft, type VolumeDraft, volumesBodyOf } from './VolumeField.tsx';

export default function Deploy({ params }: PageProps<'/deploy/:slug'>) {
  const template = useQuery(fleet.read('getMirroredTemplate', { params }));
  const name = useFreeName(params.slug);
  if (template.error && !template.data) return <PageError error={template.error} retry={template.refetch} />;
  if (!template.data || name === undefined) return <Loading text={t('Loading the template…')} />;
  const reason = blockedReasonOf(template.data);
  if (reason !== undefined) return <BlockedTemplate template={template.data} reason={reason} />;
  return <DeployForm key={template.data.slug} template={template.data} proposedName={name} />;
}

/** Why a template cannot be deployed, instead of the form. */
const BlockedTemplate = ({ template, reason }: { readonly template: Template; readonly reason: string }) => (
  <>
    <PageHeader
      crumbs={[
        { label: t('Catalog'), href: '/catalog' },
        { label: template.name, href: href('/catalog/:slug', { slug: template.slug }) },
      ]}
      title={t('Deploy {name}', { name: template.name })}
      about={reason}
    />
    <AdviceNotice advice={adviceOfCatalog(template)} />
  </>
);

interface Draft {
  readonly name: string;
  readonly target: string;
  readonly replicas: string;
  readonly scaling: ScalingDraft;
  readonly env: Readonly<Record<string, EnvDraft>>;
  readonly hostPorts: string;
  readonly volumes: Readonly<Record<string, VolumeDraft>>;
  readonly acknowledged: readonly string[];
  readonly policy: PolicyDraft;
}

const firstDraft = ({ env_schema, volume_mounts }: Template, name: string): Draft => ({
  name,
  target: '',
  replicas: '1',
  scaling: firstScalingDraft,
  env: Object.fromEntries(env_schema.map((variable) => [variable.name, firstEnvDraft(variable)])),
  hostPorts: '',
  volumes: Object.fromEntries(volume_mounts.map(({ name }) => [name, firstVolumeDraft])),
  acknowledged: [],
  policy: policyDraftOf(NEW_POLICY),
});

const bodyOf = (
  { slug, env_schema }: Template,
  { name, target, replicas, scaling, env, hostPorts, volumes, acknowledged, policy }: Draft,
) =>
  ({
    name,
    template: slug,
    target: targetOf(target),
    replicas: Number(replicas),
    ...scalingBodyOf(scaling),
    env: envBodyOf(env_schema, env),
    ...(hostPorts !== '' && { host_ports: hostPortsOf(hostPorts) }),
    volumes: volumesBodyOf(volumes),
    acknowledge: [...acknowledged],
    updates: policyChanges(NEW_POLICY, policy),
  }) satisfies PlanBody;

/** The form for a template, with the plan beside it. */
function DeployForm({ template, proposedName }: { readonly template: Template; readonly proposedName: string }) {
  const { draft, withPlan } = usePlannedForm(() => firstDraft(template, proposedName));
  const blocked = useBlocked();
  const body = bodyOf(template, draft);
  const plan = usePlan(body);
  const { deploy, generatedValues } = useNewDeployment();
  const { isSubmitted, isRejected, errorAt, change, submit } = withPlan(plan, deploy);
  const missing = template.env_schema.filter(({ required, default_value }) => required && default_value === '');
  const optional = template.env_schema.filter((variable) => !missing.includes(variable));
  const variableField = (variable: Template['env_schema'][number]) => (
    <VariableField
      key={variable.name}
      variable={variable}
      draft={draft.env[variable.name] ?? firstEnvDraft(variable)}
      error={errorAt(`env.${variable.name}`)}
      deploymentName={draft.name}
      onChange={(value) => change(`env.${variable.name}`, { env: { ...draft.env, [variable.name]: value } })}
    />
  );
  return (
    <>
      <PageHeader
        crumbs={[
          { label: t('Catalog'), href: '/catalog' },
          { label: template.name, href: href('/catalog/:slug', { slug: template.slug }) },
        ]}
        title={t('Deploy {name}', { name: template.name })}
        about={template.description}
      />
      <PlanBeside
        form={
          <form
            className="panel"
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              submit((idempotencyKey) => deploy.mutate({ body, idempotencyKey }));
            }}
          >
            <div className="form-section">
              <div className="fields">
                <NameAndTargetFields name={draft.name} target={draft.target} errorAt={errorAt} change={change} />
              </div>
            </div>
            {missing.length > 0 && (
              <fieldset className="form-section">
                <h2>{t('Required variables')}</h2>
                {missing.map(variableField)}
              </fieldset>
            )}
            {template.volume_mounts.length > 0 && (
              <fieldset className="form-section">
                <h2>{t('Volumes')}</h2>
                <VolumeFields
                  mounts={template.volume_mounts}
                  volumes={draft.volumes}
                  errorAt={errorAt}
                  change={change}
                />
              </fieldset>
            )}
            {template.ports.length > 0 && (
              <Ports template={template}>
                <HostPortsField
                  ports={template.ports}
                  value={draft.hostPorts}
                  error={errorAt('host_ports')}
                  onChange={(hostPorts) => change('host_ports', { hostPorts })}
                />
              </Ports>
            )}
            {optional.length > 0 && (
              <details className="form-section" open={missing.length === 0 && optional.length <= 4}>
                <summary className="strong">
                  {t('Optional variables ({count})', { count: formatCount(optional.length) })}
                </summary>
                <div className="form optional">{optional.map(variableField)}</div>
              </details>
            )}
            <AcknowledgeFields
              advice={plan.data?.advice}
              acknowledged={draft.acknowledged}
              onChange={(acknowledged) => change('acknowledge', { acknowledged })}
            />
            <PolicyFields
              source="template"
              draft={draft.policy}
              errorAt={errorAt}
              onChange={(policy) => change('updates', { policy })}
            />
            <div className="form-section">
              <div className="fields">
                <ReplicasFields replicas={draft.replicas} scaling={draft.scaling} errorAt={errorAt} change={change} />
              </div>
              <FormError error={deploy.error} shown={planFields} />
              <DeployActions
                pending={deploy.isPending}
                blocked={blocked('createDeployment')}
                isRejected={isSubmitted && isRejected}
              >
                <Link href={href('/catalog/:slug', { slug: template.slug })} className="button ghost">
                  {t('Cancel')}
                </Link>
              </DeployActions>
            </div>
          </form>
        }
        plan={
          <NewDeploymentPlan
            plan={plan}
            body={body}
            correctable={{ fields: ['target', 'replicas', 'autoscaling', 'scaled_by', 'volumes'] }}
          />
        }
      />
      {generatedValues}
    </>
  );
}

const Ports = ({ template, children }: { readonly template: Template; readonly children: ReactNode }) => (
  <div className="form-section">
    <h2>{t('Ports')}</h2>
    <p className="muted">
      {template.required_network_types.length > 0
        ? t('Reachable from the networks {networks} of the target.', {
            networks: formatList(template.required_network_types),
          })
        : t('On a host, reachable only from its own machine; on a cluster, from within the cluster.')}
    </p>
    <div className="row">
      {template.ports.map(({ containerPort, protocol }) => (
        <span key={`${containerPort}/${protocol}`} className="tag mono">
          {containerPort}/{protocol}
        </span>
      ))}
    </div>
    {children}
  </div>
);
