import { useSyncExternalStore } from 'react';
import { serverNow } from '../../api/clock.ts';
import { formatMoment, formatRelative } from './format.ts';

const TICK_MS = 10_000;
const listeners = new Set<() => void>();
let ticks = 0;
setInterval(() => {
  if (document.hidden) return;
  ticks += 1;
  for (const listener of listeners) listener();
}, TICK_MS);

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/**
 * A time relative to now by the clock of the service, with the exact time as a tooltip; with
 * `isExact` the other way round. Without `isUpcoming`, the time is that of something that has
 * happened, and is never shown as one in the future.
 */
export function Time({
  at,
  isExact = false,
  isUpcoming = false,
}: {
  readonly at: string;
  readonly isExact?: boolean;
  readonly isUpcoming?: boolean;
}) {
  useSyncExternalStore(subscribe, () => ticks);
  const now = serverNow();
  const exact = formatMoment(at);
  const relative = formatRelative(at, isUpcoming ? now : Math.max(now, Date.parse(at)));
  return (
    <time dateTime={at} title={isExact ? relative : exact}>
      {isExact ? exact : relative}
    </time>
  );
}
