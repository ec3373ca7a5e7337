import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The limits of the rejections of rate-limited requests. They bound the volume of the audit log.
 */
export interface RejectionLimits {
  /** Passes before each rejection of a token. */
  readonly pause: () => Promise<unknown>;
  /** The maximum number of rejections of a token that wait. */
  readonly maxWaiting: number;
  /** The number of rejections after which a connection is closed. */
  readonly maxPerConnection: number;
}

const LIMITS: RejectionLimits = { pause: () => delay(1000), maxWaiting: 20, maxPerConnection: 20 };

export interface Rejections {
  /** Whether a further rejection of the token must not wait. */
  isFull(tokenId: string): boolean;
  /** Resolves when the rejection can be sent: the rejections of a token are sent one at a time. */
  wait(tokenId: string): Promise<void>;
  /** Counts a rejection. @returns whether the connection must be closed */
  isLast(connection: Socket): boolean;
}

/**
 * The queues of rejections, one per token. A rejection keeps its place if the client disconnects.
 */
export function createRejections({ pause, maxWaiting, maxPerConnection }: RejectionLimits = LIMITS): Rejections {
  const queues = new Map<string, { waiting: number; last: Promise<unknown> }>();
  const counts = new WeakMap<Socket, number>();
  return {
    isFull: (tokenId) => (queues.get(tokenId)?.waiting ?? 0) >= maxWaiting,
    async wait(tokenId) {
      const queue = queues.get(tokenId) ?? { waiting: 0, last: Promise.resolve() };
      queues.set(tokenId, queue);
      queue.waiting += 1;
      queue.last = queue.last.then(pause);
      await queue.last;
      queue.waiting -= 1;
      if (queue.waiting === 0) queues.delete(tokenId);
    },
    isLast(connection) {
      const count = (counts.get(connection) ?? 0) + 1;
      counts.set(connection, count);
      return count >= maxPerConnection;
    },
  };
}
