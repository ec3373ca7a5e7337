/** A category, as far as the index needs it. */
interface IndexedCategory {
  readonly id: string;
  slug: string;
  /** The stamp of the last change of a column that templates show, in milliseconds. */
  shownAt: number;
}

/**
 * All templates with the same category, owner and `is_public`. The visibility rule treats them
 * alike.
 */
export interface Group {
  readonly number: number;
  readonly category: IndexedCategory;
  readonly ownerOrgId: string | null;
  readonly isPublic: boolean;
  /**
   * The stamp of the last change of a template that is, or was, in the group, in milliseconds. It
   * can be later than the change.
   */
  changedAt: number;
  /**
   * The stamp of the last change after which a viewer of the group may no longer see a template, or
   * sees it differently although it did not change: a template left the group, or its category
   * changed. In milliseconds.
   */
  leftAt: number;
  /** The number of its templates. */
  size: number;
}

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

/** The groups of templates, with their categories. Stamps are in milliseconds. */
export interface Groups {
  /** All groups, also those without templates. Groups are only added. */
  readonly all: readonly Group[];
  /** The stamp of the last change of a category. */
  categoriesChangedAt(): number;
  /** Adds or changes a category. `at` is the stamp of the change. */
  putCategory(category: CategoryKeys, at: number): void;
  /** The group of a scope, which is added if it is not known. Its category must be known. */
  of(scope: Scope, at: number): Group;
  /** Records that a template left a group, at the latest at `at`. */
  leave(scope: Scope, at: number): void;
}

/** `at` is the clock. */
export function createGroups(categories: readonly CategoryKeys[], at: number): Groups {
  const byCategory = new Map<string, IndexedCategory>();
  const all: Group[] = [];
  const byKey = new Map<string, Group>();
  let categoriesChangedAt = at;

  const of = (scope: Scope, changedAt: number): Group => {
    const { categoryId, ownerOrgId, isPublic } = scope;
    const key = `${categoryId} ${ownerOrgId} ${isPublic}`;
    const known = byKey.get(key);
    if (known) return known;
    const category = byCategory.get(categoryId);
    if (!category) throw new Error(`the category ${categoryId} of a template is not in the index`);
    const group = { number: all.length, category, ownerOrgId, isPublic, changedAt, leftAt: changedAt, size: 0 };
    all.push(group);
    byKey.set(key, group);
    return group;
  };
  const putCategory = ({ id, slug, shownAt }: CategoryKeys, changedAt: number) => {
    categoriesChangedAt = changedAt;
    const known = byCategory.get(id);
    if (!known) {
      byCategory.set(id, { id, slug, shownAt });
      return;
    }
    known.slug = slug;
    known.shownAt = shownAt;
    for (const group of all) {
      if (group.category !== known) continue;
      group.changedAt = changedAt;
      group.leftAt = changedAt;
    }
  };
  for (const category of categories) putCategory(category, at);
  return {
    all,
    categoriesChangedAt: () => categoriesChangedAt,
    putCategory,
    of,
    leave: (scope, leftAt) => {
      // A category that is not known was deleted. Its templates were in groups that are not known
      // any longer.
      const left = byCategory.has(scope.categoryId) ? [of(scope, leftAt)] : all;
      for (const group of left) group.leftAt = leftAt;
    },
  };
}
