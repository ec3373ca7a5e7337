/** What decides the place of a template in lists. */
interface Ordered {
  readonly sortName: string;
  readonly id: string;
  /** In milliseconds. */
  readonly createdAt: number;
  readonly downloads: number;
}

/** Sorts before every id. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';

type Compare = (one: Ordered, other: Ordered) => number;

/** Inserts a template in an order. */
export function insertInOrder<Template extends Ordered>(
  ordered: Template[],
  template: Template,
  compare: Compare = compareTemplates,
): void {
  ordered.splice(positionOf(ordered, template, compare), 0, template);
}

/** The position at which a template is, or belongs. */
export function positionOf(
  ordered: readonly Ordered[],
  template: Ordered,
  compare: Compare = compareTemplates,
): number {
  let low = 0;
  let high = ordered.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = ordered[middle];
    if (other && compare(other, template) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The order by name, which is the default. */
export const compareTemplates: Compare = (one, other) =>
  compareCodePoints(one.sortName, other.sortName) || compareCodePoints(one.id, other.id);

/** The orders of lists, by the value of `sort`. `idsOfPage` has the same orders in SQL. */
export const orders = {
  name: compareTemplates,
  '-created_at': (one, other) => other.createdAt - one.createdAt || compareCodePoints(one.id, other.id),
  '-download_count': (one, other) => other.downloads - one.downloads || compareTemplates(one, other),
} as const satisfies Readonly<Record<string, Compare>>;

export type TemplateOrder = keyof typeof orders;

/** The order of the collation "C" of PostgreSQL, which compares UTF-8: by code points. */
export function compareCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const left = one.charCodeAt(at);
    const right = other.charCodeAt(at);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return one.length - other.length;
}

/**
 * Moves the surrogates, which encode the code points from U+10000 on, after the other code units.
 */
const codePointRank = (unit: number): number => {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
};
