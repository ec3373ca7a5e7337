import { setTimeout } from 'node:timers/promises';
import { type PeriodicTask, runPeriodically } from '@svc/http';
import { KEYS } from '../../render/labels.ts';
import { linesOf, parseJson } from '../body.ts';
import { retryDelay } from '../retry-delay.ts';
import type { DockerClient } from './client.ts';
import { event } from './schemas.ts';

/**
 * The actions that are reported. Docker ends a container with `die` and `destroy`, Podman with
 * `die` or `died`, and `remove`. `create` and `kill` are missing, because `start` and `die` follow.
 */
const ACTIONS = ['start', 'die', 'died', 'stop', 'pause', 'unpause', 'destroy', 'remove', 'rename', 'health_status'];
const REPORTED = new Set(ACTIONS);

/** The engine filters, because it also has events of each run of a health check. */
const FILTERS = JSON.stringify({ type: ['container'], label: [`${KEYS.managedBy}=fleet`], event: ACTIONS });

/** An event has the labels of its container. A longer line is ignored. */
const MAX_LINE = 64 * 1024;
/**
 * After this number of lines, reading pauses, so that an engine with very many events does not
 * occupy the fleet.
 */
const LINES_BEFORE_PAUSE = 500;
const PAUSE_MS = 200;
/** Maximum number of containers whose failed health check is remembered. */
const MAX_UNHEALTHY = 10_000;

/** Reads the stream of events of an engine. */
class EventStream {
  readonly #client: DockerClient;
  readonly #changed: (deploymentId: string) => void;
  /**
   * The containers whose health check fails. Podman sends the result of each check, and Docker only
   * if it is another one.
   */
  readonly #unhealthy = new Set<string>();
  #failures = 0;

  constructor(client: DockerClient, changed: (deploymentId: string) => void) {
    this.#client = client;
    this.#changed = changed;
  }

  /** Reads until the stream ends. @returns the delay before the next round, in milliseconds */
  async round(): Promise<number> {
    const { watchRetryLimit } = this.#client.timing;
    const openedAt = performance.now();
    try {
      await this.#follow();
    } catch {
      // The stream is opened again after any error. The check of the host reports it.
    }
    const isShort = performance.now() - openedAt < watchRetryLimit;
    this.#failures = isShort ? this.#failures + 1 : 0;
    return retryDelay(this.#failures, watchRetryLimit);
  }

  async #follow(): Promise<void> {
    const request = { path: '/events', query: { filters: FILTERS }, idleMs: this.#client.timing.watch };
    let count = 0;
    for await (const line of linesOf(await this.#client.open(request), MAX_LINE)) {
      this.#handleLine(line);
      count += 1;
      if (count % LINES_BEFORE_PAUSE === 0) await setTimeout(PAUSE_MS);
    }
  }

  #handleLine(line: string): void {
    const parsed = event.safeParse(parseJson(line));
    if (!parsed.success) return;
    const { Action, Actor, HealthStatus } = parsed.data;
    const [action = '', result = HealthStatus] = Action.split(': ', 2);
    if (!REPORTED.has(action)) return;
    if (action === 'health_status' && !this.#isNewHealth(Actor.ID, result)) return;
    if (action === 'destroy' || action === 'remove') this.#unhealthy.delete(Actor.ID);
    this.#changed(Actor.Attributes[KEYS.deployment] ?? '');
  }

  #isNewHealth(containerId: string, result: string): boolean {
    if (result !== 'unhealthy') return this.#unhealthy.delete(containerId);
    if (this.#unhealthy.has(containerId)) return false;
    if (this.#unhealthy.size >= MAX_UNHEALTHY) this.#unhealthy.clear();
    this.#unhealthy.add(containerId);
    return true;
  }
}

/**
 * Reports the deployments whose containers change on a host, until stopped. Events only reduce
 * latency: changes that are missed while a connection is broken are found by the check of the host.
 */
export function watchDeployments(client: DockerClient, changed: (deploymentId: string) => void): PeriodicTask {
  const abort = new AbortController();
  const stream = new EventStream(client.withSignal(abort.signal), (id) => {
    if (!abort.signal.aborted) changed(id);
  });
  const first = retryDelay(0, client.timing.watchRetryLimit); // spreads the streams of many hosts
  const rounds = runPeriodically(first, () => stream.round());
  return {
    stop: async () => {
      abort.abort();
      await rounds.stop();
    },
  };
}
