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
  /** A request to what is behind. */
  readonly ask: (passing: Passing) => ClientRequest;
  /** How what is behind would refuse it. */
  readonly refusal: (passing: Passing) => { readonly status: number; readonly body: object };
}

/** Something between the fleet and what it asks, on which things can go wrong. It can be gone, and come back to the same place. */
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
    answer(req, res).catch(() => res.destroy()); // whoever asked has left
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
    /** How many requests had which fate. */
    seen: seen as Readonly<Record<Fate, number>>,
    /** From now on this becomes of requests. */
    fate: (of: typeof fateOf) => {
      fateOf = of;
    },
    /** From now on each takes up to so long. */
    slow: (ms: number) => {
      slownessMs = ms;
    },
    /** What is late comes. */
    letGo: () => {
      for (const go of held.splice(0)) go();
    },
    /** How many requests are not answered to the end yet. */
    underWay: () => underWay,
    goAway,
    comeBack: open,
    stop: async () => {
      if (server.listening) await goAway();
    },
  };
}
