import { useMutation, useQuery } from '@tanstack/react-query';
import { Rocket } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { fieldErrorsOf } from '../../shared/api/problem.ts';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { ComboboxField } from '../../shared/ui/controls/Combobox.tsx';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import { formatCount, formatList } from '../../shared/ui/display/format.ts';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { Loading } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageError, PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { AcknowledgeFields, AdviceNotice, adviceOfCatalog, blockedReasonOf } from '../advice/Advice.tsx';
import { fleet, type Template, useBlocked } from '../api.ts';
import { type EnvDraft, envBodyOf, firstEnvDraft } from './env-draft.ts';
import { HostPortsField, hostPortsOf } from './form/HostPortsField.tsx';
import { useFreeName } from './form/useFreeName.ts';
import { forgetsValues, GeneratedValues, hasValues } from './GeneratedValues.tsx';
import { PlanBeside, PlanPanel } from './PlanPanel.tsx';
import { ScalingFields } from './scaling/ScalingFields.tsx';
import { firstScalingDraft, type ScalingDraft, scalingBodyOf } from './scaling/scaling-draft.ts';
import { PolicyFields } from './updates/policy/PolicyFields.tsx';
import { NEW_POLICY, type PolicyDraft, policyChanges, policyDraftOf } from './updates/policy/policy-draft.ts';
import { type PlanBody, planFields, usePlan } from './usePlan.ts';
import { targetOf, useTargets } from './useTargets.ts';
import { VariableField } from './VariableField.tsx';
import { firstVolumeDraft, type VolumeDraft, VolumeField, volumesBodyOf } from './VolumeField.tsx';

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
  const [draft, setDraft] = useState(() => firstDraft(template, proposedName));
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [isSubmitted, setSubmitted] = useState(false);
  const [idempotencyKey, setIdempotencyKey] = useState(() => crypto.randomUUID());
  const [, navigate] = useLocation();
  const targets = useTargets(draft.target);
  const blocked = useBlocked();
  const body = bodyOf(template, draft);
  const plan = usePlan(body);
  const deploy = useMutation({
    ...fleet.change('createDeployment', 'workloads', 'storage'),
    ...forgetsValues,
    onSuccess: (reply) => {
      const { id, name } = reply.deployment;
      confirmChange(t('Deployment {name} is created', { name }));
      if (!hasValues(reply)) navigate(href('/deployments/:id', { id }));
    },
  });
  const messages = [...fieldErrorsOf(deploy.error), ...plan.fieldErrors, ...(plan.data?.refusals ?? [])];
  /** A message appears when the user has changed the field or submitted the form. */
  const errorAt = (path: string) =>
    isSubmitted || touched.has(path)
      ? messages.find((one) => one.path === path || one.path.startsWith(`${path}.`))?.message
      : undefined;
  const change = (path: string, changed: Partial<Draft>) => {
    if (deploy.error) {
      deploy.reset();
      setIdempotencyKey(crypto.randomUUID()); // another request than the one that failed
    }
    setTouched((current) => new Set([...current, path]));
    setDraft((current) => ({ ...current, ...changed }));
  };
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
  const isRejected = plan.data !== undefined && !plan.isStale && !plan.isInvalid && !plan.data.ok;
  const submit = () => {
    setSubmitted(true);
    if (isRejected || (plan.isInvalid && !plan.isStale)) {
      requestAnimationFrame(() => document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
      return;
    }
    deploy.mutate({ body, idempotencyKey });
  };
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
              submit();
            }}
          >
            <div className="form-section">
              <div className="fields">
                <TextField
                  label={t('Name')}
                  hint={t('Lower-case letters, digits and inner hyphens. It cannot be changed later.')}
                  required
                  mono
                  value={draft.name}
                  error={errorAt('name')}
                  onChange={(name) => change('name', { name })}
                />
                <ComboboxField
                  name="target"
                  label={t('Target')}
                  hint={t('The plan lists the reasons for each candidate.')}
                  value={draft.target}
                  error={errorAt('target')}
                  {...targets}
                  onChange={(target) => change('target', { target })}
                />
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
                {template.volume_mounts.map((mount) => (
                  <VolumeField
                    key={mount.name}
                    mount={mount}
                    draft={draft.volumes[mount.name] ?? firstVolumeDraft}
                    error={errorAt(`volumes.${mount.name}`)}
                    onChange={(value) =>
                      change(`volumes.${mount.name}`, { volumes: { ...draft.volumes, [mount.name]: value } })
                    }
                  />
                ))}
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
              hasTemplate
              draft={draft.policy}
              errorAt={errorAt}
              onChange={(policy) => change('updates', { policy })}
            />
            <div className="form-section">
              <div className="fields">
                <TextField
                  name="replicas"
                  label={t('Replicas')}
                  type="number"
                  min={1}
                  max={1000}
                  value={draft.replicas}
                  error={errorAt('replicas')}
                  onChange={(replicas) => change('replicas', { replicas })}
                />
                <ScalingFields
                  draft={draft.scaling}
                  errorAt={errorAt}
                  onChange={(scaling) => change('autoscaling', { scaling })}
                />
              </div>
              <FormError error={deploy.error} shown={planFields} />
              <div className="actions">
                <Button
                  type="submit"
                  tone="primary"
                  icon={Rocket}
                  pending={deploy.isPending}
                  blocked={blocked('createDeployment')}
                >
                  {t('Deploy')}
                </Button>
                <Link href={href('/catalog/:slug', { slug: template.slug })} className="button ghost">
                  {t('Cancel')}
                </Link>
                {isSubmitted && isRejected && (
                  <span className="field-error" role="alert">
                    {t('The plan rejects this. See the reasons there.')}
                  </span>
                )}
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
            correctable={{ fields: ['target', 'replicas', 'autoscaling', 'scaled_by', 'volumes'] }}
          />
        }
      />
      {deploy.data && (
        <GeneratedValues
          reply={deploy.data}
          deployment={deploy.data.deployment.name}
          onClose={() => navigate(href('/deployments/:id', { id: deploy.data.deployment.id }))}
        />
      )}
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
