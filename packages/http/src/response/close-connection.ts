import type { Socket } from 'node:net';
import type { Response } from 'express';
import { Counter } from 'prom-client';
import { processMetrics } from '../observe/process-metrics.ts';

/** Why a connection of a client is closed. `docs/configuration.md` explains the reasons. */
export type CloseReason = 'no_progress' | 'unsent_bytes' | 'too_slow' | 'rate_limited';

const closedConnections = new Counter({
  name: 'http_connections_closed_total',
  help: 'Number of connections that the service closed to protect itself',
  labelNames: ['reason'] as const,
  registers: [processMetrics],
});

/**
 * Closes a connection with a reset, so that the operating system discards its unsent bytes, too.
 */
export function closeConnection(socket: Socket, reason: CloseReason): void {
  closedConnections.inc({ reason });
  socket.resetAndDestroy();
}

/**
 * Closes the connection of a request whose response is not sent, or not completely. The log states
 * the reason.
 */
export function closeConnectionOf(res: Response, reason: CloseReason): void {
  res.locals.closed = reason;
  closeConnection(res.req.socket, reason);
}
