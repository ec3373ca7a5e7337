import { createServer, type Server } from 'node:http';
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

/**
 * Listens, and stops in order on SIGTERM, SIGINT, or when the process that supervises this one is gone.
 * Rejects with one clear sentence when the port can't be had.
 */
export async function serve(options: ServeOptions): Promise<Server> {
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 5000, maxHeaderSize: 16_384 },
    options.app,
  );
  await listen(server, options);
  let stopping = false;
  const stop = (reason: string, noticeMs: number) => {
    if (stopping) return;
    stopping = true;
    options.log.info({ reason }, 'stopping');
    options.onStopping();
    void shutDown(server, options, noticeMs);
  };
  process.once('SIGTERM', () => stop('SIGTERM', NOTICE_MS));
  process.once('SIGINT', () => stop('SIGINT', 0));
  if (process.connected) process.once('disconnect', () => stop('the supervising process is gone', 0));
  return server;
}

function listen(server: Server, { host, port, log }: ServeOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken =
        error.code === 'EADDRINUSE' ? `Port ${port} on ${host} is in use: set PORT to a free one.` : undefined;
      reject(
        new Error(taken ?? `Can't listen on ${host}:${port} (${error.code ?? 'unknown reason'}).`, { cause: error }),
      );
    });
    server.listen(port, host, () => {
      const address = server.address();
      log.info({ host, port: typeof address === 'object' ? address?.port : port }, 'listening');
      resolve();
    });
  });
}

async function shutDown(server: Server, { log, close }: ServeOptions, noticeMs: number): Promise<void> {
  // server.close() waits for keep-alive connections: each is told to close with its next answer, idle ones at once.
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'));
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
