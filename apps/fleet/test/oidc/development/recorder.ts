import type { Outgoing, Send } from '@svc/contract';

/** Forwards requests, and records what was sent and what was received. */
export function aRecorder(send: Send) {
  const exchanges: { readonly request: Outgoing; readonly body: Record<string, unknown> }[] = [];
  return {
    exchanges,
    send: (async (request) => {
      const answer = await send(request);
      // A provider answers in JSON.
      exchanges.push({ request, body: JSON.parse(answer.body) as Record<string, unknown> });
      return answer;
    }) satisfies Send,
    /** The last response to a request with this path. */
    lastOf: (path: string) => exchanges.findLast(({ request }) => request.url.pathname === path)?.body ?? {},
    countOf: (path: string) => exchanges.filter(({ request }) => request.url.pathname === path).length,
  };
}
