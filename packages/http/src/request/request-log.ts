import { randomUUID } from 'node:crypto';
import { type Log, pathOf, type RequestObserver } from '../observe/log.ts';
import { Problem } from '../response/problem.ts';
import { requestIdOf } from '../response/respond.ts';
import { probePaths } from './health.ts';

/**
 * The maximum length is less than that of an API key, an MCP token or a JWT, so that a misplaced
 * credential is not logged.
 */
const ACCEPTED_ID = /^[A-Za-z0-9._:-]{1,40}$/;

/**
 * Assigns an id to each request (that of the client if it is accepted), which `respond` returns,
 * and logs one line at the end of the request. Requests of probes are frequent, so their level is
 * debug.
 */
export function requestLog(log: Log): RequestObserver {
  return (req, res) => {
    const given = req.headers['x-request-id'];
    const requestId = typeof given === 'string' && ACCEPTED_ID.test(given) ? given : randomUUID();
    const started = performance.now();
    res.locals.requestId = requestId;
    return () => {
      const failure: unknown = res.locals.failure;
      const path = pathOf(req.originalUrl);
      const level = probePaths.includes(path) ? 'debug' : 'info';
      log[failure ? 'error' : level](
        {
          request_id: requestIdOf(res),
          method: req.method,
          path,
          status: res.statusCode,
          duration_ms: Math.round(performance.now() - started),
          ...(res.writableFinished ? {} : { aborted: true }),
          ...(res.locals.closed ? { closed: res.locals.closed } : {}),
          ...(res.locals.caller ? { caller: res.locals.caller } : {}),
          ...(res.locals.mcp ? { mcp: res.locals.mcp } : {}),
          ...(res.locals.shown instanceof Problem ? reasonOf(res.locals.shown) : {}),
          ...(failure ? { err: failure } : {}),
        },
        'request',
      );
    };
  };
}

/** Why a request was redirected to a page that shows a problem. The status does not state it. */
const reasonOf = ({ code, message, cause }: Problem) => ({
  problem: code,
  reason: cause instanceof Error ? cause.message : message,
});
