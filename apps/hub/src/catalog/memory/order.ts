/** What decides the place of a template in lists. */
interface Ordered {
  readonly sortName: string;
  readonly id: string;
}

/** Inserts a template in the order of lists. */
export function insertInOrder<Template extends Ordered>(ordered: Template[], template: Template): void {
  ordered.splice(positionOf(ordered, template), 0, template);
}

/** The position at which a template is, or belongs. */
export function positionOf(ordered: readonly Ordered[], template: Ordered): number {
  let low = 0;
  let high = ordered.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = ordered[middle];
    if (other && compareTemplates(other, template) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The order of lists. */
export const compareTemplates = (one: Ordered, other: Ordered): number =>
  compareCodePoints(one.sortName, other.sortName) || compareCodePoints(one.id, other.id);

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
