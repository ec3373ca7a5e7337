import type { IncomingMessage, ServerResponse } from 'node:http';
import { onLoopback } from '@svc/testing';

/** A response of the hub. */
interface Upstream {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface Exchange {
  /** The path and query of the request. */
  readonly target: string;
  readonly res: ServerResponse;
  /** Sends the request to the hub, by default as it is. */
  forward(target?: string): Promise<Upstream>;
}

/** What happens to one request for updates instead of its response. */
type Fault = (exchange: Exchange) => Promise<void>;

const send = (res: ServerResponse, { status, headers, body }: Upstream) =>
  void res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);

/** 429 or 503. Further requests before `Retry-After` are answered in the same way, and counted in `early`. */
const busy =
  (early: { count: number }, status: 429 | 503, seconds: number): Fault =>
  async ({ res }) => {
    early.count += 1;
    send(res, { status, headers: { 'retry-after': `${seconds}` }, body: '' });
  };

/** The connection is closed in the middle of the body, of which the headers state the length or not. */
export const cutOff =
  (framing: 'content-length' | 'chunked'): Fault =>
  async ({ res, forward }) => {
    const { status, body } = await forward();
    const length = framing === 'chunked' ? {} : { 'content-length': Buffer.byteLength(body) };
    res.writeHead(status, { 'content-type': 'application/json', ...length });
    res.write(body.slice(0, body.length / 2), () => res.destroy());
  };

/** The request is lost, and `meanwhile` happens before the connection is closed. */
export const lost =
  (meanwhile: () => Promise<unknown>): Fault =>
  async ({ res }) => {
    await meanwhile();
    res.destroy();
  };

/** The response has another body. */
export const rewritten =
  (change: (body: string) => string, more: Partial<Upstream> = {}): Fault =>
  async ({ res, forward }) => {
    const upstream = await forward();
    send(res, { ...upstream, ...more, body: change(upstream.body) });
  };

/** The hub receives a cursor that it did not issue. */
export const unknownCursor: Fault = async ({ target, res, forward }) =>
  send(res, await forward(target.replace(/cursor=[^&]*/, 'cursor=unknown')));

/** A proxy in front of the hub. Pages have at most `pageSize` entries, and the next requests for updates can have faults. */
export async function aSyncProxy(hub: string, pageSize: number) {
  const faults: Fault[] = [];
  const statuses: number[] = [];
  const early = { count: 0 };
  let blocked: { readonly until: number; readonly fault: Fault } | undefined;

  const forwardFor =
    (req: IncomingMessage, target: string) =>
    async (instead = target): Promise<Upstream> => {
      const { authorization = '', 'if-none-match': tag } = req.headers;
      const headers = { authorization, ...(tag && { 'if-none-match': tag }) };
      const response = await fetch(hub + instead, { method: req.method ?? 'GET', headers });
      const { 'content-type': type, etag } = Object.fromEntries(response.headers);
      const { status } = response;
      return {
        status,
        headers: { ...(type && { 'content-type': type }), ...(etag && { etag }) },
        body: await response.text(),
      };
    };
  const server = await onLoopback((req, res) => {
    const isUpdates = req.url?.includes('/templates/updates?');
    const target = isUpdates ? `${req.url}`.replace(/limit=\d+/, `limit=${pageSize}`) : `${req.url}`;
    const forward = forwardFor(req, target);
    res.on('finish', () => isUpdates && statuses.push(res.statusCode));
    const isBlocked = blocked !== undefined && performance.now() < blocked.until;
    const fault = isUpdates ? (isBlocked ? blocked?.fault : faults.shift()) : undefined;
    const answered = fault ? fault({ target, res, forward }) : forward().then((upstream) => send(res, upstream));
    answered.catch(() => res.destroy()); // the hub does not respond
  });
  return {
    url: server.url,
    stop: server.stopListening,
    /** The faults of the next requests for updates, in this order. */
    setFaults: (...next: readonly Fault[]) => void faults.splice(0, faults.length, ...next),
    /** The number of faults that have not happened. */
    faultsLeft: () => faults.length,
    /** All requests for updates are answered with this status until `Retry-After`. @returns the number of requests before it */
    isBusy: (status: 429 | 503, seconds: number): { count: number } => {
      early.count = -1; // the first request
      const fault = busy(early, status, seconds);
      faults.splice(0, faults.length, async (exchange) => {
        blocked = { until: performance.now() + seconds * 1000, fault };
        await fault(exchange);
      });
      return early;
    },
    /** Forgets and returns the statuses of the responses to requests for updates. */
    takeStatuses: () => statuses.splice(0),
  };
}

export type SyncProxy = Awaited<ReturnType<typeof aSyncProxy>>;
