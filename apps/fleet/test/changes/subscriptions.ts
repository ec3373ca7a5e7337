import { eventually } from '@svc/testing';
import type { ChangeFeed } from '../../src/changes/feed.ts';

/** Observes the subscriptions of a replica from now on, by the object that they filter. */
export function observeSubscriptions(changes: ChangeFeed) {
  const ids: (string | undefined)[] = [];
  const { subscribe } = changes;
  const observed: ChangeFeed['subscribe'] = async (subscriber) => {
    const { position, end } = await subscribe(subscriber);
    const { id } = subscriber.filter;
    ids.push(id);
    let isOpen = true;
    return {
      position,
      end: () => {
        if (isOpen) ids.splice(ids.indexOf(id), 1);
        isOpen = false;
        end();
      },
    };
  };
  Object.assign(changes, { subscribe: observed });
  /** The number of open subscriptions to the changes of one object, or of all. */
  const open = (id: string | undefined) => ids.filter((each) => each === id).length;
  return {
    open,
    /** Resolves when an object has this number of subscriptions. */
    reach: (id: string | undefined, count: number) =>
      eventually(`${count} requests are subscribed to ${id}`, () => open(id), { until: (number) => number === count }),
  };
}
