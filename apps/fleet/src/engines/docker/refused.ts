import { EngineFailure, Permanent, Transient } from '../errors.ts';

const MAX_WORDS = 65_536;

/** The error for an answer that says no, whatever was asked. */
export function refusedWith({
  status,
  text,
}: {
  readonly status: number;
  readonly text: string;
}): Permanent | Transient {
  const answer = { status, said: oneLine(saidIn(text)) };
  const message = `The engine refused a request (${status}).`;
  if (status === 409 || status === 429 || status >= 500) return new Transient('EngineError', message, answer);
  return new Permanent(status === 401 || status === 403 ? 'AuthFailed' : 'InvalidSpec', message, answer);
}

/** What was asked for; undefined where there is no such thing, or it went meanwhile. */
export async function unlessGone<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof EngineFailure && error.answer?.status === 404) return undefined;
    throw error;
  }
}

function saidIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : '';
  } catch {
    return '';
  }
}

/** Text of an engine in one line, without what moves a cursor. */
export const oneLine = (text: string): string =>
  text
    .slice(0, MAX_WORDS)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
