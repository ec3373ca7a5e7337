import { useMutation, useQuery } from '@tanstack/react-query';
import { CircleArrowUp } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { codeOf, fieldErrorsOf } from '../../../shared/api/problem.ts';
import { href } from '../../../shared/routing/href.ts';
import type { PageProps } from '../../../shared/routing/page.tsx';
import { t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { FormError } from '../../../shared/ui/feedback/FormError.tsx';
import { Loading, Notice } from '../../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../../shared/ui/feedback/toast.tsx';
import { PageError, PageHeader } from '../../../shared/ui/shell/PageHeader.tsx';
import { AcknowledgeFields } from '../../advice/Advice.tsx';
import { type Deployment, fleet, type Plan, useBlocked } from '../../api.ts';
import { draftOfValue, type EnvDraft, envBodyOf, firstEnvDraft } from '../env-draft.ts';
import { forgetsValues, GeneratedValues, hasValues } from '../GeneratedValues.tsx';
import { PlanPanel } from '../PlanPanel.tsx';
import { usePlan } from '../usePlan.ts';
import { VariableField } from '../VariableField.tsx';
import { HeldWords } from './HeldWords.tsx';

type Variable = Plan['new_variables'][number];

/** The review of an update to the present template and the latest known image. The update is exactly the plan that the page shows. */
export default function Update({ params }: PageProps<'/deployments/:id/update'>) {
  const { data, error, refetch } = useQuery(fleet.read('getDeployment', { params }));
  if (error && !data) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the deployment…')} />;
  return <Review deployment={data.deployment} />;
}

/** The plan remains as it was reviewed, until the service states that it is outdated. */
const REVIEWED = { repeats: false } as const;

function Review({ deployment: latest }: { readonly deployment: Deployment }) {
  // The plan is that of the deployment as it was reviewed.
  const [deployment, setDeployment] = useState(latest);
  const { id, name } = deployment;
  const [drafts, setDrafts] = useState<Readonly<Record<string, EnvDraft>>>({});
  const [acknowledged, setAcknowledged] = useState<readonly string[]>([]);
  const present = useQuery({ ...fleet.read('getDeployment', { params: { id } }), enabled: false });
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  const page = href('/deployments/:id', { id });
  const upgrade = { deployment_id: id, upgrade: true };
  const first = usePlan(upgrade, REVIEWED);
  const variables = first.data ? variablesOf(first.data) : [];
  const draftOf = (variable: Variable) => drafts[variable.name] ?? firstDraftOf(variable, deployment);
  const given = envBodyOf(variables, Object.fromEntries(variables.map((each) => [each.name, draftOf(each)])));
  const members = {
    ...(Object.keys(given).length > 0 && { env: { ...deployment.env, ...given } }),
    ...(acknowledged.length > 0 && { acknowledge: [...acknowledged] }),
  };
  const plan = usePlan({ ...upgrade, ...members }, REVIEWED);
  const update = useMutation({
    ...fleet.change('upgradeDeployment', 'workloads'),
    ...forgetsValues,
    onSuccess: (reply) => {
      confirmChange(t('The update of {name} has begun', { name }));
      if (!hasValues(reply)) navigate(page);
    },
    // The present plan is shown together with the sentence that it is another one.
    onError: async (error) => {
      if (codeOf(error) !== 'plan_outdated') return;
      setDeployment((await present.refetch()).data?.deployment ?? deployment);
      await Promise.all([first.refetch(), plan.refetch()]);
    },
  });
  const isOutdated = codeOf(update.error) === 'plan_outdated';
  const messages = [...fieldErrorsOf(update.error), ...plan.fieldErrors, ...(plan.data?.refusals ?? [])];
  const version = plan.data?.template?.to_version;
  const { digest = null, held = null } = plan.data ?? {};
  const isPlanning = plan.error === null && !plan.isInvalid && (plan.data === undefined || plan.isStale);
  return (
    <>
      <PageHeader
        crumbs={[
          { label: t('Deployments'), href: '/deployments' },
          { label: name, href: page },
        ]}
        title={version ? t('Update {name} to {version}', { name, version }) : t('Update {name}', { name })}
      />
      <div className="split">
        <div className="stack">
          {isOutdated && (
            <Notice kind="warning" title={t('The plan has changed')}>
              <p>
                {t(
                  'The deployment, its template or the image of its tag was changed after you opened this page. Nothing was updated. This is the present plan: review it, then update.',
                )}
              </p>
            </Notice>
          )}
          <PlanPanel
            plan={plan.data}
            error={plan.error}
            isInvalid={plan.isInvalid}
            isStale={plan.isStale}
            correctable={{ fields: [], workloadId: deployment.workload_id }}
          />
        </div>
        <form
          className="panel split-sticky"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            if (digest === null) return;
            const body = { ...members, expected: digest, ...(held && { force: true }) };
            update.mutate({ params: { id }, body });
          }}
        >
          {variables.length > 0 && (
            <fieldset className="form-section">
              <h2>{t('New variables')}</h2>
              {variables.map((variable) => (
                <VariableField
                  key={variable.name}
                  variable={variable}
                  draft={draftOf(variable)}
                  error={messages.find(({ path }) => isOf(variable, path))?.message}
                  deploymentName={name}
                  onChange={(draft) => setDrafts({ ...drafts, [variable.name]: draft })}
                />
              ))}
            </fieldset>
          )}
          <AcknowledgeFields advice={plan.data?.advice} acknowledged={acknowledged} onChange={setAcknowledged} />
          <div className="form-section">
            {held && (
              <Notice kind="warning" title={t('Update held')}>
                <HeldWords held={held} />
              </Notice>
            )}
            {!isOutdated && <FormError error={update.error} shown={['env']} />}
            <div className="actions">
              <Button
                type="submit"
                tone="primary"
                icon={CircleArrowUp}
                pending={update.isPending || isPlanning}
                blocked={blocked('upgradeDeployment') ?? reasonAgainst(plan.data, deployment)}
              >
                {held ? t('Try again') : t('Update')}
              </Button>
              <Link href={page} className="button ghost">
                {t('Cancel')}
              </Link>
            </div>
          </div>
        </form>
      </div>
      {update.data && <GeneratedValues reply={update.data} deployment={name} onClose={() => navigate(page)} />}
    </>
  );
}

/** Why an update cannot be made as it is planned; undefined if it can. */
function reasonAgainst(plan: Plan | undefined, { update }: Deployment): string | undefined {
  if (!plan?.ok) return t('The plan states what to correct first.');
  const isSame = plan.values.length === 0 && plan.changes.length === 0;
  return isSame && !update ? t('Nothing would change.') : undefined;
}

const isOf = ({ name }: Pick<Variable, 'name'>, path: string): boolean =>
  path === `env.${name}` || path.startsWith(`env.${name}.`);

/** The variables of the form: the new ones, and others for whose values the plan has a reason against the update. */
function variablesOf({ new_variables, refusals }: Plan): readonly Variable[] {
  const refused = refusals.flatMap(({ path }) => {
    const [head, name] = path.split('.');
    const isKnown = head !== 'env' || name === undefined || new_variables.some((each) => each.name === name);
    return isKnown ? [] : [name];
  });
  const others = [...new Set(refused)].map((name) => ({ name, required: true, description: '', default_value: '' }));
  return [...new_variables, ...others];
}

function firstDraftOf(variable: Variable, { env }: Deployment): EnvDraft {
  const value = Object.hasOwn(env, variable.name) ? env[variable.name] : undefined;
  return value === undefined ? firstEnvDraft(variable) : draftOfValue(variable, value);
}
