import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Problem } from '../response/problem.ts';
import { clientNetworks } from './client-networks.ts';

/** The limits of rejections per client network and replica. */
export interface RejectionDelayLimits {
  /** The number of rejections in succession that are sent without delay. */
  readonly burst: number;
  /** The rate at which further rejections are sent. */
  readonly perSecond: number;
  /** Passes before a delayed rejection, for the given milliseconds. */
  readonly pause: (milliseconds: number) => Promise<unknown>;
  /**
   * The number of rejections that are delayed at the same time. Further ones are sent at once, and
   * their connection is closed.
   */
  readonly maxDelayed: number;
}

const LIMITS: RejectionDelayLimits = {
  burst: 50,
  perSecond: 10,
  pause: (milliseconds) => delay(milliseconds),
  maxDelayed: 100,
};

/**
 * The problems of requests that are rejected because of what the client sends, or how much. Others
 * depend on the state of the service.
 */
const REJECTIONS: ReadonlySet<number> = new Set([400, 401, 405, 413, 415, 429]);

const isRejection = ({ status, code }: Pick<Problem, 'status' | 'code'>) =>
  REJECTIONS.has(status) || code === 'overloaded';

const MAX_NETWORKS = 20_000;

/**
 * Delays the rejection of a request.
 * @returns whether its connection must be closed after the response
 */
export type RejectionDelay = (address: string, problem: Pick<Problem, 'status' | 'code'>) => Promise<boolean>;

/**
 * Delays rejections of a client network that receives many of them. A rejected request costs its
 * client less than the service, so that a client without any rights could otherwise use most of a
 * processor within the rate limit. Delayed rejections of a network are sent one after the other:
 * if they were sent together, the clients would send their next requests together, too.
 */
export function createRejectionDelay(limits: RejectionDelayLimits = LIMITS): RejectionDelay {
  const { burst, perSecond, pause, maxDelayed } = limits;
  const interval = 1000 / perSecond;
  /**
   * The generic cell rate algorithm: the time at which a network that sends at `perSecond` would
   * send its next request.
   */
  const expected = new LRUCache<string, number>({ max: MAX_NETWORKS });

  return async (address, problem) => {
    if (!isRejection(problem)) return false;
    const { network } = clientNetworks(address);
    const now = performance.now();
    const next = Math.max(now, expected.get(network) ?? 0);
    const wait = next - now - (burst - 1) * interval;
    if (wait > maxDelayed * interval) return true;
    expected.set(network, next + interval);
    if (wait > 0) await pause(wait);
    return false;
  };
}
