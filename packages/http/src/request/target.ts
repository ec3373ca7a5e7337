import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Express, Request, RequestHandler, Response } from 'express';
import { Problem } from '../response/problem.ts';

/**
 * Replaces an invalid request target. It is not a valid path, because its percent-encoding is
 * incomplete.
 */
const INVALID_TARGET = '/%';

/** Handles a request before Express. Calls `next` if Express must handle it. */
export type HandleFirst = (req: Request, res: Response, next: () => void) => void;

/**
 * Converts request targets to origin-form (RFC 9112, section 3.2) before routing, and calls
 * `first`, before Express receives a request. For a target that it cannot parse, Express would send
 * an HTML response without running any middleware, so that the request would be neither logged nor
 * audited.
 */
export function handleBefore(app: Express, first: HandleFirst): void {
  // The member that Node calls for each request. The objects get the members of Express only there.
  const { handle } = app as unknown as { handle(req: IncomingMessage, res: ServerResponse, ...rest: unknown[]): void };
  Object.assign(app, {
    handle(req: Request, res: Response, ...rest: unknown[]) {
      req.originalUrl = req.url ?? '';
      req.url = withoutNeedlessEncoding(originForm(req.originalUrl) ?? INVALID_TARGET);
      (res as { locals: object }).locals = {}; // a service can declare members that it sets later
      first(req, res, () => handle.call(app, req, res, ...rest));
    },
  });
}

/** The path and query of a request target; undefined if the target is invalid. */
function originForm(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  const rest = /^https?:\/\/[^/?#]*(.*)/is.exec(target)?.[1];
  return rest === undefined || rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Decodes percent-encoded unreserved characters in the path, because both forms are the same path
 * (RFC 3986, section 6.2.2.2).
 */
function withoutNeedlessEncoding(target: string): string {
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  if (!path.includes('%')) return target;
  const decoded = path.replace(/%[0-9A-Fa-f]{2}/g, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded;
  });
  return end < 0 ? decoded : `${decoded}${target.slice(end)}`;
}

export const rejectInvalidTarget: RequestHandler = (req, _res, next) => {
  if (req.url === INVALID_TARGET) throw new Problem('invalid_request', 'The request target must be a path or a URL.');
  next();
};
