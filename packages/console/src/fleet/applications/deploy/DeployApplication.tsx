import { useMutation, useQuery } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { useLocation } from 'wouter';
import { href } from '../../../shared/routing/href.ts';
import { t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { CheckField, SelectField } from '../../../shared/ui/controls/Field.tsx';
import { formatCount } from '../../../shared/ui/display/format.ts';
import { FormError } from '../../../shared/ui/feedback/FormError.tsx';
import { Loading } from '../../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../../shared/ui/feedback/toast.tsx';
import { PageHeader } from '../../../shared/ui/shell/PageHeader.tsx';
import { AcknowledgeFields, type Advice, AdviceNotice } from '../../advice/Advice.tsx';
import { fleet, useBlocked } from '../../api.ts';
import { DeployActions, NameAndTargetFields, VolumeFields } from '../../deployments/form/DeployFields.tsx';
import { useFreeApplicationName } from '../../deployments/form/useFreeName.ts';
import { usePlannedForm } from '../../deployments/form/usePlannedForm.ts';
import { forgetsValues, GeneratedValues, hasValues } from '../../deployments/GeneratedValues.tsx';
import { PlanBeside } from '../../deployments/PlanPanel.tsx';
import { PolicyFields } from '../../deployments/updates/policy/PolicyFields.tsx';
import { NewAsFile } from '../../plans/AsFile.tsx';
import { usualNetworkTypes } from '../../targets/NetworksFields.tsx';
import { ApplicationPlanPanel } from './ApplicationPlanPanel.tsx';
import {
  type ApplicationDraft,
  bodyOf,
  creationOf,
  type Deployable,
  firstDraft,
  firstSecret,
} from './application-draft.ts';
import { mountsOf, publishedPorts, webPortsOf } from './application-spec.ts';
import { SecretInput, TextInput } from './InputField.tsx';
import { applicationFields, useApplicationPlan } from './useApplicationPlan.ts';

/** The number of volumes whose fields are shown at first. */
const FEW = 2;

type Props = Deployable & {
  /** What the hub says about it. */
  readonly advice?: Advice;
  readonly onBack: () => void;
};

/** Plans and deploys an application of a file, which exists only in the browser, or of the catalog. */
export function DeployApplication(props: Props) {
  const { name, slug } = props.application;
  const proposed = useFreeApplicationName(slug);
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Catalog'), href: '/catalog' }]}
        title={t('Deploy {name}', { name })}
        about={t('The plan shows what the fleet would run. Nothing is created before you deploy it.')}
      />
      {props.advice && <AdviceNotice kind="application" advice={props.advice} />}
      {proposed === undefined ? (
        <Loading text={t('Loading the form…')} />
      ) : (
        <DeployForm {...props} proposedName={proposed} />
      )}
    </>
  );
}

function DeployForm({ advice, proposedName, onBack, ...deployable }: Props & { readonly proposedName: string }) {
  const { application } = deployable;
  const { draft, withPlan } = usePlannedForm(() => firstDraft(deployable, proposedName));
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  const creation = creationOf(deployable, draft);
  const plan = useApplicationPlan(bodyOf(deployable, draft));
  const openPage = (id: string) => navigate(href('/applications/:id', { id }));
  const deploy = useMutation({
    ...fleet.change('createApplication', 'deployments', 'workloads', 'storage'),
    ...forgetsValues,
    onSuccess: (reply) => {
      const { id, name } = reply.application;
      confirmChange(t('Application {name} is created', { name }));
      if (!hasValues(reply)) openPage(id);
    },
    onError: () => void plan.refetch(), // it states why, if something else has changed
  });
  const { isSubmitted, isRejected, errorAt, change, submit } = withPlan(plan, deploy);
  const hasField = (path: string) => applicationFields.some((one) => path === one || path.startsWith(`${one}.`));
  /** What is created is exactly what the plan shows. */
  const isPlanned = plan.data?.ok === true && !plan.isStale && !plan.isInvalid && plan.error === null;
  const send = (idempotencyKey: string) =>
    deploy.mutate({ body: { ...creation, expected: plan.data?.digest }, idempotencyKey });
  const sections = { ...deployable, draft, errorAt, change };
  return (
    <>
      <PlanBeside
        form={
          <form
            className="panel"
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              submit(send, isPlanned);
            }}
          >
            <div className="form-section">
              <div className="fields">
                <NameAndTargetFields
                  name={draft.name}
                  target={draft.target}
                  targetHint={t('All parts run on one host or cluster.')}
                  errorAt={errorAt}
                  change={change}
                />
              </div>
            </div>
            <Inputs {...sections} />
            <Ports {...sections} />
            <Volumes {...sections} />
            <AcknowledgeFields
              advice={advice}
              acknowledged={draft.acknowledged}
              onChange={(acknowledged) => change('acknowledge', { acknowledged })}
            />
            <PolicyFields
              source={deployable.slug === undefined ? 'parts' : 'application'}
              draft={draft.policy}
              errorAt={errorAt}
              onChange={(policy) => change('updates', { policy })}
            />
            <div className="form-section">
              <FormError error={deploy.error} shown={applicationFields} />
              <DeployActions
                pending={deploy.isPending}
                blocked={blocked('createApplication')}
                isRejected={isSubmitted && isRejected}
                note={
                  isSubmitted &&
                  plan.isStale && (
                    <span className="muted" role="status">
                      {t('The plan is not complete yet. Deploy when it is shown.')}
                    </span>
                  )
                }
              >
                <Button tone="ghost" icon={ArrowLeft} onClick={onBack}>
                  {t('Back')}
                </Button>
              </DeployActions>
            </div>
          </form>
        }
        plan={
          <>
            <ApplicationPlanPanel
              plan={plan.data}
              targetName={plan.targetName}
              spec={application}
              problems={plan.fieldErrors.filter(({ path }) => !hasField(path))}
              error={plan.error}
              isInvalid={plan.isInvalid}
              isStale={plan.isStale}
            />
            <NewAsFile kind="application" body={creation} isPlanned={plan.data !== undefined && !plan.isInvalid} />
          </>
        }
      />
      {deploy.data && (
        <GeneratedValues
          reply={deploy.data}
          deployment={deploy.data.application.name}
          onClose={() => openPage(deploy.data.application.id)}
        />
      )}
    </>
  );
}

interface SectionProps extends Deployable {
  readonly draft: ApplicationDraft;
  readonly errorAt: (path: string) => string | undefined;
  readonly change: (path: string, changed: Partial<ApplicationDraft>) => void;
}

/** What a person enters. */
function Inputs({ application: { inputs }, slug, draft, errorAt, change }: SectionProps) {
  const { name, texts, secrets } = draft;
  const isFixed = slug !== undefined;
  if (inputs.length === 0) return null;
  return (
    <fieldset className="form-section">
      <h2>{t('Values that you enter')}</h2>
      {inputs.map((input) => {
        const path = `inputs.${input.name}`;
        if (input.type === 'secret')
          return (
            <SecretInput
              key={input.name}
              input={input}
              error={errorAt(path)}
              draft={secrets[input.name] ?? firstSecret(input, isFixed ? { slug } : {})}
              canGenerate={!isFixed}
              proposedName={`${name}-${input.name.replaceAll('_', '-')}`}
              onChange={(secret) => change(path, { secrets: { ...secrets, [input.name]: secret } })}
            />
          );
        return (
          <TextInput
            key={input.name}
            input={input}
            error={errorAt(path)}
            value={texts[input.name] ?? ''}
            onChange={(text) => change(path, { texts: { ...texts, [input.name]: text } })}
          />
        );
      })}
    </fieldset>
  );
}

/** From where the published ports are reachable, and which of them people open in a browser. */
function Ports({ application, draft: { networks, webPorts }, change }: SectionProps) {
  const { data } = useQuery(fleet.read('listNetworkTypes'));
  const published = publishedPorts(application);
  if (published.length === 0) return null;
  const types = [...new Set([...usualNetworkTypes, ...(data?.network_types.map(({ name }) => name) ?? [])])];
  return (
    <fieldset className="form-section">
      <h2>{t('Published ports')}</h2>
      <div className="row">
        {published.map(({ key, part, port, protocol }) => (
          <span key={key} className="tag mono">
            <bdi>{part}</bdi> {port}/{protocol}
          </span>
        ))}
      </div>
      <SelectField
        label={t('Reachable from')}
        hint={t('The target needs an address in this network. The fleet chooses the ports of the host.')}
        value={networks}
        options={[
          { value: '', label: t('Only its host or cluster') },
          ...types.map((type) => ({ value: type, label: t('The network {name}', { name: type }) })),
        ]}
        onChange={(changed) => change('networks', { networks: changed })}
      />
      {webPortsOf(application).map(({ key, part, port }) => (
        <CheckField
          key={key}
          label={t('Port {port} of {part} has a web page', { port: String(port), part })}
          checked={webPorts.includes(key)}
          onChange={(checked) =>
            change('webPorts', { webPorts: checked ? [...webPorts, key] : webPorts.filter((one) => one !== key) })
          }
        />
      ))}
    </fieldset>
  );
}

function Volumes({ application, draft: { volumes }, errorAt, change }: SectionProps) {
  const mounts = mountsOf(application);
  if (mounts.length === 0) return null;
  return (
    <details className="form-section" open={mounts.length <= FEW}>
      <summary className="strong">{t('Volumes ({count})', { count: formatCount(mounts.length) })}</summary>
      <div className="form optional">
        <VolumeFields mounts={mounts} volumes={volumes} errorAt={errorAt} change={change} />
      </div>
    </details>
  );
}
