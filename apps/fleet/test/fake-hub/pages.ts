import { type Cursor, type TemplateUpdates, writeCursor } from '@svc/contract';
import type { Catalog } from './catalog.ts';

interface PageRequest {
  /** The identity of the caller: a cursor is valid only for its caller. */
  readonly caller: string;
  readonly cursor: Cursor | 'start';
  readonly limit: number;
}

interface Entry {
  readonly id: string;
  readonly at: number;
  readonly removed: boolean;
  /** The position in the first part of a full walk, which is ordered by ID. */
  readonly listed: boolean;
}

const NO_ID = '00000000-0000-0000-0000-000000000000';
const AFTER_EVERY_ID = '~';

/**
 * One page as the sync protocol defines it: a full walk lists the catalog first, and each walk ends
 * with the changes.
 */
export function readPage(catalog: Catalog, request: PageRequest): TemplateUpdates {
  const { page, ...rest } = pageIn(catalog, request);
  return { ...rest, templates: page.flatMap((id) => catalog.shown.get(id)?.template ?? []) };
}

/** The same for applications, with cursors of their own. */
export function readApplicationPage(catalog: Catalog, { caller, ...request }: PageRequest) {
  const { applications: shown, withdrawnApplications: withdrawn } = catalog;
  const { page, ...rest } = pageIn({ ...catalog, shown, withdrawn }, { ...request, caller: `applications:${caller}` });
  return { ...rest, applications: page.flatMap((id) => shown.get(id)?.application ?? []) };
}

/** What decides the pages of one kind of objects. */
interface Objects extends Pick<Catalog, 'clock' | 'commits'> {
  readonly shown: ReadonlyMap<string, { readonly at: number }>;
  readonly withdrawn: ReadonlyMap<string, number>;
}

function pageIn(catalog: Objects, { caller, cursor, limit }: PageRequest) {
  const finished = finishedCursor(catalog, caller);
  const goesOn = cursor !== 'start' && cursor.of === caller && catalog.commits.includes(cursor.seen.commit);
  const from = goesOn ? cursor : { ...finished, began: new Date(catalog.clock), listed: NO_ID, checked: new Date(0) };
  const entries = [...listedEntries(catalog, from), ...changedEntries(catalog, from)];
  const page = entries.slice(0, limit);
  const next = page.length < entries.length ? { ...advanced(from, page.at(-1)), seen: finished.seen } : finished;
  return {
    page: page.flatMap(({ id, removed }) => (removed ? [] : id)),
    removed: page.filter(({ removed }) => removed).map(({ id }) => ({ id })),
    checked_at: next.checked.toISOString(),
    cursor: writeCursor(next),
    reset: !goesOn,
    has_more: page.length < entries.length,
  };
}

function finishedCursor({ clock, commits }: Objects, caller: string): Cursor {
  const at = new Date(clock);
  return { v: 1, of: caller, seen: { at, commit: commits.at(-1) ?? NO_ID }, position: { at }, checked: at };
}

function advanced({ listed, ...from }: Cursor, last: Entry | undefined): Cursor {
  if (!last) return { ...from, listed };
  return last.listed ? { ...from, listed: last.id } : { ...from, position: { at: new Date(last.at), after: last.id } };
}

/** Templates that did not change since the walk started. */
function listedEntries({ shown }: Objects, { began, listed }: Cursor): Entry[] {
  if (!began || listed === undefined) return [];
  const entries = [...shown].map(([id, { at }]) => ({ id, at, removed: false, listed: true }));
  return entries.filter(({ id, at }) => id > listed && at <= began.getTime()).sort((a, b) => (a.id < b.id ? -1 : 1));
}

function changedEntries({ shown, withdrawn }: Objects, { position }: Cursor): Entry[] {
  const { at, after = AFTER_EVERY_ID } = position;
  const from = keyOf({ at: at.getTime(), id: after });
  const entries = [
    ...[...shown].map(([id, { at }]) => ({ id, at, removed: false, listed: false })),
    ...[...withdrawn].map(([id, at]) => ({ id, at, removed: true, listed: false })),
  ];
  return entries.filter((entry) => keyOf(entry) > from).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Sorts by stamp (all have the same number of digits), then by ID. */
const keyOf = ({ at, id }: { readonly at: number; readonly id: string }) => `${at} ${id}`;
