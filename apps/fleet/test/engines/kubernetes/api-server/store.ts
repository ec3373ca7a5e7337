import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type KindOf, kindOf } from './kinds.ts';
import { moment, type Stored } from './objects.ts';
import { conflict, MODIFIED, mismatch } from './refusal.ts';

/** Which fields who has set: the name of a manager and how it works, to the paths of its fields. */
export type Managers = Map<string, Set<string>>;

interface Entry {
  readonly kind: KindOf;
  object: Stored;
  managers: Managers;
}

/** What happened to an object. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: string;
  readonly version: number;
  readonly object: Stored;
}

/** As JSON has it, which is how everything comes in. */
const copyOf = (object: Stored): Stored => JSON.parse(JSON.stringify(object)) as Stored;

const keyFor = (resource: string, namespace: string | undefined, name: string) =>
  `${resource}/${namespace ?? ''}/${name}`;

/** Everything that a cluster remembers. */
export class Store {
  readonly #entries = new Map<string, Entry>();
  #version = 100;
  readonly changes: Change[] = [];
  /** Changes up to this version are forgotten. */
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
      .map(({ object }) => copyOf(object));
  }

  find(resource: string, namespace: string | undefined, name: string): Stored | undefined {
    const found = this.#entries.get(keyFor(resource, namespace, name))?.object;
    return found && copyOf(found);
  }

  managersOf(resource: string, { metadata }: Stored): Managers {
    const found = this.#entries.get(keyFor(resource, metadata.namespace, metadata.name))?.managers;
    return new Map([...(found ?? [])].map(([name, paths]) => [name, new Set(paths)]));
  }

  /** Keeps an object as it is now; one that is as it was is not written. @throws 409 where it was changed meanwhile */
  put(resource: string, object: Stored, managers = this.managersOf(resource, object)): Stored {
    const kind = kindOf(resource);
    const { metadata } = object;
    const key = keyFor(resource, metadata.namespace, metadata.name);
    const before = this.#entries.get(key);
    if (!before) return this.#write(key, { kind, object: born(object), managers }, 'ADDED');
    const { resourceVersion, uid } = before.object.metadata;
    if (metadata.uid && metadata.uid !== uid)
      throw conflict({ kind, name: metadata.name }, mismatch(metadata.uid, uid));
    if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion)
      throw conflict({ kind, name: metadata.name }, MODIFIED);
    const next = copyOf({ ...object, metadata: { ...metadata, uid, resourceVersion } });
    const isSame = isDeepStrictEqual(next, before.object) && isDeepStrictEqual(managers, before.managers);
    if (isSame) return copyOf(before.object);
    if (!isDeepStrictEqual(object.spec, before.object.spec))
      next.metadata.generation = before.object.metadata.generation + 1;
    if (metadata.deletionTimestamp && (metadata.finalizers ?? []).length === 0) return this.#forget(key, next);
    return this.#write(key, { kind, object: next, managers }, 'MODIFIED');
  }

  /** It is gone, whatever stands against it. */
  drop(resource: string, { metadata }: Stored): void {
    const key = keyFor(resource, metadata.namespace, metadata.name);
    const entry = this.#entries.get(key);
    if (entry?.object.metadata.uid === metadata.uid) this.#forget(key, entry.object);
  }

  #write(key: string, entry: Entry, type: Change['type']): Stored {
    this.#version += 1;
    const { object } = entry;
    const versioned = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
    this.#entries.set(key, { ...entry, object: copyOf(versioned) });
    this.#tell({ type, resource: entry.kind.resource, version: this.#version, object: copyOf(versioned) });
    return copyOf(versioned);
  }

  #forget(key: string, object: Stored): Stored {
    this.#version += 1;
    const resource = this.#entries.get(key)?.kind.resource ?? '';
    this.#entries.delete(key);
    this.#tell({ type: 'DELETED', resource, version: this.#version, object: copyOf(object) });
    return object;
  }

  #tell(change: Change): void {
    this.changes.push(change);
    this.onChange(change);
  }
}

const born = (object: Stored): Stored => ({
  ...object,
  metadata: { ...object.metadata, uid: randomUUID(), generation: 1, creationTimestamp: moment() },
});
