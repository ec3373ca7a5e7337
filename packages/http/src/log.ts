import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { pino } from 'pino';
import { requestIdOf } from './answer.ts';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Writes JSON lines. Credentials are never handed to it. */
export type Log = ReturnType<typeof createLog>;

/** A log on stdout. A line is written before the call returns: in order, and none is lost when the process ends. */
export const createLog = (service: string, level: (typeof logLevels)[number]) =>
  pino(
    { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'message' },
    pino.destination({ dest: 1, sync: true }),
  );

/** Too short for a token of ours or a JWT, so that a mistaken header never brings one into the log. */
const SANE_ID = /^[A-Za-z0-9._:-]{1,40}$/;

/** Gives each request an id (the caller's when it is sane), answers it, and logs one line when the request is over. */
export function requestLog(log: Log): RequestHandler {
  return (req, res, next) => {
    const given = req.headers['x-request-id'];
    const requestId = typeof given === 'string' && SANE_ID.test(given) ? given : randomUUID();
    const started = performance.now();
    res.locals.requestId = requestId;
    res.setHeader('X-Request-Id', requestId);
    res.once('close', () => {
      const failure: unknown = res.locals.failure;
      log[failure ? 'error' : 'info'](
        {
          request_id: requestIdOf(res),
          method: req.method,
          path: pathOf(req.originalUrl),
          status: res.statusCode,
          duration_ms: Math.round(performance.now() - started),
          ...(res.writableFinished ? {} : { aborted: true }),
          ...(res.locals.caller ? { caller: res.locals.caller } : {}),
          ...(failure ? { err: failure } : {}),
        },
        'request',
      );
    });
    next();
  };
}

/** Tokens of ours and JWTs, which a mistaken caller may have put into a path. */
const CREDENTIAL = /svc[a-z]_[A-Za-z0-9]+|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_.-]+/g;

/** The path of a URL as it may be kept: without its query and without credentials. */
export const pathOf = (url: string): string => (url.split('?', 1)[0] ?? url).replace(CREDENTIAL, '[credential]');
