import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newSecretToken } from '@svc/auth';
import { type ProblemCode, problems, type Template } from '@svc/contract';
import { hubCatalogEndpoints } from '@svc/contract/hub';

/** A request as the hub saw it. */
export interface SeenRequest {
  readonly path: string;
  readonly since: string | null;
  readonly authorization: string | undefined;
}

/** A good answer that is ready, and where it goes: what a failing hub does with it. */
export interface Exchange {
  readonly res: ServerResponse;
  readonly good: string;
}

export type Behaviour = (exchange: Exchange) => void | Promise<void>;

const UPDATES = '/api/v1/catalog/templates/updates';
const sendJson = ({ res, good }: Exchange) => void res.writeHead(200, { 'Content-Type': 'application/json' }).end(good);

/** Answers with a problem document, as the contract has it. */
export function refuse(code: ProblemCode, detail = ''): Behaviour {
  const { status, title } = problems[code];
  const document = { type: 'about:blank', title, status, detail, code, request_id: 'of-the-hub' };
  return ({ res }) =>
    void res.writeHead(status, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(document));
}

/** What the hub shows to the fleet, with a time of its own. */
function createShownCatalog() {
  let clock = Date.parse('2026-05-01T00:00:00.000Z');
  const shown = new Map<string, { readonly template: Template; readonly at: number }>();
  const withdrawn = new Map<string, number>();
  const withdraw = ({ id }: { readonly id: string }) => {
    clock += 1;
    if (shown.delete(id)) withdrawn.set(id, clock);
  };
  return {
    /** New or changed: the catalog's time goes on. */
    publish: (...templates: readonly Template[]) => {
      clock += 1;
      for (const template of templates) {
        shown.set(template.id, { template, at: clock });
        withdrawn.delete(template.id);
      }
    },
    withdraw,
    withdrawAll: () => {
      for (const { template } of shown.values()) withdraw(template);
    },
    checkedAt: () => new Date(clock).toISOString(),
    updatesSince: (since: number) =>
      hubCatalogEndpoints.listTemplateUpdates.reply.parse({
        templates: [...shown.values()].filter(({ at }) => at > since).map(({ template }) => template),
        removed: [...withdrawn].filter(([, at]) => at > since).map(([id]) => ({ id })),
        checked_at: new Date(clock),
      }),
  };
}

/** Answers a fleet's sync, true to the hub's contract until it is told to fail. It shows what the tests publish. */
export async function startFakeHub(key = newSecretToken('svcc_')) {
  const { updatesSince, ...catalog } = createShownCatalog();
  const requests: SeenRequest[] = [];
  let behaviour: Behaviour = sendJson;
  let inFlight = 0;
  let mostAtOnce = 0;

  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const url = new URL(req.url ?? '/', 'http://hub.test');
    const { authorization } = req.headers;
    const seen = { path: url.pathname, since: url.searchParams.get('since'), authorization };
    requests.push(seen);
    mostAtOnce = Math.max(mostAtOnce, ++inFlight);
    res.once('close', () => inFlight--);
    if (req.method !== 'GET' || seen.path !== UPDATES) return refuse('not_found')({ res, good: '' });
    if (authorization !== `Bearer ${key}`) return refuse('invalid_token')({ res, good: '' });
    await behaviour({ res, good: JSON.stringify(updatesSince(Date.parse(seen.since ?? ''))) });
  };
  const server = await listen((req, res) => void answer(req, res));

  return {
    url: server.url,
    key,
    ...catalog,
    requests,
    mostAtOnce: () => mostAtOnce,
    /** From now on it answers like this. */
    behave: (as: Behaviour) => {
      behaviour = as;
    },
    recover: () => {
      behaviour = sendJson;
    },
    goAway: server.goAway,
    comeBack: server.comeBack,
    stop: server.goAway,
  };
}

/** A server on loopback that can leave its port and come back to it. */
async function listen(answer: RequestListener) {
  const server = createServer(answer);
  const open = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port; // a server that listens on a port has one
  };
  const port = await open(0);
  return {
    url: `http://127.0.0.1:${port}`,
    goAway: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
    comeBack: () => open(port),
  };
}

export type FakeHub = Awaited<ReturnType<typeof startFakeHub>>;
