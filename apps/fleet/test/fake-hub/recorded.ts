import fs from 'node:fs';
import { newSecretToken } from '@svc/auth';
import type { Category, Template, TemplateUpdates } from '@svc/contract';
import { onLoopback } from '@svc/testing';

const releases = new URL('../../../../infra/releases/', import.meta.url);

/** The releases whose traffic is recorded. */
export const recordedReleases = fs.readdirSync(releases).filter((name) => /^\d+\.\d+\.\d+$/.test(name));

interface Exchange {
  readonly request: { readonly method: string; readonly path: string };
  readonly response: { readonly status: number; readonly headers: Record<string, string>; readonly body: object };
}

/**
 * A hub that repeats the successful responses that the hub of a release sent to its fleet, in the
 * order in which they were recorded.
 */
export async function startRecordedHub(release: string) {
  const recorded: Exchange[] = JSON.parse(fs.readFileSync(new URL(`${release}/hub-traffic.json`, releases), 'utf8'));
  const exchanges = recorded.filter(({ response }) => response.status === 200);
  let position = 0;
  const server = await onLoopback((req, res) => {
    const isRequested = ({ request }: Exchange) => request.method === req.method && request.path === req.url;
    const index = exchanges.findIndex((exchange, at) => at >= position && isRequested(exchange));
    const response = exchanges[index]?.response;
    // A path that the release did not have, or one request too many.
    const isKnown = exchanges.some(({ request }) => endpointOf(request.path) === endpointOf(req.url ?? ''));
    if (!response) return void res.writeHead(isKnown ? 501 : 404).end();
    position = index + 1;
    res.writeHead(200, response.headers).end(JSON.stringify(response.body));
  });
  const bodies = <T>(path: string) =>
    // Recorded with this type.
    exchanges.filter(({ request }) => request.path.includes(path)).map(({ response }) => response.body as T);
  return {
    url: server.url,
    key: newSecretToken('svcc_'),
    pages: bodies<TemplateUpdates>('/templates/updates'),
    categories: bodies<{ readonly categories: readonly Category[] }>('/categories').at(-1)?.categories ?? [],
    stop: server.stopListening,
  };
}

const endpointOf = (path: string): string => path.replace(/\?.*/, '');

/** The templates that a client has after it applied the pages, in the order of their ids. */
export function templatesAfter(pages: readonly TemplateUpdates[]): Template[] {
  const all = new Map<string, Template>();
  for (const { reset, templates, removed } of pages) {
    if (reset) all.clear();
    for (const template of templates) all.set(template.id, template);
    for (const { id } of removed) all.delete(id);
  }
  return [...all.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
