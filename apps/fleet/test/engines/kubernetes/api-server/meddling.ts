import type { ServerResponse } from 'node:http';

/** What is answered in the place of an API server: nothing ever, a broken connection, an error without an end, or this. */
export type Meddling =
  | 'hang'
  | 'reset'
  | 'stall'
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> };

export function answerOtherwise(meddling: Meddling, response: ServerResponse): void {
  if (meddling === 'hang') return;
  if (meddling === 'reset') response.destroy();
  else if (meddling === 'stall') response.writeHead(500, JSON_TYPE).write('{');
  else response.writeHead(meddling.status, { ...JSON_TYPE, ...meddling.headers }).end(meddling.body);
}

const JSON_TYPE = { 'content-type': 'application/json' };
