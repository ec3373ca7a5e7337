import { inRounds, type Rounds } from '@svc/http';
import { z } from 'zod';
import { KEYS } from '../../render/labels.ts';
import { jsonOf, wholeOf } from '../body.ts';
import { EngineFailure, notAnEngine, Transient } from '../errors.ts';
import type { KubernetesClient } from './client.ts';
import { linesOf } from './logs.ts';

const SELECTOR = `${KEYS.managedBy}=fleet,${KEYS.deployment}`;
/** All that is needed of what changed: nothing of what it runs comes over. */
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
/** After so many a server ends a watch by itself. */
const SECONDS = 300;
const MAX_LINE = 1024 * 1024;
const AT_ONCE = 500;

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

/** A watch on the objects of the fleet of one resource, which goes on where it broke off. */
class Watch {
  readonly #client: KubernetesClient;
  readonly #path: string;
  readonly #changed: (labels: Labels) => void;
  /** How far it has come; undefined where it has to look at everything. */
  #version: string | undefined;
  #hasBegun = false;
  #failures = 0;

  constructor(client: KubernetesClient, path: string, changed: (labels: Labels) => void) {
    this.#client = client;
    this.#path = path;
    this.#changed = changed;
  }

  /** Watches until the connection ends. @returns after how many milliseconds to begin again */
  async round(): Promise<number> {
    try {
      this.#version ??= await this.#lookAtAll();
      await this.#follow(this.#version);
    } catch (error) {
      // Whatever it is, it is tried again.
      if (isExpired(error)) this.#version = undefined;
    }
    this.#failures += 1;
    const { watchAgain } = this.#client.timing;
    return Math.min(watchAgain, (watchAgain / 100) * 2 ** Math.min(this.#failures, 10)) * (0.5 + Math.random() / 2);
  }

  /** What has changed since it was last looked at is not known, so all may have. @returns from where to go on */
  async #lookAtAll(): Promise<string> {
    const found: Labels[] = [];
    let from = '';
    for (;;) {
      const page = await this.#page(from);
      found.push(...(page.items ?? []).map(({ metadata: { labels } }) => labels));
      from = page.metadata.continue;
      if (from === '') {
        if (this.#hasBegun) for (const labels of found) this.#changed(labels);
        this.#hasBegun = true;
        return page.metadata.resourceVersion;
      }
    }
  }

  async #page(from: string) {
    const query = { labelSelector: SELECTOR, limit: String(AT_ONCE), ...(from && { continue: from }) };
    const { answer } = this.#client.timing;
    const chunks = await this.#client.open({
      path: this.#path,
      query,
      accept: METADATA_LIST,
      idleMs: answer,
      signal: AbortSignal.timeout(answer),
    });
    const page = listed.safeParse(jsonOf(await wholeOf(chunks)));
    if (!page.success) throw notAnEngine('Kubernetes API server');
    return page.data;
  }

  async #follow(since: string): Promise<void> {
    const query = {
      watch: 'true',
      allowWatchBookmarks: 'true',
      labelSelector: SELECTOR,
      resourceVersion: since,
      timeoutSeconds: String(SECONDS),
    };
    const request = { path: this.#path, query, accept: METADATA, idleMs: this.#client.timing.watch };
    for await (const line of linesOf(await this.#client.open(request), MAX_LINE)) this.#hear(line);
  }

  #hear(line: string): void {
    const said = event.safeParse(jsonOf(line));
    if (!said.success) throw notAnEngine('Kubernetes API server');
    const { type, object } = said.data;
    if (type === 'ERROR') {
      throw new Transient('EngineError', 'The watch was ended.', { status: object.code ?? 500, said: '' });
    }
    this.#failures = 0;
    if (object.metadata?.resourceVersion) this.#version = object.metadata.resourceVersion;
    if (type !== 'BOOKMARK') this.#changed(object.metadata?.labels ?? {});
  }
}

const isExpired = (error: unknown): boolean => error instanceof EngineFailure && error.answer?.status === 410;

const WATCHED = ['/apis/apps/v1/{}/deployments', '/apis/batch/v1/{}/jobs', '/api/v1/{}/pods'];

/**
 * Tells which deployments something has changed of in a cluster, until stopped. It only makes things quicker: what is
 * missed while a connection is broken, nobody need hear of.
 */
export function keepWatching(client: KubernetesClient, changed: (deploymentId: string) => void): Rounds {
  const ending = new AbortController();
  const view = client.within(ending.signal);
  const tell = (labels: Readonly<Record<string, string>>) => {
    const id = labels[KEYS.deployment];
    if (id !== undefined && !ending.signal.aborted) changed(id);
  };
  const all = WATCHED.map((path) => {
    const watch = new Watch(view, path.replace('{}', `namespaces/${client.address.namespace}`), tell);
    return inRounds(0, () => watch.round());
  });
  return {
    stop: async () => {
      ending.abort();
      await Promise.all(all.map((rounds) => rounds.stop()));
    },
  };
}
