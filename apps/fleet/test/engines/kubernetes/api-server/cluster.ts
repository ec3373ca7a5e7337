import { updated } from './apply.ts';
import { settle } from './controller.ts';
import type { Fate } from './fates.ts';
import { hands } from './hands.ts';
import { kindOf } from './kinds.ts';
import { Logs } from './logs.ts';
import { type Meta, metaOf, moment, type Stored, type Tree } from './objects.ts';
import { Store } from './store.ts';
import { Watchers } from './watch.ts';

export const NAMESPACE = 'fleet';

/** A new object, as far as a test says. */
type Given = Tree & { readonly metadata: Partial<Meta> & Pick<Meta, 'name'> };

/** A cluster that is all in memory, and what somebody who may do anything does in it. */
export class Cluster {
  readonly store = new Store();
  readonly watchers = new Watchers(this.store);
  readonly logs = new Logs();
  readonly hands = hands();
  /** Things that nobody may do, such as `create namespaces`. */
  readonly forbidden = new Set<string>();

  constructor(namespaces: readonly string[]) {
    this.store.onChange = (change) => this.watchers.tell(change);
    for (const name of namespaces) this.put('namespaces', { metadata: { name } });
  }

  objects(resource: string): Stored[] {
    return this.store.list(resource);
  }

  /** @throws Error where there is none */
  object(resource: string, name: string): Stored {
    const found = this.store.list(resource).find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`no ${name} among ${resource}`);
    return found;
  }

  /** Makes an object, or writes over one. */
  put(resource: string, given: Given): Stored {
    const { kind, apiVersion, isNamespaced } = kindOf(resource);
    const metadata = metaOf({ ...(isNamespaced && { namespace: NAMESPACE }), ...given.metadata });
    const stored = this.store.put(resource, { kind, apiVersion, ...given, metadata });
    this.move();
    return this.store.find(resource, stored.metadata.namespace, stored.metadata.name) ?? stored;
  }

  /** Changes an object as somebody else would by hand: what it changes is its own from then on. */
  edit(resource: string, name: string, { manager, patch }: { readonly manager: string; readonly patch: Tree }): void {
    const live = this.object(resource, name);
    const result = updated({ live, patch, managers: this.store.managersOf(resource, live), manager });
    this.store.put(resource, result.object as Stored, result.managers);
    this.move();
  }

  /** Something is gone at once, whatever stands against it. */
  drop(resource: string, name: string): void {
    this.store.drop(resource, this.object(resource, name));
    this.move();
  }

  /** What becomes of the pods that are named; of all, and of those that are made from now on, where none is. */
  become(fate: Fate, ...names: readonly string[]): void {
    if (names.length === 0) this.hands.fate = fate;
    const meant = this.objects('pods').filter(({ metadata }) => names.length === 0 || names.includes(metadata.name));
    for (const pod of meant) this.store.put('pods', { ...pod, status: { ...fate() } });
    this.move();
  }

  /** Lets everything come to rest after a change of `hands`. */
  move(): void {
    settle(this);
  }

  /** The cluster warns of something. */
  warn({ kind, metadata: { name, uid } }: Stored, message: string, more: Tree = {}): void {
    this.put('events', {
      metadata: { name: `${name}.${this.store.version}` },
      involvedObject: { kind, name, uid },
      type: 'Warning',
      message,
      lastTimestamp: moment(),
      ...more,
    });
  }

  /** What has changed until now is forgotten: who watches from before has to list anew. */
  forget(): void {
    this.store.forgotten = this.store.version;
  }
}
