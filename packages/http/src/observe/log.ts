import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import { pino } from 'pino';
import { probePaths } from '../request/health.ts';
import { Problem } from '../response/problem.ts';
import { requestIdOf } from '../response/respond.ts';
import { createLogOutput } from './log-output.ts';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Writes JSON lines. Callers must not pass credentials to it. */
export type Log = ReturnType<typeof createLog>;

/** A log on stdout. A reader that is too slow does not block the process. Before it exits, `flushOutput` must be called. */
export function createLog(service: string, level: (typeof logLevels)[number]) {
  const output = createLogOutput(process.stdout, (dropped) => log.warn({ dropped }, 'log lines were dropped'));
  const log = pino({ level, base: { service }, timestamp: createTimestamps(), messageKey: 'message' }, output);
  return log;
}

/** The member `time` of lines, as `pino.stdTimeFunctions.isoTime` formats it. Lines of the same millisecond share their text. */
function createTimestamps(): () => string {
  let last = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) text = `,"time":"${new Date(now).toISOString()}"`;
    last = now;
    return text;
  };
}

/**
 * The maximum length is less than that of an API key, an MCP token or a JWT, so that a misplaced credential is not
 * logged.
 */
const ACCEPTED_ID = /^[A-Za-z0-9._:-]{1,40}$/;

/**
 * Assigns an id to each request (that of the client if it is accepted), which `respond` returns, and logs one line at the end
 * of the request. Requests of probes are frequent, so their level is debug.
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

/** Observes each request before it is routed. The function that it returns is called when the response has ended or was aborted. */
export type RequestObserver = (req: Request, res: Response) => (() => void) | undefined;

/** API keys and MCP tokens, which a client may have put into a path by mistake. */
const SECRET_TOKEN = /svc[a-z]_[A-Za-z0-9]+/g;
/** The start of a JWT, with all following characters that a JWT can have. It is a JWT if it has more than one part. */
const JWT_START = /eyJ[A-Za-z0-9_.-]+/g;
const REDACTED = '[credential]';

/** The path of a URL for logs and audit entries: without query and credentials. */
export function pathOf(url: string): string {
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  if (!path.includes('eyJ') && !path.includes('svc')) return path;
  return path.replace(JWT_START, (found) => (found.includes('.') ? REDACTED : found)).replace(SECRET_TOKEN, REDACTED);
}
