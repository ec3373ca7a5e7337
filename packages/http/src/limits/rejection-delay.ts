import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { clientNetworks } from './client-networks.ts';

/** The limits of rejections per client network and replica. */
export interface RejectionDelayLimits {
  /** The number of rejections in succession that are sent without delay. */
  readonly burst: number;
  /** The rate at which further rejections are sent without delay. */
  readonly perSecond: number;
  /** Passes before a delayed rejection. */
  readonly pause: () => Promise<unknown>;
  /**
   * The number of rejections that are delayed at the same time. Further ones are sent at once, and
   * their connection is closed.
   */
  readonly maxDelayed: number;
}

const LIMITS: RejectionDelayLimits = { burst: 50, perSecond: 10, pause: () => delay(250), maxDelayed: 100 };

/**
 * The statuses of requests that are rejected because of their form or credential, not because of
 * the state of the service.
 */
const REJECTIONS: ReadonlySet<number> = new Set([400, 401, 405, 413, 415]);

const MAX_NETWORKS = 20_000;

/**
 * Delays the rejection of a request.
 * @returns whether its connection must be closed after the response
 */
export type RejectionDelay = (address: string, status: number) => Promise<boolean>;

/**
 * Delays rejections of a client network that receives many of them. A rejected request costs its
 * client less than the service, so that a client without any rights could otherwise use most of a
 * processor within the rate limit.
 */
export function createRejectionDelay(limits: RejectionDelayLimits = LIMITS): RejectionDelay {
  const { burst, perSecond, pause, maxDelayed } = limits;
  const interval = 1000 / perSecond;
  /**
   * The generic cell rate algorithm: the time at which a network that sends at `perSecond` would
   * send its next request.
   */
  const expected = new LRUCache<string, number>({ max: MAX_NETWORKS });
  const delayed = new Map<string, number>();

  const isTooFast = (network: string) => {
    const now = performance.now();
    const next = Math.max(now, expected.get(network) ?? 0);
    const isAllowed = next - now <= (burst - 1) * interval;
    if (isAllowed) expected.set(network, next + interval);
    return !isAllowed;
  };
  const add = (network: string, change: 1 | -1) => {
    const count = (delayed.get(network) ?? 0) + change;
    if (count > 0) delayed.set(network, count);
    else delayed.delete(network);
  };
  return async (address, status) => {
    if (!REJECTIONS.has(status)) return false;
    const { network } = clientNetworks(address);
    if (!isTooFast(network)) return false;
    if ((delayed.get(network) ?? 0) >= maxDelayed) return true;
    add(network, 1);
    await pause();
    add(network, -1);
    return false;
  };
}
