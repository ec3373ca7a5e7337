import { createAdmission } from './admission/admission.ts';
import { updated } from './apply.ts';
import { runControllers } from './controller/controller.ts';
import { createControls } from './controller/controls.ts';
import type { PodStatusOf } from './controller/pod-status.ts';
import { kindOf } from './kinds.ts';
import { Logs } from './logs.ts';
import { type Meta, metaOf, moment, type Stored, type Tree } from './objects.ts';
import { Store } from './store.ts';
import { Watchers } from './watch.ts';

export const NAMESPACE = 'fleet';

/** The given members of a new object. */
type Given = Tree & { readonly metadata: Partial<Meta> & Pick<Meta, 'name'> };

/** A cluster in memory, with operations that are not restricted by permissions. */
export class Cluster {
  readonly store = new Store();
  readonly watchers = new Watchers(this.store);
  readonly logs = new Logs();
  readonly controls = createControls();
  readonly admission = createAdmission(this.store);
  /** Why the last pods of an owner were not admitted, by its uid. */
  readonly refusedPods = new Map<string, string>();
  /** Forbidden operations, such as `create namespaces`. */
  readonly forbidden = new Set<string>();
  gitVersion = 'v1.33.1';

  constructor(namespaces: readonly string[]) {
    this.store.onChange = (change) => this.watchers.tell(change);
    for (const name of ['kube-system', ...namespaces]) this.put('namespaces', { metadata: { name } });
  }

  objects(resource: string): Stored[] {
    return this.store.list(resource);
  }

  /** @throws Error if the object does not exist */
  object(resource: string, name: string): Stored {
    const found = this.store.list(resource).find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`no ${name} among ${resource}`);
    return found;
  }

  /** Creates or replaces an object. */
  put(resource: string, given: Given): Stored {
    const { kind, apiVersion, isNamespaced } = kindOf(resource);
    const metadata = metaOf({ ...(isNamespaced && { namespace: NAMESPACE }), ...given.metadata });
    const stored = this.store.put(resource, { kind, apiVersion, ...given, metadata });
    this.settle();
    return this.store.find(resource, stored.metadata.namespace, stored.metadata.name) ?? stored;
  }

  /** Changes an object manually. The manager owns the changed fields from then on. */
  edit(resource: string, name: string, { manager, patch }: { readonly manager: string; readonly patch: Tree }): void {
    const live = this.object(resource, name);
    const managers = this.store.managersOf(resource, live);
    const result = updated({ live, patch, managers, manager: { name: manager } });
    this.store.put(resource, result.object as Stored, result.managers);
    this.settle();
  }

  /** Removes an object at once, regardless of finalizers. */
  drop(resource: string, name: string): void {
    this.store.drop(resource, this.object(resource, name));
    this.settle();
  }

  /**
   * Sets the status of the named pods. Without names, sets the status of all pods and of those that
   * are created later.
   */
  setPodStatus(podStatus: PodStatusOf, ...names: readonly string[]): void {
    if (names.length === 0) this.controls.podStatus = podStatus;
    const meant = this.objects('pods').filter(({ metadata }) => names.length === 0 || names.includes(metadata.name));
    for (const pod of meant) this.store.put('pods', { ...pod, status: { ...podStatus() } });
    this.settle();
  }

  /** Runs the controllers until nothing changes, for example after a change of `controls`. */
  settle(): void {
    runControllers(this);
  }

  /** Creates a warning event about an object. */
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

  /** Expires all resource versions until now: older watches must list again. */
  forget(): void {
    this.store.forgotten = this.store.version;
  }
}
