import { fleetEndpoints } from '@svc/contract/fleet';
import { notFound } from '@svc/http';
import { type AnyMcpService, createTemplateResources, decodePart } from '@svc/mcp';
import { findDeployment } from './tools/find.ts';
import { readLastLines } from './tools/logs.ts';

/** The number of lines of a log. */
const LINES = 200;

const templates = createTemplateResources(
  'fleet',
  fleetEndpoints.listMirroredTemplates,
  fleetEndpoints.getMirroredTemplate,
);

/** What a user can give to a model: the documentation of templates, deployments and logs. */
export const resources: AnyMcpService['resources'] = {
  templates: [
    templates.declaration,
    {
      uriTemplate: 'fleet://deployments/{name}',
      name: 'deployment',
      title: 'A deployment with its newest events',
      mimeType: 'application/json',
    },
    {
      uriTemplate: 'fleet://deployments/{name}/logs',
      name: 'logs',
      title: 'The last lines of the log of a deployment',
      mimeType: 'text/plain',
    },
  ],
  list: templates.list,
  read: async (ask, uri) => {
    const [, kind, part = '', logs] = URI.exec(uri) ?? [];
    const named = decodePart(part);
    if (kind === 'templates' && logs === undefined) return templates.read(ask, uri, named);
    if (kind !== 'deployments') throw notFound();
    const params = { id: await findDeployment(ask, named) };
    if (logs !== undefined) {
      const lines = await readLastLines(ask, { params, query: { tail: LINES } });
      return { contents: [{ uri, mimeType: 'text/plain', text: lines.join('\n') }] };
    }
    const { deployment } = await ask(fleetEndpoints.getDeployment, { params });
    const { events } = await ask(fleetEndpoints.listDeploymentEvents, { params, query: { limit: 20 } });
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ deployment, events }) }] };
  },
};

const URI = /^fleet:\/\/(templates|deployments)\/([^/?#]+)(\/logs)?$/;
