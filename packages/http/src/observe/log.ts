import type { Request, Response } from 'express';
import { type Logger, type LoggerOptions, pino } from 'pino';
import { createLogOutput, type LogOutput } from './log-output.ts';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Writes JSON lines. Callers must not pass credentials to it. */
export type Log = Logger;

/**
 * Decides about a line about a failure that belongs to no request. True: the line is not written
 * now; `write` writes it.
 */
export type HoldBack = (failure: unknown, write: () => void) => boolean;

/**
 * A log on stdout. A reader that is too slow does not block the process. Before it exits,
 * `flushOutput` must be called.
 */
export function createLog(service: string, level: (typeof logLevels)[number], holdBack?: HoldBack): Log {
  const output = createLogOutput(process.stdout, (dropped) => log.warn({ dropped }, 'log lines were dropped'));
  const log = createLogTo(output, { base: { service }, level, holdBack });
  return log;
}

interface LogSettings {
  /** The members that each line has. */
  readonly base: Readonly<Record<string, string>>;
  readonly level: (typeof logLevels)[number];
  readonly holdBack?: HoldBack | undefined;
}

/** A log that writes to an output. */
export function createLogTo(output: LogOutput, { base, level, holdBack }: LogSettings): Log {
  const options: LoggerOptions = {
    ...{ level, base: { ...base }, messageKey: 'message' },
    ...(holdBack && { hooks: { logMethod: holdingBack(holdBack) } }),
  };
  const timestamp = createTimestamps();
  const log = pino({ ...options, timestamp }, output);
  writers.set(log, (message) => {
    const [level = '', common = '', end = ''] = partsOf(options, message);
    return (members) => {
      if (log.isLevelEnabled('info')) output.write(level + timestamp() + common + members + end);
    };
  });
  return log;
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

const holdingBack = (holdBack: HoldBack): LogMethod =>
  function (given, method) {
    const write = () => method.apply(this, given);
    const members: unknown = given[0];
    const isOfTask = typeof members === 'object' && members !== null && 'err' in members && !('request_id' in members);
    if (!isOfTask || !holdBack(members.err, write)) write();
  };

/** Takes the places of the time and of the members of a line. */
const MARK = ',"mark":0';

/** The parts of a line of the level `info`: before its time, before its members, and after them. */
function partsOf(options: LoggerOptions, message: string): string[] {
  let line = '';
  const write = (text: string) => {
    line = text;
  };
  pino({ ...options, level: 'info', timestamp: () => MARK }, { write }).info({ mark: 0 }, message);
  return line.split(MARK);
}

/**
 * Writes a line of the level `info` with members that are JSON already: each with a comma before
 * it.
 */
export type WriteMembers = (members: string) => void;

const writers = new WeakMap<Log, (message: string) => WriteMembers>();

/**
 * A function that writes lines with the same message without an object for each of them. Undefined
 * for a log that `createLogTo` did not create.
 */
export const membersWriter = (log: Log, message: string): WriteMembers | undefined => writers.get(log)?.(message);

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

/** Observes each request. */
export interface RequestObserver {
  /** Called before the request is routed. */
  readonly begin?: (req: Request, res: Response) => void;
  /**
   * Called when the response has ended or was aborted, with the time since the request arrived in
   * milliseconds.
   */
  readonly end?: (req: Request, res: Response, duration: number) => void;
}

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
