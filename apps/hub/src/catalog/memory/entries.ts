import type { Version } from './documents.ts';

/** A category, as far as the index needs it. */
interface IndexedCategory {
  readonly id: string;
  slug: string;
  /** The stamp of the last change of a column that templates show. */
  shownAt: number;
}

/** All templates with the same category, owner and `is_public`. The visibility rule treats them alike. */
export interface Group {
  readonly number: number;
  readonly category: IndexedCategory;
  readonly ownerOrgId: string | null;
  readonly isPublic: boolean;
  /** The stamp of the last change of a template that is, or was, in the group, in milliseconds. It can be later than the change. */
  changedAt: number;
  /**
   * The stamp of the last change after which a viewer of the group may no longer see a template, or sees it differently although
   * it did not change: a template left the group, or its category changed. In milliseconds.
   */
  leftAt: number;
  /** The number of its templates. */
  size: number;
}

/** A template, as far as lists need it. */
export interface Entry {
  readonly id: string;
  readonly slug: string;
  readonly sortName: string;
  readonly group: Group;
  /** The stamp of the template, in milliseconds. */
  readonly updatedAt: number;
}

/** The version of a template that the index has. */
export const versionOf = ({ id, updatedAt, group }: Entry): Version => ({
  ...{ id, updatedAt },
  shownAt: group.category.shownAt,
});

/** A category as the database returns it for the index. `shownAt` is in milliseconds. */
export interface CategoryKeys {
  readonly id: string;
  readonly slug: string;
  readonly shownAt: number;
}

/** What decides which viewers see a template. */
export interface Scope {
  readonly categoryId: string;
  readonly ownerOrgId: string | null;
  readonly isPublic: boolean;
}

/** A template as the database returns it for the index. `updatedAt` is in milliseconds. */
export interface TemplateKeys extends Scope {
  readonly id: string;
  readonly slug: string;
  readonly sortName: string;
  readonly updatedAt: number;
}

/** The templates of the catalog: by id, by slug, and in the order of lists (sort name, id). */
export interface Entries {
  readonly ordered: readonly Entry[];
  /** All groups, also those without templates. Groups are only added. */
  readonly groups: readonly Group[];
  byId(id: string): Entry | undefined;
  bySlug(slug: string): Entry | undefined;
  /** The number of changes so far. */
  changes(): number;
  /**
   * The templates that changed after a stamp, in the order of (stamp, id); undefined if the index does not know all of them.
   * Templates that were deleted are not included.
   */
  changedAfter(at: number): readonly Entry[] | undefined;
  /** The stamp of the last change of a category, in milliseconds. */
  categoriesChangedAt(): number;
  /** Adds or changes a category. `at` is the stamp of the change. */
  putCategory(category: CategoryKeys, at: number): void;
  /**
   * Adds or replaces a template. `at` is the clock after the change. Its category must be known, and its own stamp must not be earlier
   * than that of the previous call.
   */
  put(template: TemplateKeys, at: number): void;
  remove(id: string, at: number): void;
  /** Records that a template left a group, at the latest at `at`. */
  leave(scope: Scope, at: number): void;
}

/** The number of changes that are remembered. */
const MAX_RECENT = 2000;

/** `sorted` are the templates in the order of lists, and `at` is the clock. */
export function createEntries(
  categories: readonly CategoryKeys[],
  sorted: readonly TemplateKeys[],
  at: number,
): Entries {
  const byCategory = new Map<string, IndexedCategory>();
  const groups: Group[] = [];
  const groupByKey = new Map<string, Group>();
  const byId = new Map<string, Entry>();
  const bySlug = new Map<string, Entry>();
  const ordered: Entry[] = [];

  const groupOf = ({ categoryId, ownerOrgId, isPublic }: Scope, changedAt: number): Group => {
    const key = `${categoryId} ${ownerOrgId} ${isPublic}`;
    const known = groupByKey.get(key);
    if (known) return known;
    const category = byCategory.get(categoryId);
    if (!category) throw new Error(`the category ${categoryId} of a template is not in the index`);
    const group = { number: groups.length, category, ownerOrgId, isPublic, changedAt, leftAt: changedAt, size: 0 };
    groups.push(group);
    groupByKey.set(key, group);
    return group;
  };
  const entryOf = (template: TemplateKeys, changedAt: number): Entry => ({
    id: template.id,
    slug: template.slug,
    sortName: template.sortName,
    group: groupOf(template, changedAt),
    updatedAt: template.updatedAt,
  });
  const register = (entry: Entry) => {
    entry.group.size += 1;
    byId.set(entry.id, entry);
    bySlug.set(entry.slug, entry);
  };
  let categoriesChangedAt = at;
  let changes = 0;
  const putCategory: Entries['putCategory'] = ({ id, slug, shownAt }, changedAt) => {
    categoriesChangedAt = changedAt;
    changes += 1;
    const known = byCategory.get(id);
    if (!known) return void byCategory.set(id, { id, slug, shownAt });
    Object.assign(known, { slug, shownAt });
    for (const group of groups) if (group.category === known) Object.assign(group, { changedAt, leftAt: changedAt });
  };
  const remove = (id: string, changedAt: number) => {
    const entry = byId.get(id);
    if (!entry) return;
    changes += 1;
    entry.group.changedAt = changedAt;
    entry.group.size -= 1;
    byId.delete(id);
    if (bySlug.get(entry.slug) === entry) bySlug.delete(entry.slug); // another template can have the slug already
    ordered.splice(positionOf(ordered, entry), 1);
  };
  /** The latest changes, in the order of their stamps. Changes up to `recentFrom` can be missing. */
  let recent: Entry[] = [];
  let recentFrom = at;
  const remember = (entry: Entry) => {
    recent.push(entry);
    if (recent.length <= 2 * MAX_RECENT) return;
    recentFrom = recent.at(-MAX_RECENT - 1)?.updatedAt ?? recentFrom;
    recent = recent.slice(-MAX_RECENT);
  };

  for (const category of categories) putCategory(category, at);
  for (const template of sorted) {
    const entry = entryOf(template, at);
    register(entry);
    ordered.push(entry);
  }
  return {
    ordered,
    groups,
    byId: (id) => byId.get(id),
    bySlug: (slug) => bySlug.get(slug),
    changes: () => changes,
    categoriesChangedAt: () => categoriesChangedAt,
    putCategory,
    put: (template, changedAt) => {
      remove(template.id, changedAt);
      const entry = entryOf(template, changedAt);
      changes += 1;
      entry.group.changedAt = changedAt;
      remember(entry);
      register(entry);
      insertEntry(ordered, entry);
    },
    remove,
    leave: (scope, leftAt) => {
      changes += 1;
      // A category that is not known was deleted. Its templates were in groups that are not known any longer.
      const left = byCategory.has(scope.categoryId) ? [groupOf(scope, leftAt)] : groups;
      for (const group of left) group.leftAt = leftAt;
    },
    changedAfter: (stamp) => {
      if (stamp < recentFrom) return undefined;
      let start = recent.length;
      while ((recent[start - 1]?.updatedAt ?? 0) > stamp) start -= 1;
      return recent
        .slice(start)
        .filter((entry) => byId.get(entry.id) === entry)
        .sort((one, other) => one.updatedAt - other.updatedAt || (one.id < other.id ? -1 : 1));
    },
  };
}

/** Inserts an entry in the order of lists. */
export const insertEntry = (ordered: Entry[], entry: Entry): void =>
  void ordered.splice(positionOf(ordered, entry), 0, entry);

/** The position at which an entry is, or belongs. */
function positionOf(ordered: readonly Entry[], entry: Entry): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = ordered[middle];
    if (other && compareEntries(other, entry) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

type Ordered = Pick<Entry, 'sortName' | 'id'>;

const compareEntries = (one: Ordered, other: Ordered): number =>
  compareCodePoints(one.sortName, other.sortName) || compareCodePoints(one.id, other.id);

/** The order of the collation "C" of PostgreSQL, which compares UTF-8: by code points. */
export function compareCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return one.length - other.length;
}

/** Moves the surrogates, which encode the code points from U+10000 on, after the other code units. */
const codePointRank = (unit: number): number => {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
};
