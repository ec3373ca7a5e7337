import { randomUUID } from 'node:crypto';
import { type Log, membersWriter, pathOf, type RequestObserver } from '../observe/log.ts';
import { Problem } from '../response/problem.ts';
import { requestIdOf } from '../response/respond.ts';
import { probePaths } from './health.ts';
import { METRICS_PATH } from './metrics-endpoint.ts';

/**
 * The maximum length is less than that of an API key, an MCP token or a JWT, so that a misplaced
 * credential is not logged.
 */
const ACCEPTED_ID = /^[A-Za-z0-9._:-]{1,40}$/;

const MESSAGE = 'request';

/**
 * Assigns an id to each request (that of the client if it is accepted), which `respond` returns,
 * and logs one line at the end of the request. Probes and scrapes are frequent, so their level is
 * debug, unless a scrape is refused.
 */
export function requestLog(log: Log): RequestObserver {
  const writeMembers = membersWriter(log, MESSAGE);
  return {
    begin: (req, res) => {
      const given = req.headers['x-request-id'];
      res.locals.requestId = typeof given === 'string' && ACCEPTED_ID.test(given) ? given : randomUUID();
    },
    end: (req, res, duration) => {
      const { failure, closed, caller, mcp, shown } = res.locals;
      const path = pathOf(req.originalUrl);
      const isProbe = probePaths.includes(path) || (path === METRICS_PATH && res.statusCode === 200);
      const line = { requestId: requestIdOf(res), method: req.method, path, status: res.statusCode, duration };
      if (writeMembers && res.writableFinished && !isProbe && !failure && !closed && !mcp && !shown) {
        writeMembers(membersOf(line, caller));
        return;
      }
      log[failure ? 'error' : isProbe ? 'debug' : 'info'](
        {
          request_id: line.requestId,
          method: line.method,
          path,
          status: line.status,
          duration_ms: Math.round(duration),
          ...(res.writableFinished ? {} : { aborted: true }),
          ...(closed ? { closed } : {}),
          ...(caller ? { caller } : {}),
          ...(mcp ? { mcp } : {}),
          ...(shown instanceof Problem ? reasonOf(shown) : {}),
          ...(failure ? { err: failure } : {}),
        },
        MESSAGE,
      );
    },
  };
}

interface Line {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly duration: number;
}

/** The members of most lines as text, because the log formats an object at several times the cost. */
function membersOf({ requestId, method, path, status, duration }: Line, caller: unknown): string {
  const members =
    `,"request_id":${JSON.stringify(requestId)},"method":${JSON.stringify(method)},"path":${JSON.stringify(path)}` +
    `,"status":${status},"duration_ms":${Math.round(duration)}`;
  return caller ? `${members},"caller":${JSON.stringify(caller)}` : members;
}

/** Why a request was redirected to a page that shows a problem. The status does not state it. */
const reasonOf = ({ code, message, cause }: Problem) => ({
  problem: code,
  reason: cause instanceof Error ? cause.message : message,
});
