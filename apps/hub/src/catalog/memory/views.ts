import { LRUCache } from 'lru-cache';
import { type Viewer, viewerKey } from '../../identity/principal.ts';
import type { Entries, Entry } from './entries.ts';
import type { Group } from './groups.ts';

/** What a set of viewers sees: the templates of the same groups. */
interface View {
  readonly number: number;
  readonly groups: readonly Group[];
  sees(entry: Entry): boolean;
  /**
   * The stamps of the last changes of these groups, in milliseconds. They can be later than the
   * changes.
   */
  stamps(): GroupStamps;
}

type GroupStamps = Readonly<Pick<Group, 'changedAt' | 'leftAt'>>;

/** The view of one viewer. */
export interface ViewerView {
  readonly view: View;
  /**
   * The stamp of the last change of what the viewer sees, or of its grants, in milliseconds. It is
   * never earlier than the change.
   */
  readonly changedAt: number;
  /**
   * The same for changes after which the viewer may no longer see a template, or sees it
   * differently although it did not change.
   */
  readonly leftAt: number;
}

export interface Views {
  /**
   * The view of a viewer; undefined if the visibility rule was not evaluated for the viewer and
   * this number of groups.
   */
  find(viewer: Viewer, groups: number): ViewerView | undefined;
  /**
   * Stores the groups that a viewer sees, out of a number of groups. `at` is the clock of the
   * index.
   */
  store(viewer: Viewer, visible: readonly Group[], of: { readonly groups: number; readonly at: number }): void;
  /** The grants of organizations changed. */
  forget(organizations: readonly string[]): void;
  forgetAll(): void;
}

interface Known {
  readonly view: View;
  /** The number of groups for which the visibility rule was evaluated. */
  readonly groups: number;
  /**
   * The clock when the viewer was stored first after its conditions changed: its own changes are
   * not later.
   */
  readonly since: number;
}

/** The number of viewers whose views are kept. */
const MAX_VIEWERS = 10_000;

/**
 * The number of views of this process so far. An index that is read again gets views with other
 * numbers, because pages are kept.
 */
let count = 0;

/** `entries` are those of the groups. */
export function createViews(entries: Pick<Entries, 'changes'>): Views {
  const viewers = new LRUCache<string, Known>({ max: MAX_VIEWERS });
  /** Viewers who see the same groups share a view, and so the pages that are cached for it. */
  const views = new LRUCache<string, View>({ max: MAX_VIEWERS });
  const viewOf = (visible: readonly Group[]): View => {
    const key = visible.map(({ number }) => number).join();
    const known = views.get(key);
    if (known) return known;
    const numbers = new Set(visible.map(({ number }) => number));
    count += 1;
    let stamps: GroupStamps & { readonly changes: number } = { changes: -1, changedAt: 0, leftAt: 0 };
    const view = {
      number: count,
      groups: visible,
      sees: ({ group }: Entry) => numbers.has(group.number),
      stamps: () => {
        const changes = entries.changes();
        if (stamps.changes !== changes) {
          const last = (name: keyof GroupStamps) => visible.reduce((at, group) => Math.max(at, group[name]), 0);
          stamps = { changes, changedAt: last('changedAt'), leftAt: last('leftAt') };
        }
        return stamps;
      },
    };
    views.set(key, view);
    return view;
  };
  return {
    find(viewer, groups) {
      const known = viewers.get(viewerKey(viewer));
      if (known?.groups !== groups) return undefined;
      const { view, since } = known;
      const { changedAt, leftAt } = view.stamps();
      return { view, changedAt: Math.max(changedAt, since), leftAt: Math.max(leftAt, since) };
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
