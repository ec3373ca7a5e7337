import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../observe/log.ts';
import { type CloseReason, closeConnection } from '../response/close-connection.ts';

export interface ConnectionLimits {
  /** A connection with unsent bytes is closed after this time without progress, in milliseconds. */
  readonly stallMs: number;
  /** The maximum number of unsent bytes of all connections. */
  readonly maxUnsentBytes: number;
  /** The time between two checks, in milliseconds. */
  readonly checkMs: number;
}

const LIMITS: ConnectionLimits = { stallMs: 30_000, maxUnsentBytes: 256 * 1024 * 1024, checkMs: 250 };

/** Closed connections that are logged individually per check. */
const MAX_LINES = 10;

/**
 * An open connection. Time is counted in checks: after the process was suspended, each client has
 * the full time again.
 */
interface Connection {
  readonly socket: Socket;
  /**
   * The responses that are not complete, in the order of their requests. A client that sends
   * requests without waiting for responses has several. It is not a Set: V8 keeps references
   * between the tables of a Set that changes often, so that the garbage collector finds completed
   * responses later, at a higher cost.
   */
  readonly responses: ServerResponse[];
  /** The number of bytes that the operating system had accepted at the last check. */
  sent: number;
  /** The same at the first check since which bytes have been waiting for the client. */
  sentBefore: number;
  /** Checks since then; 0 if no bytes are waiting. */
  checksWaiting: number;
  /** Consecutive checks since the last progress. */
  checksStalled: number;
}

export interface Connections {
  /** The responses of all connections that are not complete. */
  responses(): readonly ServerResponse[];
}

/**
 * Closes connections whose clients do not read, because Node stores unsent bytes without a limit:
 * each connection that makes no progress for a time, and the slowest ones if all connections
 * together have too many unsent bytes. A connection that waits for the service has no unsent bytes,
 * so a stream can be idle for any time.
 */
export function watchConnections(server: Server, log: Log, limits: ConnectionLimits = LIMITS): Connections {
  const connections = new Map<Socket, Connection>();
  server.prependListener('connection', (socket) => {
    const counts = { sent: 0, sentBefore: 0, checksWaiting: 0, checksStalled: 0 };
    connections.set(socket, { socket, responses: [], ...counts });
    socket.once('close', () => connections.delete(socket));
  });
  // The same listener for all responses: a function for each of them would cost more.
  function onClose(this: ServerResponse) {
    const responses = connections.get(this.req.socket)?.responses;
    if (responses?.at(-1) === this) responses.pop();
    else responses?.splice(responses.indexOf(this), 1);
  }
  onRequest(server, (req, res) => {
    const responses = connections.get(req.socket)?.responses;
    if (!responses) return;
    responses.push(res);
    res.on('close', onClose);
  });
  const timer = setInterval(() => {
    const closing = connectionsToClose([...connections.values()], limits);
    closing.forEach(({ connection, reason }, index) => {
      if (index < MAX_LINES)
        log.warn(logEntryOf(connection, reason), 'connection closed, because the client does not read');
      closeConnection(connection.socket, reason);
    });
    if (closing.length > MAX_LINES) log.warn({ connections: closing.length - MAX_LINES }, 'more connections closed');
  }, limits.checkMs).unref();
  server.once('close', () => clearInterval(timer));
  return { responses: () => [...connections.values()].flatMap(({ responses }) => [...responses]) };
}

/** Calls a listener before the app, for requests with an unknown expectation too. */
export function onRequest(server: Server, listener: (req: IncomingMessage, res: ServerResponse) => void): void {
  server.prependListener('request', listener);
  server.prependListener('checkExpectation', listener);
}

function connectionsToClose(
  connections: readonly Connection[],
  { stallMs, maxUnsentBytes, checkMs }: ConnectionLimits,
) {
  connections.forEach(observe);
  const isStalled = ({ checksStalled }: Connection) => checksStalled * checkMs >= stallMs;
  const closing = connections
    .filter(isStalled)
    .map((connection): { connection: Connection; reason: CloseReason } => ({ connection, reason: 'no_progress' }));
  const others = connections.filter((connection) => !isStalled(connection));
  let total = others.reduce((sum, connection) => sum + unsentBytes(connection), 0);
  if (total <= maxUnsentBytes) return closing;
  for (const connection of others.sort((a, b) => checksToComplete(b) - checksToComplete(a))) {
    if (total <= maxUnsentBytes) break;
    closing.push({ connection, reason: 'unsent_bytes' });
    total -= unsentBytes(connection);
  }
  return closing;
}

function observe(connection: Connection): void {
  const sent = sentBytes(connection.socket) ?? connection.sent;
  const isWaiting = connection.socket.writableLength > 0;
  const hasStalled = isWaiting && connection.checksWaiting > 0 && sent === connection.sent;
  if (connection.checksWaiting === 0) connection.sentBefore = sent;
  connection.checksWaiting = isWaiting ? connection.checksWaiting + 1 : 0;
  connection.checksStalled = hasStalled ? connection.checksStalled + 1 : 0;
  connection.sent = sent;
}

/**
 * The number of bytes that the operating system has accepted. `Socket.bytesWritten` also counts
 * bytes that wait.
 */
function sentBytes(socket: Socket): number | undefined {
  // No public property has these values.
  const { _handle: handle } = socket as { _handle?: SocketHandle | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : undefined;
}

interface SocketHandle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/**
 * The bytes in memory: those of the socket, and those of responses that wait for an earlier
 * response.
 */
function unsentBytes({ socket, responses }: Connection): number {
  let bytes = socket.writableLength;
  for (const res of responses) bytes += res.writableLength - (res.socket?.writableLength ?? 0);
  return bytes;
}

/**
 * The number of checks after which the unsent bytes would be sent at the rate so far. The bytes
 * that the operating system accepts at the start do not count, because it accepts them without the
 * client.
 */
function checksToComplete(connection: Connection): number {
  const { sent, sentBefore, checksWaiting } = connection;
  return (unsentBytes(connection) * Math.max(checksWaiting, 1)) / Math.max(sent - sentBefore, 1);
}

const logEntryOf = (connection: Connection, reason: CloseReason) => ({
  reason,
  unsent_bytes: unsentBytes(connection),
  responses: connection.responses.length,
  remote_address: connection.socket.remoteAddress,
});
