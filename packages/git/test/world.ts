import type { IncomingMessage, RequestListener } from 'node:http';
import { onLoopback } from '@svc/testing';
import { GitError } from '../src/index.ts';

/** The message of the GitError with which work ends; `accepted` if it does not fail. Other errors fail the test. */
export const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'accepted',
    (error: unknown) => {
      if (error instanceof GitError) return error.message;
      throw error;
    },
  );

/** A server on a loopback address that records its requests. */
export async function aTarget(listener: RequestListener) {
  const requests: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = [];
  const server = await onLoopback((req, res) => {
    const { method, url, headers } = req;
    requests.push({ method, url, headers });
    req.resume();
    listener(req, res);
  });
  return { url: server.url, requests, stop: server.stopListening };
}
