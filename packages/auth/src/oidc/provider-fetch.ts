import type { Incoming, Outgoing, Send } from '@svc/contract';
import { failedConnection } from '@svc/http';
import type { CustomFetch } from 'openid-client';
import { ProviderUnavailable } from './errors.ts';

/** A JSON object that a provider sent. */
export type Members = Readonly<Record<string, unknown>>;

/** Whether a URL has the scheme https. */
export const isSecure = (url: string | URL): boolean => new URL(url).protocol === 'https:';

/** Rejects requests without https if the issuer has https, whatever URLs its metadata contain. */
export function requireHttpsFor(issuer: string, send: Send): Send {
  if (!isSecure(issuer)) return send;
  return (request) =>
    isSecure(request.url)
      ? send(request)
      : Promise.reject(new Error('The metadata of the provider contain a URL without https.'));
}

/**
 * Sends a request to the provider. Rejects with ProviderUnavailable if the request fails, or if the
 * response is a redirect, a server error, 408, 429, or a success without a JSON object.
 */
export async function fetchProvider(send: Send, request: Outgoing): Promise<Incoming> {
  const response = await send(request).catch((cause: unknown) => {
    throw new ProviderUnavailable(failedConnection('the provider', cause).text, { cause });
  });
  const { status } = response;
  if (status < 400 && status !== 200)
    throw new ProviderUnavailable(`The provider responds with ${status} instead of 200.`);
  if (status >= 500 || status === 408 || status === 429)
    throw new ProviderUnavailable(`The provider is unavailable (${status}).`);
  if (status === 200 && parseObject(response.body) === undefined)
    throw new ProviderUnavailable('The response of the provider is not a JSON object.');
  return response;
}

/**
 * The fetch function for openid-client. It does not pass on the headers of a response, since the
 * body contains everything needed.
 */
export const customFetchOver =
  (send: Send, form: Readonly<Record<string, string>> = {}): CustomFetch =>
  async (url, { method, headers, body }) => {
    if (body instanceof URLSearchParams) for (const [name, value] of Object.entries(form)) body.set(name, value);
    const sent = body === undefined || body === null ? {} : { body: String(body) };
    const response = await fetchProvider(send, { method, url: new URL(url), headers, ...sent });
    return new Response(response.body, { status: response.status, headers: { 'content-type': 'application/json' } });
  };

export function parseObject(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
