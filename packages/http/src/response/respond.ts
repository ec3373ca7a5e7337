import type { Response } from 'express';
import { compressedFor, mayCompress } from './compression.ts';
import { Problem } from './problem.ts';
import { SECURITY_HEADERS } from './security-headers.ts';
import { cancelStream, sendStream } from './send-stream.ts';
import type { Streamed } from './special-reply.ts';

/** A header with several values is sent once for each of them. */
type Headers = Readonly<Record<string, string | readonly string[]>>;

/** A response that has not been sent. */
export interface PendingResponse {
  readonly status: number;
  /** The status of the problem that a redirect shows at a page, for the audit log. */
  readonly problemStatus?: number;
  readonly headers?: Headers;
  readonly body?: string | Buffer;
  /**
   * Whether the body can be compressed. The length of a compressed secret can reveal parts of it.
   */
  readonly isCompressible?: boolean;
  /** Replaces the body. */
  readonly stream?: Streamed;
}

/**
 * Runs before a response is sent. If it rejects, the caller receives 503 instead of the response.
 */
export type BeforeResponse = (answer: PendingResponse, outcome: { readonly aborted: boolean }) => Promise<void>;

const hooks = new WeakMap<Response, BeforeResponse>();

/** Delays the response of a request until `hook` resolves. */
export function holdResponse(res: Response, hook: BeforeResponse): void {
  hooks.set(res, hook);
}

/**
 * Sends the response. All responses are sent by this function. Most are sent before it returns:
 * those that are neither held back, nor compressed, nor streamed. @returns a promise for the others
 */
export function respond(res: Response, answer: PendingResponse): Promise<void> | undefined {
  const { req } = res;
  const isPrepared = !hooks.has(res) && !answer.stream && !(answer.isCompressible && mayCompress(req, answer.body));
  if (!isPrepared) return prepareAndSend(res, answer);
  if (canSend(res)) {
    setHead(res, answer);
    res.end(answer.body);
  }
  return undefined;
}

const canSend = (res: Response) => !res.destroyed && !res.headersSent;

async function prepareAndSend(res: Response, answer: PendingResponse): Promise<void> {
  const final = await compressed(res, await runHook(res, answer));
  const isSendable = canSend(res);
  if (isSendable) setHead(res, final);
  if (isSendable && final.stream && res.req.method !== 'HEAD') return sendStream(res, final.stream);
  if (answer.stream) void cancelStream(answer.stream);
  if (isSendable) res.end(final.body);
}

async function compressed(res: Response, answer: PendingResponse): Promise<PendingResponse> {
  const { isCompressible = false, body } = answer;
  const result = isCompressible && body !== undefined ? await compressedFor(res.req, body) : undefined;
  return result
    ? { ...answer, body: result.body, headers: { ...answer.headers, 'Content-Encoding': result.coding } }
    : answer;
}

/** Names and values in turn. */
const SECURITY = SECURITY_HEADERS.flat();

function setHead(res: Response, { status, headers = {}, body = '', stream }: PendingResponse): void {
  const all: (string | string[])[] = ['X-Request-Id', requestIdOf(res)];
  if (SECURITY_HEADERS.some(([name]) => name in headers)) {
    for (const [name, value] of SECURITY_HEADERS) if (!(name in headers)) all.push(name, value);
  } else all.push(...SECURITY);
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (typeof value === 'string') all.push(name, value);
    else if (value.length > 0) all.push(name, [...value]);
  }
  if (!stream && status !== 204 && status !== 304) all.push('Content-Length', String(Buffer.byteLength(body)));
  // Headers that were set before, such as those for other origins, must be merged. It costs more
  // than to send only these.
  if (res.getHeaderNames().length === 0) return void res.writeHead(status, all);
  res.statusCode = status;
  for (let at = 0; at < all.length; at += 2) res.setHeader(String(all[at]), all[at + 1] ?? '');
}

async function runHook(res: Response, answer: PendingResponse): Promise<PendingResponse> {
  const hook = hooks.get(res);
  if (!hook) return answer;
  hooks.delete(res);
  try {
    await hook(answer, { aborted: res.destroyed || res.req.socket.destroyed });
    return answer;
  } catch (cause) {
    res.locals.failure = cause;
    return problemResponse(
      unavailable('The response was withheld because its audit entry could not be stored.', cause),
      requestIdOf(res),
    );
  }
}

/** The response for a problem. */
export const problemResponse = (problem: Problem, requestId: string): PendingResponse => ({
  status: problem.status,
  headers: {
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Cache-Control': 'no-store',
    ...problem.headers,
  },
  body: JSON.stringify(problem.document(requestId)),
});

/** The redirect to the page that shows a problem. */
export const pageOfProblem = (problem: Problem, requestId: string): PendingResponse => ({
  status: 302,
  problemStatus: problem.status,
  headers: { 'Cache-Control': 'no-store', Location: problem.page?.(requestId) ?? '/' },
});

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A JSON response. */
export const jsonResponse = (
  status: number,
  value: unknown,
  headers: Headers = {},
): PendingResponse & { readonly body: string } => ({
  status,
  headers: { 'Content-Type': JSON_TYPE, ...headers },
  body: JSON.stringify(value),
});

const RETRY_AFTER_SECONDS = 1;

/** 503: a dependency is temporarily unavailable. */
export const unavailable = (detail: string, cause?: unknown): Problem =>
  new Problem('unavailable', detail, { headers: { 'Retry-After': `${RETRY_AFTER_SECONDS}` }, cause });

const RETRY_OVERLOADED_SECONDS = 10;

/** 503: the caller, or all callers together, use what is reserved for expensive requests. */
export const overloaded = (reason: string): Problem =>
  new Problem('overloaded', `${reason} Retry in ${RETRY_OVERLOADED_SECONDS} s.`, {
    headers: { 'Retry-After': `${RETRY_OVERLOADED_SECONDS}` },
  });

/** 503: the audit entry of a request cannot be stored, so the request changes nothing. */
export const notRecorded = (cause: unknown): Problem =>
  unavailable('The request was not processed, because its audit entry cannot be stored.', cause);

/** The id of the request, which the request log sets. */
export const requestIdOf = (res: Response): string => String(res.locals.requestId);
