import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProxyFault } from './proxy-faults.ts';

/** A request that a proxy received. */
export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Ends {
  readonly createServer: (answer: (req: IncomingMessage, res: ServerResponse) => void) => Server;
  readonly listen: (server: Server) => void;
  /** Sends a request to the server. */
  readonly ask: (request: ProxiedRequest) => ClientRequest;
  /** The response with which the server would reject the request. */
  readonly refusal: (request: ProxiedRequest) => { readonly status: number; readonly body: object };
  /** Whether a request has no end: it is counted as a stream, and not as one that is under way. */
  readonly isStream?: (path: string) => boolean;
}

/**
 * A proxy between the fleet and a server that can inject faults. It can stop and start again at the
 * same address.
 */
export async function startProxy({ createServer, listen, ask, refusal, isStream = () => false }: Ends) {
  const seen: Record<ProxyFault, number> = { passed: 0, refused: 0, reset: 0, lost: 0, hangs: 0, late: 0 };
  const held: (() => void)[] = [];
  let faultFor: (request: string) => ProxyFault = () => 'passed';
  const open = { requests: 0, streams: 0 };
  let slownessMs = 0;

  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const kind = isStream(req.url ?? '') ? 'streams' : 'requests';
    open[kind] += 1;
    res.once('close', () => {
      open[kind] -= 1;
    });
    const { method = '', url: path = '', headers } = req;
    const fault = faultFor(`${method} ${path}`);
    seen[fault] += 1;
    if (fault === 'hangs') return;
    if (fault === 'reset') return void res.destroy();
    const request = { method, path, headers, body: await text(req) };
    if (fault === 'late') await new Promise<void>((resolve) => held.push(resolve));
    if (slownessMs > 0) await pause(Math.random() * slownessMs);
    if (fault === 'refused') refuse(request, res);
    else forward(request, res, fault === 'late' ? 'lost' : fault);
  };
  const refuse = (request: ProxiedRequest, res: ServerResponse) => {
    const { status, body } = refusal(request);
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };
  const forward = (request: ProxiedRequest, res: ServerResponse, fault: 'passed' | 'lost') => {
    const passed = ask(request).once('response', (answered: IncomingMessage) => {
      if (fault === 'lost') return answered.once('close', () => res.destroy()).resume();
      if (res.destroyed) return passed.destroy(); // the client has disconnected
      res.writeHead(answered.statusCode ?? 502, answered.headers as OutgoingHttpHeaders);
      res.flushHeaders();
      return pipeline(answered, res, () => passed.destroy());
    });
    passed.once('error', () => res.destroy());
    if (fault === 'passed') res.once('close', () => passed.destroy());
    passed.end(request.body);
  };
  const server = createServer((req, res) => {
    answer(req, res).catch(() => res.destroy()); // the client has disconnected
  });
  const startListening = async () => {
    listen(server);
    await once(server, 'listening');
  };
  const stopListening = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  await startListening();

  return {
    server,
    /** Number of requests by fault. */
    seen: seen as Readonly<Record<ProxyFault, number>>,
    /** Sets the fault of the requests from now on. */
    setFault: (of: typeof faultFor) => {
      faultFor = of;
    },
    /** Delays each request from now on by a random time of up to `ms` milliseconds. */
    slow: (ms: number) => {
      slownessMs = ms;
    },
    /** Forwards the requests with the fault `late`. */
    releaseLate: () => {
      for (const go of held.splice(0)) go();
    },
    /** Number of requests that have not ended. */
    underWay: () => open.requests,
    /** Number of streams that have not ended. */
    streams: () => open.streams,
    stopListening,
    startListening,
    stop: async () => {
      if (server.listening) await stopListening();
    },
  };
}
