import { createServer, type Server, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Express } from 'express';
import type { Log } from './log.ts';

export interface ServeOptions {
  readonly app: Express;
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  /** Called first when the process is told to stop: readiness turns to 503. */
  readonly onStopping: () => void;
  /** Closes what the service holds open; called when the last request is over. */
  readonly close: () => Promise<void>;
}

/** While it lasts, readiness says 503 and new requests are still served: the time for a load balancer to notice. */
const NOTICE_MS = 1000;
const DRAIN_LIMIT_MS = 10_000;

/** The server of a service: every wait and every size is bounded. */
export function createHttpServer(app: Express): Server {
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 5000,
      maxHeaderSize: 16_384,
      requireHostHeader: false, // the app refuses it, in its own words and with its audit
    },
    app,
  );
  server.on('checkExpectation', app); // an Expect that nobody knows is ignored (RFC 9110, section 10.1.1)
  return server;
}

/**
 * Listens, and stops in order on SIGTERM, SIGINT, or when the process that supervises this one is gone.
 * Rejects with one clear sentence when the port can't be had.
 */
export async function serve(options: ServeOptions): Promise<Server> {
  const server = createHttpServer(options.app);
  const open = new Set<ServerResponse>();
  server.prependListener('request', (_req, res) => {
    open.add(res);
    res.once('close', () => open.delete(res));
  });
  await listen(server, options);
  let stopping = false;
  const stop = (reason: string, noticeMs: number) => {
    if (stopping) return;
    stopping = true;
    options.log.info({ reason }, 'stopping');
    options.onStopping();
    void shutDown({ server, open }, options, noticeMs);
  };
  process.once('SIGTERM', () => stop('SIGTERM', NOTICE_MS));
  process.once('SIGINT', () => stop('SIGINT', 0));
  if (process.connected) process.once('disconnect', () => stop('the supervising process is gone', 0));
  // Said last: whoever reads it may tell this process to stop at once.
  const address = server.address();
  options.log.info({ host: options.host, port: typeof address === 'object' ? address?.port : address }, 'listening');
  return server;
}

function listen(server: Server, { host, port }: ServeOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken =
        error.code === 'EADDRINUSE' ? `Port ${port} on ${host} is in use: set PORT to a free one.` : undefined;
      reject(
        new Error(taken ?? `Can't listen on ${host}:${port} (${error.code ?? 'unknown reason'}).`, { cause: error }),
      );
    });
    server.listen(port, host, resolve);
  });
}

interface Serving {
  readonly server: Server;
  /** Requests in flight. */
  readonly open: ReadonlySet<ServerResponse>;
}

async function shutDown({ server, open }: Serving, { log, close }: ServeOptions, noticeMs: number): Promise<void> {
  // server.close() waits for keep-alive connections: each is told to close with its next answer, idle ones at once.
  for (const res of open) endConnection(res);
  server.prependListener('request', (_req, res) => endConnection(res));
  if (noticeMs > 0) await wait(noticeMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const limit = setTimeout(() => server.closeAllConnections(), DRAIN_LIMIT_MS);
  await closed;
  clearTimeout(limit);
  await close().catch((error: unknown) => log.error({ err: error }, 'closing failed'));
  log.info('stopped');
  process.exit(0);
}

function endConnection(res: ServerResponse): void {
  if (!res.headersSent) res.setHeader('Connection', 'close');
}
