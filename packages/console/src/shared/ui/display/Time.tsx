import { useSyncExternalStore } from 'react';
import { formatMoment, formatRelative } from './format.ts';

const TICK_MS = 10_000;
const listeners = new Set<() => void>();
let now = Date.now();
setInterval(() => {
  if (document.hidden) return;
  now = Date.now();
  for (const listener of listeners) listener();
}, TICK_MS);

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** A time relative to now, with the exact time as a tooltip; with `isExact` the other way round. */
export function Time({ at, isExact = false }: { readonly at: string; readonly isExact?: boolean }) {
  const current = useSyncExternalStore(subscribe, () => now);
  const exact = formatMoment(at);
  const relative = formatRelative(at, Math.max(current, Date.now() - TICK_MS));
  return (
    <time dateTime={at} title={isExact ? relative : exact}>
      {isExact ? exact : relative}
    </time>
  );
}
