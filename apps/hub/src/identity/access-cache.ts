import { LRUCache } from 'lru-cache';
import type { Revision } from '../revision/revision.ts';

/**
 * A value that depends on the access revision, and optionally ends at a time of the database's
 * clock.
 */
export interface Dated<Value> {
  readonly value: Value;
  /** The access revision in the snapshot from which the value was read. */
  readonly access: string;
  readonly expires: Date | null;
}

/** Whether a value applies at a revision. */
export const isValidAt = ({ access, expires }: Dated<unknown>, revision: Revision): boolean =>
  access === revision.access && (expires === null || expires > revision.now);

export interface AccessCache<Value extends object> {
  /** What is cached for a key. It may not be valid any longer. */
  find(key: string): Dated<Value> | undefined;
  /** The value of a key at a revision, if it is cached. */
  cached(key: string, revision: Revision): Value | undefined;
  /**
   * The value of a key at a revision. `load` reads it if it is not cached; concurrent calls share a
   * load. Undefined if `load` finds none, which is not cached: an unknown credential may be created
   * at any time.
   */
  get(key: string, revision: Revision, load: () => Promise<Dated<Value> | undefined>): Promise<Value | undefined>;
}

export function createAccessCache<Value extends object>(max: number): AccessCache<Value> {
  const known = new LRUCache<string, Dated<Value>>({ max });
  const loading = new Map<string, Promise<Dated<Value> | undefined>>();
  const loadOnce = (key: string, load: () => Promise<Dated<Value> | undefined>) => {
    const started = load().finally(() => {
      if (loading.get(key) === started) loading.delete(key);
    });
    loading.set(key, started);
    return started;
  };
  const cached = (key: string, revision: Revision) => {
    const dated = known.get(key);
    return dated && isValidAt(dated, revision) ? dated.value : undefined;
  };
  return {
    find: (key) => known.get(key),
    cached,
    async get(key, revision, load) {
      const value = cached(key, revision);
      if (value) return value;
      // A load in progress may have read its snapshot before the revision.
      const shared = await loading.get(key);
      if (shared && isValidAt(shared, revision)) return shared.value;
      const loaded = await loadOnce(key, load);
      if (loaded) known.set(key, loaded);
      return loaded?.value;
    },
  };
}
