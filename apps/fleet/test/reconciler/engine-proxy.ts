import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { text } from 'node:stream/consumers';

/** What becomes of a request: it is passed on, or refused in its own words, or the answer to it is lost, or there never is one. */
export type Fate = 'passed' | 'refused' | 'reset' | 'lost' | 'hangs';

/** A socket between the fleet and an engine, on which things can go wrong. */
export async function startEngineProxy(engine: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-proxy-'));
  const socketPath = path.join(folder, 'engine.sock');
  const engineSocket = new URL(engine).pathname;
  const seen: Record<Fate, number> = { passed: 0, refused: 0, reset: 0, lost: 0, hangs: 0 };
  let fateOf: (request: string) => Fate = () => 'passed';
  let underWay = 0;

  const answer = (req: IncomingMessage, res: ServerResponse) => {
    underWay += 1;
    res.once('close', () => {
      underWay -= 1;
    });
    const fate = fateOf(`${req.method} ${req.url}`);
    seen[fate] += 1;
    if (fate === 'hangs') return;
    if (fate === 'reset') return res.destroy();
    if (fate === 'refused') return void refuse(req, res);
    passOn(req, res, fate);
  };
  const refuse = async (req: IncomingMessage, res: ServerResponse) => {
    const message = `out of order: ${await text(req)} ${JSON.stringify(req.headers)}`;
    res.writeHead(500, { 'Content-Type': 'application/json' }).end(JSON.stringify({ message }));
  };
  const passOn = (req: IncomingMessage, res: ServerResponse, fate: 'passed' | 'lost') => {
    const { method, url, headers } = req;
    const passed = request({ socketPath: engineSocket, path: url, method, headers, agent: false }, (answered) => {
      if (fate === 'lost') return answered.once('close', () => res.destroy()).resume();
      res.writeHead(answered.statusCode ?? 502, answered.headers);
      res.flushHeaders();
      return pipeline(answered, res, () => passed.destroy());
    });
    passed.once('error', () => res.destroy());
    if (fate === 'passed') res.once('close', () => passed.destroy());
    req.pipe(passed);
  };
  const server = createServer(answer);
  const open = async () => {
    server.listen(socketPath);
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
    endpoint: `unix://${socketPath}`,
    /** How many requests had which fate. */
    seen: seen as Readonly<Record<Fate, number>>,
    /** From now on this becomes of requests. */
    fate: (of: typeof fateOf) => {
      fateOf = of;
    },
    /** How many requests are not answered to the end yet. */
    underWay: () => underWay,
    goAway,
    comeBack: open,
    stop: async () => {
      if (server.listening) await goAway();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type EngineProxy = Awaited<ReturnType<typeof startEngineProxy>>;
