/** The members that the objects of several lists have. */
export interface ListedObject {
  readonly id: string;
  readonly [member: string]: unknown;
}

export const isListed = (value: unknown): value is ListedObject =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string';

/** A cached page of a list. */
export interface ListPage {
  readonly tag: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly rows: readonly ListedObject[];
  readonly number: number;
  readonly totalPages: number;
  /** When the service sent it, in milliseconds, by the clock of the service. */
  readonly sentAt: number;
}

interface ListChange {
  /** The row of the page before the change; undefined if it had none. */
  readonly before: ListedObject | undefined;
  /** Null: deleted. */
  readonly object: ListedObject | null;
}

/**
 * What a change of an object means for a page of a list, beyond the replacement of its row: `none`; `rows`, if other rows or another
 * order can be right now; or `total`, if only the number of all rows can be another one.
 */
export function effectOn(page: ListPage, { before, object }: ListChange): 'none' | 'rows' | 'total' {
  const isWhole = page.totalPages <= 1;
  if (object === null) return before || !isWhole ? 'rows' : 'none';
  const matches = matchesFilters(page, object);
  if (matches === undefined) return 'rows';
  if (before) return matches && !isMoved(page, before, object) ? 'none' : 'rows';
  if (isWhole) return matches ? 'rows' : 'none';
  // The object can be on another page, now or before the change.
  const isFiltered = filtersOf(page).length > 0;
  if (matches && (isNewSince(page.sentAt, object) || (isFiltered && isPlacedOn(page, object)))) return 'rows';
  return isFiltered ? 'total' : 'none';
}

/** The clocks and the connection are not exact. */
const TOLERANCE_MS = 5000;

const isNewSince = (time: number, { created_at, updated_at, at }: ListedObject): boolean =>
  [created_at, updated_at, at].some((each) => typeof each === 'string' && Date.parse(each) > time - TOLERANCE_MS);

const sortOf = ({ query: { sort } }: ListPage) => {
  const text = typeof sort === 'string' ? sort : '-created_at';
  return { member: text.replace('-', ''), isDescending: text.startsWith('-') };
};

const isMoved = (page: ListPage, before: ListedObject, object: ListedObject): boolean => {
  const { member } = sortOf(page);
  return before[member] !== object[member];
};

/** Whether the object is among the rows of the page, by the order of the list. */
function isPlacedOn(page: ListPage, object: ListedObject): boolean {
  const { member, isDescending } = sortOf(page);
  const isBefore = (one: unknown, other: unknown) =>
    typeof one !== 'string' || typeof other !== 'string' || (isDescending ? one >= other : one <= other);
  const [first, last] = [page.rows[0], page.rows.at(-1)];
  const isAfterFirst = page.number === 1 || isBefore(first?.[member], object[member]);
  return isAfterFirst && (page.number === page.totalPages || isBefore(object[member], last?.[member]));
}

/** The parameters of a list that do not exclude rows. */
const NOT_FILTERS = new Set(['page', 'limit', 'sort', 'view']);

const filtersOf = ({ query }: ListPage) =>
  Object.entries(query).filter(
    ([name, value]) => !NOT_FILTERS.has(name) && value !== undefined && value !== null && value !== '',
  );

/** Whether an object matches the filters; undefined if this console does not know it. */
function matchesFilters(page: ListPage, object: ListedObject): boolean | undefined {
  let all: boolean | undefined = true;
  for (const [name, value] of filtersOf(page)) {
    const matches = matchesFilter(page.tag, name, String(value), object);
    if (matches === false) return false;
    if (matches === undefined) all = undefined;
  }
  return all;
}

/** The lists that are searched by `name` alone. */
const SEARCHED_BY_NAME = new Set(['deployments', 'hosts', 'clusters', 'workloads', 'storage', 'secrets']);

function matchesFilter(tag: string, name: string, value: string, object: ListedObject): boolean | undefined {
  if (name === 'search') {
    if (!SEARCHED_BY_NAME.has(tag) || typeof object.name !== 'string') return undefined;
    return object.name.includes(value.toLowerCase());
  }
  if (name === 'resolved' && 'resolved_at' in object) return (object.resolved_at !== null) === (value === 'true');
  const target = typeof object.target === 'object' && object.target !== null ? object.target : {};
  const member = { ...target, template: object.template_slug, ...object }[name];
  if (typeof member !== 'string' && typeof member !== 'boolean') return member === null ? false : undefined;
  return value.split(',').includes(String(member));
}
