import { LRUCache } from 'lru-cache';
import { type Viewer, viewerKey } from '../../principal.ts';
import type { Entry, Group } from './entries.ts';

/** What a set of viewers sees: the templates of the same groups. */
interface View {
  readonly number: number;
  readonly groups: readonly Group[];
  sees(entry: Entry): boolean;
  /** The stamp of the last change of a template in these groups, in milliseconds. It can be later than the change. */
  changedAt(): number;
}

/** The view of one viewer. */
export interface ViewerView {
  readonly view: View;
  /** The stamp of the last change of what the viewer sees, or of its grants, in milliseconds. It is never earlier than the change. */
  readonly changedAt: number;
}

export interface Views {
  /** The view of a viewer; undefined if the visibility rule was not evaluated for the viewer and this number of groups. */
  find(viewer: Viewer, groups: number): ViewerView | undefined;
  /** Stores the groups that a viewer sees, out of a number of groups. `at` is the clock of the index. */
  store(viewer: Viewer, visible: readonly Group[], of: { readonly groups: number; readonly at: number }): void;
  /** The grants of organizations changed. */
  forget(organizations: readonly string[]): void;
  forgetAll(): void;
}

interface Known {
  readonly view: View;
  /** The number of groups for which the visibility rule was evaluated. */
  readonly groups: number;
  /** The clock when the viewer was stored first after its conditions changed: its own changes are not later. */
  readonly since: number;
}

/** The number of viewers whose views are kept. */
const MAX_VIEWERS = 10_000;

/** The number of views of this process so far. An index that is read again gets views with other numbers, because pages are kept. */
let count = 0;

export function createViews(): Views {
  const viewers = new LRUCache<string, Known>({ max: MAX_VIEWERS });
  /** Viewers who see the same groups share a view, and so the pages that are cached for it. */
  const views = new LRUCache<string, View>({ max: MAX_VIEWERS });
  const viewOf = (visible: readonly Group[]): View => {
    const key = visible.map(({ number }) => number).join();
    const known = views.get(key);
    if (known) return known;
    const numbers = new Set(visible.map(({ number }) => number));
    count += 1;
    const view = {
      number: count,
      groups: visible,
      sees: ({ group }: Entry) => numbers.has(group.number),
      changedAt: () => visible.reduce((last, { changedAt }) => Math.max(last, changedAt), 0),
    };
    views.set(key, view);
    return view;
  };
  return {
    find(viewer, groups) {
      const known = viewers.get(viewerKey(viewer));
      if (known?.groups !== groups) return undefined;
      const { view, since } = known;
      return { view, changedAt: Math.max(view.changedAt(), since) };
    },
    store(viewer, visible, { groups, at }) {
      const key = viewerKey(viewer);
      viewers.set(key, { view: viewOf(visible), groups, since: viewers.get(key)?.since ?? at });
    },
    forget: (organizations) => {
      for (const id of organizations) viewers.delete(id);
    },
    forgetAll: () => viewers.clear(),
  };
}
