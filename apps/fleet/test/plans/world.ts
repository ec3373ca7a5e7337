import { type Answered, deletionOf } from '@svc/testing';
import type { Body, DeploymentWorld } from '../deployments/world.ts';

/** A document with what it runs, as YAML. */
export const aDocument = (name: string, rest = '', image = 'team/app'): string =>
  `kind: deployment\nname: ${name}\nspec:\n  image_name: ${image}\n${rest}`;

/** Makes plans of files, and applies them. */
export function plansOf({ operator, viewer, client }: DeploymentWorld) {
  const create = (text: string, given: Body = {}): Promise<Answered> =>
    operator.post('/api/v1/plans', { files: [{ path: 'a.yaml', text }], ...given });
  const plan = async (text: string, given: Body = {}) => {
    const answer = await create(text, given);
    if (answer.status !== 201) throw new Error(`POST plans responded with ${answer.status}: ${answer.text}`);
    return answer.body.plan;
  };
  const apply = ({ id, digest }: { readonly id: string; readonly digest: string }): Promise<Answered> =>
    operator.post(`/api/v1/plans/${id}/apply`, { digest });
  const applied = async (text: string, given: Body = {}) => {
    const answer = await apply(await plan(text, given));
    if (answer.status !== 200) throw new Error(`apply responded with ${answer.status}: ${answer.text}`);
    return answer.body;
  };
  return {
    create,
    plan,
    apply,
    applied,
    exported: async (query = ''): Promise<string> => {
      const answer = await viewer.get(`/api/v1/export${query}`);
      if (answer.status !== 200) throw new Error(`GET export responded with ${answer.status}: ${answer.text}`);
      return answer.body.text;
    },
    read: async (id: string) => (await viewer.get(`/api/v1/plans/${id}`)).body.plan,
    named: (name: string) => client.deployment.findUnique({ where: { name } }),
    forget: () => client.$executeRawUnsafe(deletionOf(['plans', 'set_objects'])),
  };
}

/** What a plan changes, by the names of the objects. */
export const actionsOf = (plan: { readonly changes: readonly { readonly name: string; readonly action: string }[] }) =>
  Object.fromEntries(plan.changes.map(({ name, action }) => [name, action]));
