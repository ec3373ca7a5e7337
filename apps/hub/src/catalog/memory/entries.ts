import type { Version } from './documents.ts';
import { type CategoryKeys, createGroups, type Group, type Scope } from './groups.ts';
import { insertInOrder, orders, positionOf, type TemplateOrder } from './order.ts';
import { createRecentChanges } from './recent.ts';

/** A template, as far as lists need it. */
export interface Entry {
  readonly id: string;
  readonly slug: string;
  readonly sortName: string;
  readonly group: Group;
  readonly kind: string;
  readonly minTier: string;
  readonly hasGpu: boolean;
  /** In milliseconds. */
  readonly createdAt: number;
  /** The stamp of the template, in milliseconds. */
  readonly updatedAt: number;
  /** The number of downloads that is stored. It can be a second late. */
  downloads: number;
}

/** The version of a template that the index has. */
export const versionOf = ({ id, updatedAt, group }: Entry): Version => ({
  id,
  updatedAt,
  shownAt: group.category.shownAt,
});

/** A template as the database returns it for the index. Times are in milliseconds. */
export type TemplateKeys = Scope & Readonly<Omit<Entry, 'group'>>;

/** The templates of the catalog: by id, by slug, and in the orders of lists. */
export interface Entries {
  /** By name. */
  readonly ordered: readonly Entry[];
  inOrder(order: TemplateOrder): readonly Entry[];
  /** All groups, also those without templates. Groups are only added. */
  readonly groups: readonly Group[];
  byId(id: string): Entry | undefined;
  bySlug(slug: string): Entry | undefined;
  /** The number of changes so far. */
  changes(): number;
  /** The number of times that downloads changed so far. */
  countChanges(): number;
  /** Sets the stored numbers of downloads. */
  setDownloads(counts: readonly { readonly id: string; readonly count: number }[]): void;
  /**
   * The templates that changed after a stamp, in the order of (stamp, id); undefined if the index
   * does not know all of them. Templates that were deleted are not included.
   */
  changedAfter(at: number): readonly Entry[] | undefined;
  /** The stamp of the last change of a category, in milliseconds. */
  categoriesChangedAt(): number;
  /** Adds templates that follow all others in the order of lists. They are no changes. */
  append(sorted: readonly TemplateKeys[]): void;
  /** Adds or changes a category. `at` is the stamp of the change. */
  putCategory(category: CategoryKeys, at: number): void;
  /**
   * Adds or replaces a template. `at` is the clock after the change. Its category must be known,
   * and its own stamp must not be earlier than that of the previous call.
   */
  put(template: TemplateKeys, at: number): void;
  remove(id: string, at: number): void;
  /** Records that a template left a group, at the latest at `at`. */
  leave(scope: Scope, at: number): void;
}

/** `sorted` are the templates in the order of lists, and `at` is the clock. */
export function createEntries(
  categories: readonly CategoryKeys[],
  sorted: readonly TemplateKeys[],
  at: number,
): Entries {
  const groups = createGroups(categories, at);
  const recent = createRecentChanges<Entry>(at);
  const byId = new Map<string, Entry>();
  const bySlug = new Map<string, Entry>();
  const byName: Entry[] = [];
  /** The orders that were requested: sorting takes a while. */
  const lists = new Map<TemplateOrder, Entry[]>([['name', byName]]);
  let changes = 0;
  let countChanges = 0;

  const add = ({ categoryId, ownerOrgId, isPublic, ...template }: TemplateKeys, changedAt: number): Entry => {
    const { id, slug } = template;
    const entry = { ...template, group: groups.of({ categoryId, ownerOrgId, isPublic }, changedAt) };
    entry.group.size += 1;
    byId.set(id, entry);
    bySlug.set(slug, entry);
    return entry;
  };
  const remove = (id: string, changedAt: number) => {
    const entry = byId.get(id);
    if (!entry) return;
    changes += 1;
    entry.group.changedAt = changedAt;
    entry.group.size -= 1;
    byId.delete(id);
    // Another template can have the slug already.
    if (bySlug.get(entry.slug) === entry) bySlug.delete(entry.slug);
    for (const [name, list] of lists) list.splice(positionOf(list, entry, orders[name]), 1);
  };
  const append = (templates: readonly TemplateKeys[]) => {
    for (const template of templates) byName.push(add(template, at));
  };
  append(sorted);
  return {
    ordered: byName,
    inOrder: (order) => {
      const list = lists.get(order) ?? byName.toSorted(orders[order]);
      lists.set(order, list);
      return list;
    },
    append,
    groups: groups.all,
    byId: (id) => byId.get(id),
    bySlug: (slug) => bySlug.get(slug),
    changes: () => changes,
    countChanges: () => countChanges,
    setDownloads: (counts) => {
      const list = lists.get('-download_count');
      const compare = orders['-download_count'];
      for (const { id, count } of counts) {
        const entry = byId.get(id);
        if (!entry || entry.downloads >= count) continue;
        list?.splice(positionOf(list, entry, compare), 1);
        entry.downloads = count;
        if (list) insertInOrder(list, entry, compare);
        countChanges += 1;
      }
    },
    categoriesChangedAt: groups.categoriesChangedAt,
    putCategory: (category, changedAt) => {
      changes += 1;
      groups.putCategory(category, changedAt);
    },
    put: (template, changedAt) => {
      // A count can be stored after the template was read.
      const downloads = Math.max(template.downloads, byId.get(template.id)?.downloads ?? 0);
      remove(template.id, changedAt);
      const entry = add({ ...template, downloads }, changedAt);
      changes += 1;
      entry.group.changedAt = changedAt;
      recent.add(entry);
      for (const [name, list] of lists) insertInOrder(list, entry, orders[name]);
    },
    remove,
    leave: (scope, leftAt) => {
      changes += 1;
      groups.leave(scope, leftAt);
    },
    changedAfter: (stamp) =>
      recent
        .after(stamp)
        ?.filter((entry) => byId.get(entry.id) === entry)
        .sort((one, other) => one.updatedAt - other.updatedAt || (one.id < other.id ? -1 : 1)),
  };
}
