import type { Request } from 'express';
import type { Route } from './routes.ts';

/** A route that was found without Express, and its path parameters. */
export interface FoundRoute<Context> {
  readonly route: Route<Context>;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
}

/** A parameter that has the same text with and without percent-encoding. Express handles other ones. */
const PLAIN = /^[A-Za-z0-9_-]{1,200}$/;

/**
 * Finds the route of frequent requests without Express, whose router and request objects cost several times as much as such
 * a request. It only finds GET and HEAD requests for literal paths, and for paths that end with their only parameter.
 */
export function createFastRoutes<Context>(routes: readonly Route<Context>[]) {
  const literal = new Map<string, Route<Context>>();
  const byFolder = new Map<string, { readonly route: Route<Context>; readonly name: string }>();
  for (const route of routes) {
    const { method, path } = route.endpoint;
    const [folder = '', name, ...others] = path.split(':');
    if (method !== 'get' || others.length > 0 || name?.includes('/')) {
      throw new Error(`${path} cannot be a fast route`);
    }
    if (name === undefined) literal.set(path, route);
    else byFolder.set(folder, { route, name });
  }
  return (req: Pick<Request, 'method' | 'url' | 'headers'>): FoundRoute<Context> | undefined => {
    const { method, url, headers } = req;
    if ((method !== 'GET' && method !== 'HEAD') || headers.host === undefined || headers.upgrade !== undefined) {
      return undefined;
    }
    const query = url.indexOf('?');
    const path = query === -1 ? url : url.slice(0, query);
    const route = literal.get(path);
    if (route) return { route, path, params: {} };
    const end = path.lastIndexOf('/') + 1;
    const inFolder = byFolder.get(path.slice(0, end));
    const value = path.slice(end);
    if (!inFolder || !PLAIN.test(value)) return undefined;
    return { route: inFolder.route, path, params: { [inFolder.name]: value } };
  };
}
