import type { Version } from './documents.ts';
import { type CategoryKeys, createGroups, type Group, type Scope } from './groups.ts';
import { insertInOrder, positionOf } from './order.ts';
import { createRecentChanges } from './recent.ts';

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
  id,
  updatedAt,
  shownAt: group.category.shownAt,
});

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
   * The templates that changed after a stamp, in the order of (stamp, id); undefined if the index
   * does not know all of them. Templates that were deleted are not included.
   */
  changedAfter(at: number): readonly Entry[] | undefined;
  /** The stamp of the last change of a category, in milliseconds. */
  categoriesChangedAt(): number;
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
  const ordered: Entry[] = [];
  let changes = 0;

  const add = (template: TemplateKeys, changedAt: number): Entry => {
    const { id, slug, sortName, updatedAt } = template;
    const entry = { id, slug, sortName, group: groups.of(template, changedAt), updatedAt };
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
    ordered.splice(positionOf(ordered, entry), 1);
  };
  for (const template of sorted) ordered.push(add(template, at));
  return {
    ordered,
    groups: groups.all,
    byId: (id) => byId.get(id),
    bySlug: (slug) => bySlug.get(slug),
    changes: () => changes,
    categoriesChangedAt: groups.categoriesChangedAt,
    putCategory: (category, changedAt) => {
      changes += 1;
      groups.putCategory(category, changedAt);
    },
    put: (template, changedAt) => {
      remove(template.id, changedAt);
      const entry = add(template, changedAt);
      changes += 1;
      entry.group.changedAt = changedAt;
      recent.add(entry);
      insertInOrder(ordered, entry);
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
