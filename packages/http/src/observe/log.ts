import type { Request, Response } from 'express';
import { pino } from 'pino';
import { createLogOutput } from './log-output.ts';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Writes JSON lines. Callers must not pass credentials to it. */
export type Log = ReturnType<typeof createLog>;

/**
 * A log on stdout. A reader that is too slow does not block the process. Before it exits,
 * `flushOutput` must be called.
 */
export function createLog(service: string, level: (typeof logLevels)[number]) {
  const output = createLogOutput(process.stdout, (dropped) => log.warn({ dropped }, 'log lines were dropped'));
  const log = pino({ level, base: { service }, timestamp: createTimestamps(), messageKey: 'message' }, output);
  return log;
}

/**
 * The member `time` of lines, as `pino.stdTimeFunctions.isoTime` formats it. Lines of the same
 * millisecond share their text.
 */
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
 * Observes each request before it is routed. The function that it returns is called when the
 * response has ended or was aborted.
 */
export type RequestObserver = (req: Request, res: Response) => (() => void) | undefined;

/** API keys and MCP tokens, which a client may have put into a path by mistake. */
const SECRET_TOKEN = /svc[a-z]_[A-Za-z0-9]+/g;
/**
 * The start of a JWT, with all following characters that a JWT can have. It is a JWT if it has more
 * than one part.
 */
const JWT_START = /eyJ[A-Za-z0-9_.-]+/g;
const REDACTED = '[credential]';

/** The path of a URL for logs and audit entries: without query and credentials. */
export function pathOf(url: string): string {
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  if (!path.includes('eyJ') && !path.includes('svc')) return path;
  return path.replace(JWT_START, (found) => (found.includes('.') ? REDACTED : found)).replace(SECRET_TOKEN, REDACTED);
}
