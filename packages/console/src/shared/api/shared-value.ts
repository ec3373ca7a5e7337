import { useSyncExternalStore } from 'react';

/** A value outside of components. Components that use it render again when it changes. */
export interface SharedValue<T> {
  readonly get: () => T;
  readonly set: (value: T) => void;
  readonly use: () => T;
}

export function createSharedValue<T>(initial: T): SharedValue<T> {
  const listeners = new Set<() => void>();
  let value = initial;
  const get = () => value;
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    get,
    set: (next) => {
      value = next;
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(subscribe, get),
  };
}
