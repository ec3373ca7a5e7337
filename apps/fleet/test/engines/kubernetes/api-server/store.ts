import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type KindOf, kindOf } from './kinds.ts';
import type { Managers } from './managers.ts';
import { moment, type Stored } from './objects.ts';
import { conflict, MODIFIED, mismatch } from './refusal.ts';

interface Entry {
  readonly kind: KindOf;
  object: Stored;
  managers: Managers;
}

/** A change of an object. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: string;
  readonly version: number;
  readonly object: Stored;
}

/** A frozen copy of the JSON form of an object, which can be shared because it cannot change. */
const kept = (object: Stored): Stored => JSON.parse(JSON.stringify(object), (_, value) => Object.freeze(value));

const keyFor = (resource: string, namespace: string | undefined, name: string) =>
  `${resource}/${namespace ?? ''}/${name}`;

/** The stored objects and changes of a cluster. */
export class Store {
  readonly #entries = new Map<string, Entry>();
  #version = 100;
  readonly changes: Change[] = [];
  /** Changes up to this version have expired. */
  forgotten = 0;
  onChange: (change: Change) => void = () => undefined;

  get version(): number {
    return this.#version;
  }

  list(resource: string, namespace?: string): Stored[] {
    return [...this.#entries.values()]
      .filter(
        ({ kind, object }) => kind.resource === resource && (!namespace || object.metadata.namespace === namespace),
      )
      .map(({ object }) => object);
  }

  find(resource: string, namespace: string | undefined, name: string): Stored | undefined {
    return this.#entries.get(keyFor(resource, namespace, name))?.object;
  }

  managersOf(resource: string, { metadata }: Stored): Managers {
    return this.#entries.get(keyFor(resource, metadata.namespace, metadata.name))?.managers ?? new Map();
  }

  /**
   * Stores an object, unless it is unchanged. @throws Refusal with 409 if the stored object has
   * another uid or resource version
   */
  put(resource: string, object: Stored, managers = this.managersOf(resource, object)): Stored {
    const kind = kindOf(resource);
    const { metadata } = object;
    const key = keyFor(resource, metadata.namespace, metadata.name);
    const before = this.#entries.get(key);
    if (!before) return this.#write(key, { kind, object: created(object), managers }, 'ADDED');
    const { resourceVersion, uid } = before.object.metadata;
    if (metadata.uid && metadata.uid !== uid)
      throw conflict({ kind, name: metadata.name }, mismatch(metadata.uid, uid));
    if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion)
      throw conflict({ kind, name: metadata.name }, MODIFIED);
    const same = kept({ ...object, metadata: { ...metadata, uid, resourceVersion } });
    const isSame = isDeepStrictEqual(same, before.object) && isDeepStrictEqual(managers, before.managers);
    if (isSame) return before.object;
    const generation = before.object.metadata.generation + (isDeepStrictEqual(same.spec, before.object.spec) ? 0 : 1);
    const next = { ...same, metadata: { ...same.metadata, generation } };
    if (metadata.deletionTimestamp && (metadata.finalizers ?? []).length === 0) return this.#forget(key, next);
    return this.#write(key, { kind, object: next, managers }, 'MODIFIED');
  }

  /** Removes an object, regardless of finalizers. */
  drop(resource: string, { metadata }: Stored): void {
    const key = keyFor(resource, metadata.namespace, metadata.name);
    const entry = this.#entries.get(key);
    if (entry?.object.metadata.uid === metadata.uid) this.#forget(key, entry.object);
  }

  #write(key: string, entry: Entry, type: Change['type']): Stored {
    this.#version += 1;
    const { object } = entry;
    const versioned = kept({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } });
    this.#entries.set(key, { ...entry, object: versioned });
    this.#tell({ type, resource: entry.kind.resource, version: this.#version, object: versioned });
    return versioned;
  }

  #forget(key: string, object: Stored): Stored {
    this.#version += 1;
    const resource = this.#entries.get(key)?.kind.resource ?? '';
    this.#entries.delete(key);
    this.#tell({ type: 'DELETED', resource, version: this.#version, object: kept(object) });
    return object;
  }

  #tell(change: Change): void {
    this.changes.push(change);
    this.onChange(change);
  }
}

const created = (object: Stored): Stored => ({
  ...object,
  metadata: { ...object.metadata, uid: randomUUID(), generation: 1, creationTimestamp: moment() },
});
