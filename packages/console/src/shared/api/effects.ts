import { isAtLeast } from './severities.ts';

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
  /** The maximum number of its rows. */
  readonly limit: number;
  /** The number of rows of all pages. */
  readonly total: number;
  readonly totalPages: number;
  /** When the service sent it, in milliseconds, by the clock of the service. */
  readonly sentAt: number;
}

/** A changed object. Null: deleted. */
interface ListChange {
  readonly id: string;
  readonly object: ListedObject | null;
}

/** What a change of an object means for a page of a list. */
interface Effect {
  /** The rows of the page, as far as they follow from the change. */
  readonly rows: readonly ListedObject[];
  /** The number of all rows, if it follows from the change. */
  readonly total?: number;
  /**
   * What must be read: `rows`, if other rows or another order can be right now; or `total`, if only
   * the number of all rows or the end of the page can be wrong.
   */
  readonly reread: 'none' | 'rows' | 'total';
}

/** Derives what it can from the change, so that most changes cost no request. */
export function effectOn(page: ListPage, { id, object }: ListChange): Effect {
  const at = page.rows.findIndex((row) => row.id === id);
  const before = page.rows[at];
  const others = before ? page.rows.toSpliced(at, 1) : page.rows;
  const isWhole = page.totalPages <= 1;
  const matches = object === null ? false : matchesFilters(page, object);
  if (object === null || matches === false) {
    if (before) return withoutRow(page, others);
    return { rows: page.rows, reread: isWhole ? 'none' : 'total' };
  }
  const rows = before ? page.rows.with(at, object) : page.rows;
  if (matches === undefined) return { rows, reread: 'rows' };
  if (before && !isMoved(page, before, object)) return { rows, reread: 'none' };
  const place = placeOf(page, object, others);
  if (place !== undefined && isWhole) return whole(others.toSpliced(place, 0, object), page.limit);
  // The object can be on another page, now or before the change.
  const isFiltered = filtersOf(page).length > 0;
  const isNew = isNewSince(page.sentAt, object);
  const canEnter = !isNew && (isFiltered || !isFixed(page));
  if (place !== undefined && isInside(page, place, others) && (before || canEnter)) {
    const next = others.toSpliced(place, 0, object).slice(0, page.limit);
    if (before || !isFiltered) return { rows: next, reread: 'none' };
    // Where changes do not move objects, it would have been here before if it had matched.
    return isFixed(page) ? { rows: next, total: page.total + 1, reread: 'none' } : { rows: next, reread: 'total' };
  }
  if (before || isWhole || isNew || (canEnter && isPlacedOn(page, object))) return { rows, reread: 'rows' };
  return { rows, reread: isFiltered ? 'total' : 'none' };
}

/**
 * A page with at least this part of its rows is filled up later: the row that follows is on the
 * next page until then.
 */
const NEARLY_FULL = 0.9;

function withoutRow(page: ListPage, others: readonly ListedObject[]): Effect {
  const isNearlyFull = others.length >= NEARLY_FULL * page.limit;
  const reread = page.number >= page.totalPages ? 'none' : isNearlyFull ? 'total' : 'rows';
  return { rows: others, total: page.total - 1, reread };
}

/** The effect on a list whose rows are all known. */
const whole = (rows: readonly ListedObject[], limit: number): Effect => ({
  rows: rows.slice(0, limit),
  total: rows.length,
  reread: 'none',
});

/** The clocks and the connection are not exact. */
const TOLERANCE_MS = 5000;

const isNewSince = (time: number, { created_at, at }: ListedObject): boolean =>
  [created_at, at].some((each) => typeof each === 'string' && Date.parse(each) > time - TOLERANCE_MS);

const sortOf = ({ query: { sort } }: ListPage) => {
  const text = typeof sort === 'string' ? sort : '-created_at';
  return { member: text.replace('-', ''), isDescending: text.startsWith('-') };
};

const isMoved = (page: ListPage, before: ListedObject, object: ListedObject): boolean => {
  const { member } = sortOf(page);
  return before[member] !== object[member];
};

/** Whether changes do not move an object in the order of the list. Resources cannot be renamed. */
function isFixed(page: ListPage): boolean {
  const { member } = sortOf(page);
  return member === 'created_at' || member === 'at' || (member === 'name' && RESOURCES.has(page.tag));
}

/**
 * Whether the order of the list is that of the texts: of times, which all rows have in one format,
 * or of names of resources, in ASCII.
 */
const isOrderOfTexts = ({ tag }: ListPage, member: string): boolean =>
  member === 'created_at' || member === 'updated_at' || (member === 'name' && RESOURCES.has(tag));

/**
 * The index of the object among the other rows; undefined if this console does not know the order.
 */
function placeOf(page: ListPage, object: ListedObject, others: readonly ListedObject[]): number | undefined {
  const { member, isDescending } = sortOf(page);
  if (!isOrderOfTexts(page, member) || [object, ...others].some((row) => typeof row[member] !== 'string'))
    return undefined;
  const isAfter = (row: ListedObject): boolean => {
    const own = String(object[member]);
    const other = String(row[member]);
    return own === other ? row.id > object.id : isDescending ? other < own : other > own;
  };
  const place = others.findIndex(isAfter);
  return place === -1 ? others.length : place;
}

/**
 * Whether a place is certainly on the page: rows of the list are on both sides of it, or the list
 * begins or ends there.
 */
const isInside = ({ number, totalPages }: ListPage, place: number, others: readonly ListedObject[]): boolean =>
  (number === 1 || place > 0) && (number === totalPages || place < others.length);

/** Whether the object is among the rows of the page, by the order of the list. */
function isPlacedOn(page: ListPage, object: ListedObject): boolean {
  const { member, isDescending } = sortOf(page);
  const isBefore = (one: unknown, other: unknown) =>
    typeof one !== 'string' || typeof other !== 'string' || (isDescending ? one >= other : one <= other);
  const first = page.rows[0];
  const last = page.rows.at(-1);
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

/** The lists of resources, which are searched by `name` alone. */
const RESOURCES = new Set(['deployments', 'hosts', 'clusters', 'workloads', 'storage', 'secrets']);

/** Whether an object matches a filter by what the hub says about its template. */
function matchesAdvice(name: 'template_status' | 'advisory', value: string, { advice }: ListedObject) {
  if (typeof advice !== 'object') return undefined;
  if (advice === null) return false;
  if (name === 'template_status')
    return 'status' in advice ? value.split(',').includes(String(advice.status)) : undefined;
  if (!('advisories' in advice) || !Array.isArray(advice.advisories)) return undefined;
  return advice.advisories.some(({ severity }) => isAtLeast(severity, value));
}

/** Whether an object matches a filter by the update that is available to it. */
function matchesUpdate(value: string, { update }: ListedObject): boolean | undefined {
  if (typeof update !== 'object') return undefined;
  if (update === null) return false;
  return 'held' in update ? value.split(',').includes(update.held === null ? 'available' : 'held') : undefined;
}

function matchesFilter(tag: string, name: string, value: string, object: ListedObject): boolean | undefined {
  if (name === 'search') {
    if (!RESOURCES.has(tag) || typeof object.name !== 'string') return undefined;
    return object.name.includes(value.toLowerCase());
  }
  if (name === 'template_status' || name === 'advisory') return matchesAdvice(name, value, object);
  if (name === 'update') return matchesUpdate(value, object);
  if (name === 'resolved' && 'resolved_at' in object) return (object.resolved_at !== null) === (value === 'true');
  const target = typeof object.target === 'object' && object.target !== null ? object.target : {};
  const member = { ...target, template: object.template_slug, ...object }[name];
  if (typeof member !== 'string' && typeof member !== 'boolean') return member === null ? false : undefined;
  return value.split(',').includes(String(member));
}
