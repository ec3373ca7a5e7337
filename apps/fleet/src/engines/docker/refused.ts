import { Permanent, Transient } from '../errors.ts';
import { jsonOf } from '../whole.ts';
import { oneLine } from '../words.ts';

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

function saidIn(text: string): string {
  const { message } = { ...(jsonOf(text) as object | undefined) } as { message?: unknown };
  return typeof message === 'string' ? message : '';
}
