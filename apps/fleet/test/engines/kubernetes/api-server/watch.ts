import type { ServerResponse } from 'node:http';
import { selects } from './read.ts';
import { Refusal } from './refusal.ts';
import type { Received, Target } from './request.ts';
import type { Change, Store } from './store.ts';

/** The open watches. */
export class Watchers {
  readonly #store: Store;
  readonly #open = new Map<ServerResponse, (change: Change) => void>();

  constructor(store: Store) {
    this.#store = store;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Sends the changes since a resource version, and then each new change. */
  watch(target: Target, { query, headers }: Received, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const since = Number(query.resourceVersion ?? 0);
    if (since < this.#store.forgotten) {
      write(response, 'ERROR', new Refusal(410, 'Expired', { message: `too old resource version: ${since}` }).body);
      response.end();
      return;
    }
    const isMeant = selects(query);
    const isPartial = /as=PartialObjectMetadata/.test(headers.accept ?? '');
    const tell = ({ type, resource, object, version }: Change) => {
      const isHere = !target.namespace || object.metadata.namespace === target.namespace;
      if (resource !== target.kind.resource || version <= since || !isHere || !isMeant(object)) return;
      const metadata = { ...object.metadata, resourceVersion: String(version) };
      write(response, type, isPartial ? { ...PARTIAL, metadata } : { ...object, metadata });
    };
    for (const change of this.#store.changes) tell(change);
    this.#open.set(response, tell);
    const timer = setTimeout(() => response.end(), Number(query.timeoutSeconds ?? 1800) * 1000);
    response.once('close', () => {
      clearTimeout(timer);
      this.#open.delete(response);
    });
  }

  tell(change: Change): void {
    for (const tell of this.#open.values()) tell(change);
  }

  /** Sends a bookmark to all watches. */
  bookmark(): void {
    const object = { kind: 'Bookmark', apiVersion: 'v1', metadata: { resourceVersion: String(this.#store.version) } };
    for (const response of this.#open.keys()) write(response, 'BOOKMARK', object);
  }

  /** Sends text to all watches, which may be invalid JSON. */
  say(text: string): void {
    for (const response of this.#open.keys()) response.write(text);
  }

  /** Ends the responses of all watches. */
  end(): void {
    for (const response of this.#open.keys()) response.end();
  }

  /** Closes the connections of all watches. */
  drop(): void {
    for (const response of this.#open.keys()) response.destroy();
  }
}

const PARTIAL = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };

const write = (response: ServerResponse, type: string, object: object) =>
  response.write(`${JSON.stringify({ type, object })}\n`);
