import { partsOf, restOf } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { askForNewest } from '@svc/mcp';
import { isApplication, plannedApplication } from './applications.ts';
import { findEither } from './find.ts';
import type { Handlers } from './types.ts';

const { listDeployments, getDeployment, planDeployment } = fleetEndpoints;

/** The number of events and revisions in a result. */
const LIMIT = 20;

export const deploymentReads: Pick<Handlers, 'list_deployments' | 'get_deployment' | 'plan_deployment'> = {
  list_deployments: async (given, { ask }) => {
    const query = { ...partsOf(listDeployments, given).query, view: 'summary' };
    const { deployments, pagination } = await ask(listDeployments, { query });
    return { deployments, ...restOf(pagination) };
  },
  get_deployment: async ({ deployment: named, include }, { ask }) => {
    const { kind, id } = await findEither(ask, named);
    const params = { id };
    if (kind === 'application') return ask(fleetEndpoints.getApplication, { params });
    const { deployment } = await ask(getDeployment, { params });
    const [events, revisions, manifest] = await Promise.all([
      include.includes('events') ? ask(fleetEndpoints.listDeploymentEvents, { params, query: { limit: LIMIT } }) : {},
      include.includes('revisions')
        ? askForNewest(ask, fleetEndpoints.listDeploymentRevisions, { params, limit: LIMIT })
        : {},
      include.includes('manifest') ? ask(fleetEndpoints.getDeploymentManifest, { params }) : {},
    ]);
    return { deployment, ...events, ...revisions, ...manifest };
  },
  plan_deployment: async ({ manifest: isWanted, ...given }, { ask }) => {
    if (isApplication(given)) return plannedApplication(ask, given, { manifest: isWanted });
    const { manifest, ...plan } = await ask(planDeployment, { body: given });
    return isWanted ? { ...plan, manifest } : plan;
  },
};
