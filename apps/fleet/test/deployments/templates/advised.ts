import { randomUUID } from 'node:crypto';
import type { Advisory, Template } from '@svc/contract';
import { aTemplate } from '../../a-template.ts';
import type { Body, DeploymentWorld } from '../world.ts';

/** A template that any host can run without variables, volumes and secrets. */
export const aPlainTemplate = (given: Partial<Template> = {}): Template =>
  aTemplate({
    slug: 'tool',
    revision: 1,
    env_schema: [],
    volume_mounts: [],
    node_selector: {},
    required_network_types: [],
    registry_credentials: null,
    secret_refs: [],
    ...given,
  });

export const anAdvisory = (given: Partial<Advisory> = {}): Advisory => ({
  id: randomUUID(),
  severity: 'critical',
  message: 'It deletes data.',
  url: 'https://example.com/flaw',
  first_revision: 1,
  last_revision: null,
  ...given,
});

/** Helpers for tests with one template in a hub that has others too. */
export const withTemplate = (fleet: DeploymentWorld, template = aPlainTemplate()) => {
  let current = template;
  const other = aTemplate({ slug: 'other' });
  return {
    template,
    /** Publishes the template with changes of the last published one, and syncs. */
    publish: async (changes: Partial<Template> = {}) => {
      current = { ...current, ...changes };
      await fleet.publish(current, { ...other, revision: current.revision });
    },
    withdraw: async () => {
      fleet.hub.withdraw(template);
      await fleet.sync();
    },
    /** Starts again with the template as it was first. */
    reset: () => {
      current = template;
    },
    /** Creates a deployment of the template as it is now. */
    deployed: (given: Body = {}) => fleet.deployed({ template: 'tool', ...given }),
  };
};

/** The names of the deployments that a list with a query contains. */
export const namesIn = async (fleet: DeploymentWorld, list: 'deployments' | 'workloads', query: string) => {
  const { status, body } = await fleet.operator.get(`/api/v1/${list}?sort=name&${query}`);
  expect(status).toBe(200);
  return body[list].map(({ name }: { name: string }) => name);
};
