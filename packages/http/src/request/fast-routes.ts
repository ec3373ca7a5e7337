import type { Endpoint, Input } from '@svc/contract';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { readInput } from './input.ts';
import type { Route } from './routes.ts';

/** A route that was found without Express, and its path parameters. */
export interface FoundRoute<Context> {
  readonly route: Route<Context>;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * A parameter that has the same text with and without percent-encoding. Express handles other ones.
 */
const PLAIN = /^[A-Za-z0-9_-]{1,200}$/;

/**
 * Finds the route of frequent requests without Express, whose router and request objects cost
 * several times as much as such a request. It only finds GET and HEAD requests for literal paths,
 * and for paths that end with their only parameter.
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

/** The number of inputs that are remembered, and the maximum length of their URLs. */
const MAX_INPUTS = 5000;
const MAX_URL = 500;

/**
 * `readInput` for fast routes. Most of their requests repeat a URL, so valid inputs are remembered.
 * They must not be changed.
 */
export function createInputReader() {
  const inputs = new LRUCache<string, Input<Endpoint>>({ max: MAX_INPUTS });
  const read: typeof readInput = async <E extends Endpoint>(endpoint: E, req: Request, res: Response) => {
    const known = inputs.get(req.url);
    if (known) return known as Input<E>; // a URL has one fast route
    const input = await readInput(endpoint, req, res);
    Object.freeze(input.query);
    if (req.url.length <= MAX_URL) inputs.set(req.url, input);
    return input;
  };
  return {
    read,
    /** The input of a URL that was read before, by a request whose caller was admitted. */
    known: (url: string): Input<Endpoint> | undefined => inputs.get(url),
  };
}
