import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { Ask } from '@svc/mcp';

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_SUGGESTIONS = 5;

/** A deployment or an application, which share their names. */
interface Found {
  readonly kind: 'deployment' | 'application';
  readonly id: string;
}

/** The deployment with a name or id, or the application with a name. @throws 404 with similar names */
export async function findEither(ask: Ask, given: string): Promise<Found> {
  const isName = !ID.test(given) && NAME.test(given);
  const [deployment] = isName ? await named(ask, { name: given }) : [];
  if (deployment) return { kind: 'deployment', id: deployment.id };
  const applications = isName
    ? (await ask(fleetEndpoints.listApplications, { query: { name: given, limit: 1 } })).applications
    : [];
  const [application] = applications;
  if (application) return { kind: 'application', id: application.id };
  return { kind: 'deployment', id: await findDeployment(ask, given) };
}

/** The id of a deployment that is given by its id or its name. @throws 404 with similar names */
export async function findDeployment(ask: Ask, given: string): Promise<string> {
  if (ID.test(given)) return given;
  const search = NAME.test(given) ? await named(ask, { name: given }) : [];
  const [found] = search;
  if (found) return found.id;
  const similar = (await named(ask, { search: given, limit: MAX_SUGGESTIONS })).map(({ name }) => name);
  const hint = similar.length > 0 ? `similar names: ${similar.join(', ')}` : 'list_deployments returns the names';
  throw new Problem('not_found', `There is no deployment with this name or id; ${hint}.`);
}

const named = async (ask: Ask, query: Readonly<Record<string, unknown>>) =>
  (await ask(fleetEndpoints.listDeployments, { query: { ...query, view: 'summary' } })).deployments;
