import { fleetEndpoints } from '@svc/contract/fleet';
import { invalid, notFound } from '@svc/http';
import type { AnyMcpService } from '@svc/mcp';
import { findDeployment } from './tools/find.ts';
import { readLastLines } from './tools/logs.ts';

const PAGE = 50;
const LINES = 200;

/** What a user can give to a model: the documentation of templates, deployments and logs. */
export const resources: AnyMcpService['resources'] = {
  templates: [
    {
      uriTemplate: 'fleet://templates/{slug}',
      name: 'template',
      title: 'Documentation of a template',
      mimeType: 'text/markdown',
    },
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
  list: async (ask, cursor) => {
    const page = pageOf(cursor);
    const { templates, pagination } = await ask(fleetEndpoints.listMirroredTemplates, { query: { page, limit: PAGE } });
    return {
      resources: templates.map(({ slug, name, description }) => ({
        uri: `fleet://templates/${slug}`,
        name: slug,
        title: name,
        description,
        mimeType: 'text/markdown',
      })),
      ...(page < pagination.totalPages ? { nextCursor: cursorOf(page + 1) } : {}),
    };
  },
  read: async (ask, uri) => {
    const [, kind, segment = '', logs] = URI.exec(uri) ?? [];
    const named = decoded(segment);
    if (kind === 'templates' && logs === undefined) {
      const { name, description, documentation } = await ask(fleetEndpoints.getMirroredTemplate, {
        params: { slug: named },
      });
      return {
        contents: [{ uri, mimeType: 'text/markdown', text: `# ${name}\n\n${description}\n\n${documentation}` }],
      };
    }
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

const cursorOf = (page: number) => Buffer.from(`page ${page}`).toString('base64url');

function pageOf(cursor: string | undefined): number {
  if (cursor === undefined) return 1;
  const [, page] = /^page (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (page === undefined || Number(page) < 1) {
    throw invalid([{ path: 'cursor', message: 'must be the nextCursor of the last response' }]);
  }
  return Number(page);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw notFound();
  }
}
