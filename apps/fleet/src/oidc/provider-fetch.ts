import type { Incoming, Outgoing, Send } from '@svc/contract';
import { OutboundRefused } from '@svc/http';
import type { CustomFetch } from 'openid-client';
import { ProviderUnavailable } from './errors.ts';

/** JSON objects, as a provider sends them. */
export type Members = Readonly<Record<string, unknown>>;

/** Whether an address is one with https. */
export const isSecure = (url: string | URL): boolean => new URL(url).protocol === 'https:';

/** Lets nothing out unencrypted to a provider that is addressed with https, whatever its metadata says. */
export function secureAs(issuer: string, send: Send): Send {
  if (!isSecure(issuer)) return send;
  return (request) =>
    isSecure(request.url) ? send(request) : Promise.reject(new Error('The provider names an address without https.'));
}

/** Asks, and takes only what is an answer: no server error, no redirect, and a JSON object where it is a success. */
export async function reach(send: Send, request: Outgoing): Promise<Incoming> {
  const answer = await send(request).catch((cause: unknown) => {
    const why = cause instanceof OutboundRefused ? cause.message : `The provider does not answer${codeOf(cause)}.`;
    throw new ProviderUnavailable(why, { cause });
  });
  const { status } = answer;
  if (status < 400 && status !== 200) throw new ProviderUnavailable(`The provider answers ${status} where 200 is due.`);
  if (status >= 500 || status === 408 || status === 429)
    throw new ProviderUnavailable(`The provider can’t answer now (${status}).`);
  if (status === 200 && parseObject(answer.body) === undefined)
    throw new ProviderUnavailable('The provider answers with something that is no JSON object.');
  return answer;
}

/** openid-client's way out. Of an answer's headers nothing is passed on: its body says all that is needed. */
export const fetchBy =
  (send: Send, form: Readonly<Record<string, string>> = {}): CustomFetch =>
  async (url, { method, headers, body }) => {
    if (body instanceof URLSearchParams) for (const [name, value] of Object.entries(form)) body.set(name, value);
    const sent = body === undefined || body === null ? {} : { body: String(body) };
    const answer = await reach(send, { method, url: new URL(url), headers, ...sent });
    return new Response(answer.body, { status: answer.status, headers: { 'content-type': 'application/json' } });
  };

export function parseObject(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Why a connection failed, where the system has a name for it. */
function codeOf(error: unknown): string {
  const { name, code } = Object(error) as { readonly name?: unknown; readonly code?: unknown }; // whatever was thrown
  if (name === 'TimeoutError') return ' in time';
  return typeof code === 'string' ? ` (${code})` : '';
}
