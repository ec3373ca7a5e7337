import { createServer, type Server, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Express } from 'express';
import { type ConnectionLimits, type Connections, onRequest, watchConnections } from '../limits/connections.ts';
import type { Log } from '../observe/log.ts';
import { flushOutput } from '../observe/log-output.ts';

export interface ServeOptions {
  readonly app: Express;
  /** The version of the service, for the log. */
  readonly version: string;
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  /** Called first when the process is told to stop: from then on, `/readyz` must return 503. */
  readonly onStopping: () => void;
  /** Releases the resources of the service; called after the last request. */
  readonly close: () => Promise<void>;
  /** The limits of production apply unless given. */
  readonly connectionLimits?: ConnectionLimits;
}

/**
 * After SIGTERM, new requests are still served for this time, while load balancers detect that
 * `/readyz` returns 503.
 */
const GRACE_MS = 1000;
const DRAIN_LIMIT_MS = 10_000;
/**
 * The number of connections that wait until they are accepted, if the operating system allows it.
 * After a restart, all clients connect within seconds.
 */
const BACKLOG = 4096;

/** The HTTP server of a service, with limits for all timeouts and sizes. */
export function createHttpServer(app: Express): Server {
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 5000,
      maxHeaderSize: 16_384,
      requireHostHeader: false, // the app rejects such requests itself, so that they are audited
    },
    app,
  );
  server.on('checkExpectation', app); // unknown expectations are ignored (RFC 9110, section 10.1.1)
  return server;
}

/**
 * Listens, and shuts down gracefully on SIGTERM, on SIGINT, or when the IPC channel to the parent
 * process is closed. Rejects with a message for the operator if the port is not available.
 */
export async function serve(options: ServeOptions): Promise<Server> {
  const server = createHttpServer(options.app);
  const connections = watchConnections(server, options.log, options.connectionLimits);
  await listen(server, options);
  let stopping = false;
  const stop = (reason: string, graceMs: number) => {
    if (stopping) return;
    stopping = true;
    options.log.info({ reason }, 'stopping');
    options.onStopping();
    void shutDown({ server, connections }, options, graceMs);
  };
  process.once('SIGTERM', () => stop('SIGTERM', GRACE_MS));
  process.once('SIGINT', () => stop('SIGINT', 0));
  if (process.connected) process.once('disconnect', () => stop('the parent process has exited', 0));
  // Logged last, because a reader of this line may send a signal immediately.
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : address;
  options.log.info({ version: options.version, host: options.host, port }, 'listening');
  return server;
}

function listen(server: Server, { host, port }: ServeOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const portInUse =
        error.code === 'EADDRINUSE' ? `Port ${port} on ${host} is in use. Set PORT to a free port.` : undefined;
      reject(
        new Error(portInUse ?? `Cannot listen on ${host}:${port} (${error.code ?? 'unknown error'}).`, {
          cause: error,
        }),
      );
    });
    server.listen({ port, host, backlog: BACKLOG }, resolve);
  });
}

interface RunningServer {
  readonly server: Server;
  readonly connections: Connections;
}

async function shutDown(
  { server, connections }: RunningServer,
  { log, close }: ServeOptions,
  graceMs: number,
): Promise<void> {
  // server.close() waits for keep-alive connections. Idle ones are closed at once, the others with
  // their next response.
  connections.responses().forEach(endConnection);
  onRequest(server, (_req, res) => endConnection(res));
  if (graceMs > 0) await wait(graceMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const limit = setTimeout(() => server.closeAllConnections(), DRAIN_LIMIT_MS);
  await closed;
  clearTimeout(limit);
  await close().catch((error: unknown) => log.error({ err: error }, 'release of resources failed'));
  log.info('stopped');
  await flushOutput();
  process.exit(0);
}

function endConnection(res: ServerResponse): void {
  if (!res.headersSent) res.setHeader('Connection', 'close');
}
