import { fleetEndpoints } from '@svc/contract/fleet';
import type { Handlers } from './types.ts';

const { createPlan, applyPlan, getPlan, exportDocuments } = fleetEndpoints;

export const planTools: Pick<Handlers, 'plan_configuration' | 'apply_plan' | 'export_configuration'> = {
  plan_configuration: ({ text, ...given }, { ask }) =>
    ask(createPlan, { body: { ...given, files: [{ path: 'documents', text }] } }),
  apply_plan: async ({ id, digest, confirm: given }, { ask, confirm }) => {
    const { plan } = await ask(getPlan, { params: { id } });
    const { losses } = plan;
    const isAgreed =
      losses.length === 0 || plan.state === 'applied' || (await confirm(questionFor(losses), { id, digest }));
    if (!isAgreed && given !== plan.digest) return { applied: false, plan };
    const answer = await ask(applyPlan, { params: { id }, body: { digest } });
    return { applied: true, plan: answer.plan };
  },
  export_configuration: (query, { ask }) => ask(exportDocuments, { query }),
};

const questionFor = (losses: readonly { readonly volume: string; readonly size: string }[]): string =>
  `Apply the plan? The data of these volumes is lost: ${losses.map(({ volume, size }) => `${volume} (${size})`).join(', ')}.`;
