import type { ServerResponse } from 'node:http';

/**
 * A response in place of that of the API server: none, a closed connection, an incomplete error, or
 * the given response.
 */
export type InjectedResponse =
  | 'hang'
  | 'reset'
  | 'stall'
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> };

export function sendInjected(injected: InjectedResponse, response: ServerResponse): void {
  if (injected === 'hang') return;
  if (injected === 'reset') response.destroy();
  else if (injected === 'stall') response.writeHead(500, JSON_TYPE).write('{');
  else response.writeHead(injected.status, { ...JSON_TYPE, ...injected.headers }).end(injected.body);
}

const JSON_TYPE = { 'content-type': 'application/json' };
