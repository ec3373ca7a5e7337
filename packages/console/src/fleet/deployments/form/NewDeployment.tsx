import { useMutation } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { useLocation } from 'wouter';
import { href } from '../../../shared/routing/href.ts';
import { t } from '../../../shared/texts/texts.ts';
import { confirmChange } from '../../../shared/ui/feedback/toast.tsx';
import { fleet } from '../../api.ts';
import { NewAsFile } from '../../plans/AsFile.tsx';
import { forgetsValues, GeneratedValues, hasValues } from '../GeneratedValues.tsx';
import { PlanPanel } from '../PlanPanel.tsx';
import type { PlanBody, usePlan } from '../usePlan.ts';

/** Creates a deployment. Its page opens when the generated values have been shown. */
export function useNewDeployment() {
  const [, navigate] = useLocation();
  const open = (id: string) => navigate(href('/deployments/:id', { id }));
  const deploy = useMutation({
    ...fleet.change('createDeployment', 'workloads', 'storage'),
    ...forgetsValues,
    onSuccess: (reply) => {
      const { id, name } = reply.deployment;
      confirmChange(t('Deployment {name} is created', { name }));
      if (!hasValues(reply)) open(id);
    },
  });
  const { data } = deploy;
  return {
    deploy,
    generatedValues: data && (
      <GeneratedValues reply={data} deployment={data.deployment.name} onClose={() => open(data.deployment.id)} />
    ),
  };
}

/** What is beside the form of a new deployment: its plan, and the document that creates the same. */
export const NewDeploymentPlan = ({
  plan: { data, error, isInvalid, isStale },
  body,
  correctable,
}: {
  readonly plan: ReturnType<typeof usePlan>;
  readonly body: PlanBody;
} & Pick<ComponentProps<typeof PlanPanel>, 'correctable'>) => (
  <>
    <PlanPanel plan={data} error={error} isInvalid={isInvalid} isStale={isStale} correctable={correctable} />
    <NewAsFile kind="deployment" body={body} isPlanned={data !== undefined && !isInvalid} />
  </>
);
