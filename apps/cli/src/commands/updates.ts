import { type Fleet, fleetOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
import { exitCodes, Failure } from '../errors.ts';
import { given } from '../given.ts';
import type { Action } from '../invocation.ts';
import { deploymentOf } from '../names.ts';
import { print, tell } from '../output.ts';
import { oneLine } from '../text.ts';
import {
  agreed,
  envOf,
  finish,
  type OperationOptions,
  type Plan,
  refuseUnlessPossible,
  tellAdvice,
  tellRefusals,
  type VariableOptions,
} from './deployments.ts';

interface UpdateOptions extends OperationOptions, VariableOptions {
  readonly acknowledge: readonly string[];
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** Updates a deployment to the present template and to the latest known image of its tag. The update is exactly the plan that is shown before the question. */
export const update: Action<UpdateOptions> = async ([name = ''], options) => {
  if (options.dryRun !== true) requireConsent(options);
  const fleet = fleetOf(options);
  const { id, template_state } = await deploymentOf(fleet, name);
  const env = await envAfter(fleet, id, envOf(options));
  const members = {
    ...given({ env }),
    ...(options.acknowledge.length > 0 && { acknowledge: [...options.acknowledge] }),
  };
  const body = { deployment_id: id, upgrade: true, ...members };
  const plan = await reply(fleet.POST('/api/v1/deployments/plan', { body }));
  refuseUnlessPossible(plan);
  tellAdvice(plan);
  tellRefusals(plan);
  tellReview(plan);
  if (options.dryRun === true) {
    await print(plan, {
      format: options.output,
      as: () => ({
        columns: ['VALUE', 'BEFORE', 'AFTER'],
        rows: plan.values.map(({ path, from, to }) => [path, from, to]),
      }),
    });
    return template_state !== 'outdated' && plan.values.length === 0 ? exitCodes.done : exitCodes.changes;
  }
  if (plan.held && options.force !== true) throw new Failure(`${plan.held.message} Use --force to try it again.`);
  const version = plan.template?.to_version;
  await confirm(`Update ${oneLine(name)}${version ? ` to ${oneLine(version)}` : ''}?`, options);
  const { deployment, generated } = await reply(
    fleet.POST('/api/v1/deployments/{id}/upgrade', {
      params: { path: { id } },
      body: { ...members, expected: plan.digest ?? '', force: options.force === true },
    }),
  );
  return finish(fleet, deployment, { ...options, generated });
};

/** The variables of a deployment after an update; undefined if no option sets one. */
async function envAfter(fleet: Fleet, id: string, chosen: ReturnType<typeof envOf>) {
  if (Object.keys(chosen).length === 0) return undefined;
  const { deployment } = await reply(fleet.GET('/api/v1/deployments/{id}', { params: { path: { id } } }));
  return { ...deployment.env, ...chosen };
}

/** Tells what an update means: versions, another image of the tag, whether the deployment is interrupted, new variables, data, and an earlier failure. */
function tellReview({ template, image, outage, new_variables, data, held }: Plan): void {
  if (template && template.from_version !== template.to_version)
    tell(`Version: ${oneLine(template.from_version ?? 'not known')} to ${oneLine(template.to_version ?? 'not known')}`);
  if (image.from_digest && image.to_digest && image.from_digest !== image.to_digest)
    tell(`Image of ${oneLine(image.reference)}: ${oneLine(image.from_digest)} to ${oneLine(image.to_digest)}`);
  tell(outage.expected ? `Outage: ${oneLine(outage.reason)}` : 'No outage.');
  for (const { name, required } of new_variables) tell(`New variable: ${oneLine(name)}${required ? ', required' : ''}`);
  for (const { volume, note } of data) tell(`Volume ${oneLine(volume)}: ${oneLine(note)}`);
  if (held) tell(oneLine(held.message));
}

export const abortRollout: Action<OperationOptions> = async ([name = ''], options) => {
  const question = `Stop the rollout of ${oneLine(name)}, and return to the last good generation?`;
  const { fleet, id } = await agreed(name, question, options);
  const params = { path: { id } };
  const { deployment } = await reply(fleet.POST('/api/v1/deployments/{id}/rollout/abort', { params }));
  return finish(fleet, deployment, options);
};

export const resumeRollout: Action<OperationOptions> = async ([name = ''], options) => {
  const { fleet, id } = await agreed(name, `Continue the rollout of ${oneLine(name)}?`, options);
  const params = { path: { id } };
  const { deployment } = await reply(fleet.POST('/api/v1/deployments/{id}/rollout/resume', { params }));
  return finish(fleet, deployment, options);
};
