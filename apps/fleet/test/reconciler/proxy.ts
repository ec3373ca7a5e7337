import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { Fate } from './fates.ts';

/** A request that came to a proxy. */
export interface Passing {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Ends {
  readonly createServer: (answer: (req: IncomingMessage, res: ServerResponse) => void) => Server;
  readonly listen: (server: Server) => void;
  /** A request to the server. */
  readonly ask: (passing: Passing) => ClientRequest;
  /** How the server would refuse it. */
  readonly refusal: (passing: Passing) => { readonly status: number; readonly body: object };
}

/** A proxy between the fleet and a server, which can make requests fail. It can stop and start again at the same address. */
export async function startProxy({ createServer, listen, ask, refusal }: Ends) {
  const seen: Record<Fate, number> = { passed: 0, refused: 0, reset: 0, lost: 0, hangs: 0, late: 0 };
  const held: (() => void)[] = [];
  let fateOf: (request: string) => Fate = () => 'passed';
  let underWay = 0;
  let slownessMs = 0;

  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    underWay += 1;
    res.once('close', () => {
      underWay -= 1;
    });
    const { method = '', url: path = '', headers } = req;
    const fate = fateOf(`${method} ${path}`);
    seen[fate] += 1;
    if (fate === 'hangs') return;
    if (fate === 'reset') return void res.destroy();
    const passing = { method, path, headers, body: await text(req) };
    if (fate === 'late') await new Promise<void>((resolve) => held.push(resolve));
    if (slownessMs > 0) await pause(Math.random() * slownessMs);
    if (fate === 'refused') refuse(passing, res);
    else passOn(passing, res, fate === 'late' ? 'lost' : fate);
  };
  const refuse = (passing: Passing, res: ServerResponse) => {
    const { status, body } = refusal(passing);
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };
  const passOn = (passing: Passing, res: ServerResponse, fate: 'passed' | 'lost') => {
    const passed = ask(passing).once('response', (answered: IncomingMessage) => {
      if (fate === 'lost') return answered.once('close', () => res.destroy()).resume();
      res.writeHead(answered.statusCode ?? 502, answered.headers as OutgoingHttpHeaders);
      res.flushHeaders();
      return pipeline(answered, res, () => passed.destroy());
    });
    passed.once('error', () => res.destroy());
    if (fate === 'passed') res.once('close', () => passed.destroy());
    passed.end(passing.body);
  };
  const server = createServer((req, res) => {
    answer(req, res).catch(() => res.destroy()); // the client has left
  });
  const open = async () => {
    listen(server);
    await once(server, 'listening');
  };
  const goAway = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  await open();

  return {
    server,
    /** Number of requests by fate. */
    seen: seen as Readonly<Record<Fate, number>>,
    /** Sets the fate of requests from now on. */
    fate: (of: typeof fateOf) => {
      fateOf = of;
    },
    /** Delays each request from now on by up to so many milliseconds. */
    slow: (ms: number) => {
      slownessMs = ms;
    },
    /** Passes on the requests that are late. */
    letGo: () => {
      for (const go of held.splice(0)) go();
    },
    /** Number of requests that have not ended. */
    underWay: () => underWay,
    goAway,
    comeBack: open,
    stop: async () => {
      if (server.listening) await goAway();
    },
  };
}
