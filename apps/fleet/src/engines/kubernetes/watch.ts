import { type PeriodicTask, runPeriodically } from '@svc/http';
import { z } from 'zod';
import { KEYS } from '../../render/labels.ts';
import { linesOf, parseJson, readText } from '../body.ts';
import { EngineFailure, notAnEngine, Transient } from '../errors.ts';
import { retryDelay } from '../retry-delay.ts';
import type { KubernetesClient } from './client.ts';

const SELECTOR = `${KEYS.managedBy}=fleet,${KEYS.deployment}`;
/** Only metadata is requested; spec and status are not transferred. */
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
/** Seconds after which the server ends a watch. */
const WATCH_SECONDS = 300;
const MAX_LINE = 1024 * 1024;
const PAGE_LIMIT = 500;

type Labels = Readonly<Record<string, string>>;

const metadata = z.object({
  resourceVersion: z.string().default(''),
  continue: z.string().default(''),
  labels: z.record(z.string(), z.string()).default({}),
});
const listed = z.object({ metadata, items: z.array(z.object({ metadata })).nullish() });
const event = z.object({
  type: z.string(),
  object: z.object({ metadata: metadata.optional(), code: z.number().optional() }),
});

/** A watch on the fleet's objects of one resource. It resumes where it was interrupted. */
class Watch {
  readonly #client: KubernetesClient;
  readonly #path: string;
  readonly #changed: (labels: Labels) => void;
  /** The last resource version received; undefined if all objects must be listed. */
  #version: string | undefined;
  #hasListed = false;
  #failures = 0;

  constructor(client: KubernetesClient, path: string, changed: (labels: Labels) => void) {
    this.#client = client;
    this.#path = path;
    this.#changed = changed;
  }

  /**
   * Watches until the connection ends. @returns the delay before the next round, in milliseconds
   */
  async round(): Promise<number> {
    try {
      this.#version ??= await this.#listAll();
      await this.#follow(this.#version);
    } catch (error) {
      // The watch is retried after any error.
      if (isExpired(error)) this.#version = undefined;
    }
    this.#failures += 1;
    return retryDelay(this.#failures, this.#client.timing.watchRetryLimit);
  }

  /**
   * Lists all objects. Except the first time, all of them are reported as changed, because it is
   * unknown which of them changed since the last version.
   *
   * @returns the resource version of the list
   */
  async #listAll(): Promise<string> {
    const found: Labels[] = [];
    let from = '';
    for (;;) {
      const page = await this.#page(from);
      found.push(...(page.items ?? []).map(({ metadata: { labels } }) => labels));
      from = page.metadata.continue;
      if (from === '') {
        if (this.#hasListed) for (const labels of found) this.#changed(labels);
        this.#hasListed = true;
        return page.metadata.resourceVersion;
      }
    }
  }

  async #page(from: string) {
    const query = { labelSelector: SELECTOR, limit: String(PAGE_LIMIT), ...(from && { continue: from }) };
    const { answer } = this.#client.timing;
    const chunks = await this.#client.open({
      path: this.#path,
      query,
      accept: METADATA_LIST,
      idleMs: answer,
      signal: AbortSignal.timeout(answer),
    });
    const page = listed.safeParse(parseJson(await readText(chunks)));
    if (!page.success) throw notAnEngine('Kubernetes API server');
    return page.data;
  }

  async #follow(since: string): Promise<void> {
    const query = {
      watch: 'true',
      allowWatchBookmarks: 'true',
      labelSelector: SELECTOR,
      resourceVersion: since,
      timeoutSeconds: String(WATCH_SECONDS),
    };
    const request = { path: this.#path, query, accept: METADATA, idleMs: this.#client.timing.watch };
    for await (const line of linesOf(await this.#client.open(request), MAX_LINE)) this.#handleEvent(line);
  }

  #handleEvent(line: string): void {
    const parsed = event.safeParse(parseJson(line));
    if (!parsed.success) throw notAnEngine('Kubernetes API server');
    const { type, object } = parsed.data;
    if (type === 'ERROR') {
      throw new Transient('EngineError', 'The server ended the watch.', {
        status: object.code ?? 500,
        engineMessage: '',
      });
    }
    this.#failures = 0;
    if (object.metadata?.resourceVersion) this.#version = object.metadata.resourceVersion;
    if (type !== 'BOOKMARK') this.#changed(object.metadata?.labels ?? {});
  }
}

const isExpired = (error: unknown): boolean => error instanceof EngineFailure && error.response?.status === 410;

const WATCHED = ['/apis/apps/v1/{}/deployments', '/apis/batch/v1/{}/jobs', '/api/v1/{}/pods'];

/**
 * Reports the deployments whose objects change in a cluster, until stopped. The watch only reduces
 * latency: changes that are missed while a connection is broken are found by the regular
 * reconciliation.
 */
export function watchDeployments(client: KubernetesClient, changed: (deploymentId: string) => void): PeriodicTask {
  const abort = new AbortController();
  const view = client.withSignal(abort.signal);
  const notify = (labels: Readonly<Record<string, string>>) => {
    const id = labels[KEYS.deployment];
    if (id !== undefined && !abort.signal.aborted) changed(id);
  };
  const all = WATCHED.map((path) => {
    const watch = new Watch(view, path.replace('{}', `namespaces/${client.address.namespace}`), notify);
    return runPeriodically(0, () => watch.round());
  });
  return {
    stop: async () => {
      abort.abort();
      await Promise.all(all.map((rounds) => rounds.stop()));
    },
  };
}
