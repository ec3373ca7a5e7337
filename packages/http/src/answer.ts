import type { Response } from 'express';
import { Problem } from './problem.ts';
import { abandon, pour, type Streamed } from './streamed.ts';

/** An answer, before any byte of it has left. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Instead of a body. */
  readonly stream?: Streamed;
}

/** Runs when an answer is ready and before it leaves; when it rejects, the caller gets a 503 instead. */
export type BeforeAnswer = (answer: Answer, outcome: { readonly aborted: boolean }) => Promise<void>;

const before = new WeakMap<Response, BeforeAnswer>();

/** Holds the answer of one request back until `hold` has done its work. */
export function holdAnswer(res: Response, hold: BeforeAnswer): void {
  before.set(res, hold);
}

/** The one place from which an answer leaves. */
export async function respond(res: Response, answer: Answer): Promise<void> {
  const final = await held(res, answer);
  const isOver = res.destroyed || res.headersSent;
  if (!isOver) setHead(res, final);
  if (!isOver && final.stream && res.req.method !== 'HEAD') return pour(res, final.stream);
  if (answer.stream) void abandon(answer.stream);
  if (!isOver) res.end(final.body);
}

function setHead(res: Response, { status, headers = {}, body = '', stream }: Answer): void {
  res.status(status);
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (!stream && status !== 204 && status !== 304) res.setHeader('Content-Length', Buffer.byteLength(body));
}

async function held(res: Response, answer: Answer): Promise<Answer> {
  const hold = before.get(res);
  if (!hold) return answer;
  before.delete(res);
  try {
    await hold(answer, { aborted: res.destroyed || res.req.socket.destroyed });
    return answer;
  } catch (cause) {
    res.locals.failure = cause;
    return problemAnswer(
      unavailable('The request could not be recorded, so it was not answered.', cause),
      requestIdOf(res),
    );
  }
}

/** The answer that a problem makes. */
export const problemAnswer = (problem: Problem, requestId: string): Answer => ({
  status: problem.status,
  headers: {
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Cache-Control': 'no-store',
    ...problem.headers,
  },
  body: JSON.stringify(problem.document(requestId)),
});

/** An answer of JSON. */
export const jsonAnswer = (
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer & { readonly body: string } => ({
  status,
  headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(value),
});

const RETRY_AFTER_SECONDS = 1;

/** 503: something that is needed is away for the moment. */
export const unavailable = (detail: string, cause?: unknown): Problem =>
  new Problem('unavailable', detail, { headers: { 'Retry-After': `${RETRY_AFTER_SECONDS}` }, cause });

/** The id of the request that `res` answers, set by the request log. */
export const requestIdOf = (res: Response): string => String(res.locals.requestId);
