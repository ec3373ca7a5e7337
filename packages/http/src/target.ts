import type { IncomingMessage } from 'node:http';
import type { Express, RequestHandler } from 'express';
import { Problem } from './problem.ts';

/** Replaces an invalid request target. It is not a valid path, because its percent-encoding is incomplete. */
const INVALID_TARGET = '/%';

/**
 * Converts request targets to origin-form (RFC 9112, section 3.2) before routing. For a target that it cannot parse,
 * Express would send an HTML response without running any middleware, so that the request would be neither logged nor
 * audited.
 */
export function routeOriginForm(app: Express): void {
  const { handle } = app as unknown as { handle(req: IncomingMessage, ...rest: unknown[]): void }; // called for each request
  Object.assign(app, {
    handle(req: IncomingMessage & { originalUrl?: string }, ...rest: unknown[]) {
      req.originalUrl = req.url ?? '';
      req.url = originForm(req.originalUrl) ?? INVALID_TARGET;
      handle.call(app, req, ...rest);
    },
  });
}

/** The path and query of a request target; undefined if the target is invalid. */
function originForm(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  const rest = /^https?:\/\/[^/?#]*(.*)/is.exec(target)?.[1];
  return rest === undefined || rest.startsWith('/') ? rest : `/${rest}`;
}

export const rejectInvalidTarget: RequestHandler = (req, _res, next) => {
  if (req.url === INVALID_TARGET) throw new Problem('invalid_request', 'The request target must be a path or a URL.');
  next();
};
