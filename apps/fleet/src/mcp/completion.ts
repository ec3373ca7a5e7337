import { fleetEndpoints } from '@svc/contract/fleet';
import { type AnyMcpService, readSummaries } from '@svc/mcp';

const MAX_VALUES = 20;

/** Slugs of templates and names of deployments that contain what was typed. */
export const complete: AnyMcpService['complete'] = async (ask, { argument, ref }) => {
  const { name, value } = argument;
  const isTemplate = name === 'template' || name === 'slug';
  const isDeployment = name === 'deployment' || (name === 'name' && ref.type === 'ref/resource');
  const query = { limit: MAX_VALUES, search: value === '' ? undefined : value };
  const found = isTemplate
    ? (await readSummaries(ask, fleetEndpoints.listMirroredTemplates, query)).templates.map(({ slug }) => slug)
    : isDeployment
      ? (await ask(fleetEndpoints.listDeployments, { query: { ...query, view: 'summary' } })).deployments.map(
          (deployment) => deployment.name,
        )
      : [];
  // A search of templates includes their descriptions.
  const values = found.filter((each) => each.includes(value.toLowerCase()));
  return { completion: { values, hasMore: found.length === MAX_VALUES } };
};
