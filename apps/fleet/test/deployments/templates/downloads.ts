import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { onLoopback } from '@svc/testing';
import { answerWell, type Behaviour, type FakeHub, refuse } from '../../fake-hub.ts';

const TEMPLATE = /^\/api\/v1\/catalog\/templates\/(?!updates$)([^/]+)$/;

/**
 * A proxy in front of a hub. It responds to requests for single templates, which count as
 * downloads, and forwards all others to the hub.
 */
export async function startDownloads(hub: FakeHub) {
  const asked: string[] = [];
  let behaviour: Behaviour = answerWell;

  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const [, slug] = TEMPLATE.exec(new URL(req.url ?? '/', hub.url).pathname) ?? [];
    if (slug === undefined) return pass(req, res);
    asked.push(slug);
    const template = hub.shown().find((shown) => shown.slug === slug);
    if (req.headers.authorization !== `Bearer ${hub.key}`) return refuse('invalid_token')({ res, good: '' });
    if (behaviour === answerWell && !template) return refuse('not_found')({ res, good: '' });
    return behaviour({ res, good: JSON.stringify(template) });
  };
  const pass = async (req: IncomingMessage, res: ServerResponse) => {
    const { authorization = '' } = req.headers;
    const answered = await fetch(`${hub.url}${req.url}`, { headers: { authorization } });
    const type = answered.headers.get('content-type') ?? '';
    res.writeHead(answered.status, { 'Content-Type': type }).end(await answered.text());
  };
  const server = await onLoopback((req, res) => {
    answer(req, res).catch(() => res.destroy());
  });

  return {
    url: server.url,
    /** The requested slugs, in the order of the requests. */
    asked: asked as readonly string[],
    /** Sets the behaviour for the requests from now on. */
    behave: (how: Behaviour) => {
      behaviour = how;
    },
    forget: () => {
      asked.splice(0);
      behaviour = answerWell;
    },
    stopListening: server.stopListening,
    startListening: server.startListening,
    stop: server.stopListening,
  };
}

/** A behaviour that sends no response before `release` is called. */
export function delayedResponse() {
  let release: () => void = () => undefined;
  const waits = new Promise<void>((resolve) => {
    release = resolve;
  });
  const behaviour: Behaviour = async (exchange) => {
    await waits;
    if (!exchange.res.closed) {
      const closed = once(exchange.res, 'close');
      await answerWell(exchange);
      await closed;
    }
  };
  return { behaviour, release };
}
