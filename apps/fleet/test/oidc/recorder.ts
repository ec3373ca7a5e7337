import type { Outgoing, Send } from '@svc/contract';

/** Passes requests on, and keeps what was sent and what came back. */
export function aRecorder(send: Send) {
  const exchanges: { readonly request: Outgoing; readonly body: Record<string, unknown> }[] = [];
  return {
    exchanges,
    send: (async (request) => {
      const answer = await send(request);
      exchanges.push({ request, body: JSON.parse(answer.body) as Record<string, unknown> }); // a provider answers in JSON
      return answer;
    }) satisfies Send,
    /** The last answer to a request at this path. */
    lastOf: (path: string) => exchanges.findLast(({ request }) => request.url.pathname === path)?.body ?? {},
    countOf: (path: string) => exchanges.filter(({ request }) => request.url.pathname === path).length,
  };
}
