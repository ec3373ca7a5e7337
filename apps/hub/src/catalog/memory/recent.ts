/** What decides the place of a template among the changes. */
interface Stamped {
  readonly id: string;
  /** The stamp of the template, in milliseconds. */
  readonly updatedAt: number;
}

/** The latest changes of templates. */
export interface RecentChanges<Template extends Stamped> {
  /** Adds a changed template. Its stamp must not be earlier than that of the previous one. */
  add(template: Template): void;
  /** The templates that changed after a stamp; undefined if not all of them are remembered. */
  after(stamp: number): readonly Template[] | undefined;
}

/** The number of changes that are remembered. */
const MAX_RECENT = 2000;

/** Changes up to `at` are not known. */
export function createRecentChanges<Template extends Stamped>(at: number): RecentChanges<Template> {
  /** In the order of their stamps. Changes up to `knownFrom` can be missing. */
  let recent: Template[] = [];
  let knownFrom = at;
  return {
    add(template) {
      recent.push(template);
      if (recent.length <= 2 * MAX_RECENT) return;
      knownFrom = recent.at(-MAX_RECENT - 1)?.updatedAt ?? knownFrom;
      recent = recent.slice(-MAX_RECENT);
    },
    after(stamp) {
      if (stamp < knownFrom) return undefined;
      let start = recent.length;
      while ((recent[start - 1]?.updatedAt ?? 0) > stamp) start -= 1;
      return recent.slice(start);
    },
  };
}
