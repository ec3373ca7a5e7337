import type { IncomingMessage } from 'node:http';
import type { Express, RequestHandler } from 'express';
import { Problem } from './problem.ts';

/** Stands for an address that is none. */
const NO_ADDRESS = '/%';

/**
 * Gives the router addresses in origin-form only (RFC 9112, section 3.2). One that it can't read it would answer by itself,
 * in HTML and outside of all middleware: unlogged, unrecorded.
 */
export function routeOriginForm(app: Express): void {
  const { handle } = app as unknown as { handle(req: IncomingMessage, ...rest: unknown[]): void }; // what calling the app calls
  Object.assign(app, {
    handle(req: IncomingMessage & { originalUrl?: string }, ...rest: unknown[]) {
      req.originalUrl = req.url ?? '';
      req.url = originForm(req.originalUrl) ?? NO_ADDRESS;
      handle.call(app, req, ...rest);
    },
  });
}

/** The path and query of a request's target; undefined when it has none. */
function originForm(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  const rest = /^https?:\/\/[^/?#]*(.*)$/i.exec(target)?.[1];
  return rest === undefined || rest.startsWith('/') ? rest : `/${rest}`;
}

export const refuseNoAddress: RequestHandler = (req, _res, next) => {
  if (req.url === NO_ADDRESS) throw new Problem('invalid_request', 'The address is neither a path nor a URL.');
  next();
};
