import { expect, test } from '@jest/globals';
import { effectOn, type ListedObject, type ListPage } from '../src/shared/api/effects.ts';

const SENT = Date.parse('2026-05-01T12:00:00Z');
const OLD = '2026-04-01T00:00:00.000Z';

const deployment = (name: string, more: object = {}): ListedObject => ({
  id: name,
  name,
  phase: 'running',
  template_slug: 'redis',
  target: { host_id: 'h1', cluster_id: null },
  template_state: 'outdated',
  advice: { status: 'deprecated', advisories: [{ severity: 'note' }, { severity: 'warning' }] },
  update: { to_version: '2.0.0', held: null },
  created_at: OLD,
  updated_at: OLD,
  ...more,
});

/** A page of a list that is sorted by name, from `c` to `e`, unless stated otherwise. */
const page = (more: Partial<ListPage> = {}): ListPage => ({
  tag: 'deployments',
  query: { sort: 'name' },
  number: 1,
  limit: 3,
  total: 9,
  totalPages: 3,
  sentAt: SENT,
  rows: ['c', 'd', 'e'].map((name) => deployment(name)),
  ...more,
});

const put = (on: ListPage, object: ListedObject) => effectOn(on, { id: object.id, object });
const drop = (on: ListPage, id: string) => effectOn(on, { id, object: null });
const namesOf = ({ rows }: { readonly rows: readonly ListedObject[] }) => rows.map(({ name }) => name).join(' ');
/** The effect with the names of the rows instead of the rows. */
const withNames = ({ rows, ...effect }: ReturnType<typeof effectOn>) => ({ names: namesOf({ rows }), ...effect });

test('a row of the page is replaced, and nothing else is necessary', () => {
  const failed = deployment('c', { phase: 'failed' });
  const effect = put(page(), failed);
  expect(effect.rows[0]).toBe(failed);
  expect(withNames(effect)).toEqual({ names: 'c d e', reread: 'none' });
});

test('a row that no longer matches or is deleted disappears, and the following rows are read', () => {
  const filtered = page({ query: { sort: 'name', phase: 'running,starting' } });
  const left = put(filtered, deployment('c', { phase: 'failed' }));
  expect(withNames(left)).toEqual({ names: 'd e', total: 8, reread: 'rows' });
  const deleted = drop(page(), 'd');
  expect(withNames(deleted)).toEqual({ names: 'c e', total: 8, reread: 'rows' });
});

test('a page that lacks few rows is filled up later, and the last page never', () => {
  const many = Array.from({ length: 20 }, (_, index) => deployment(`row-${index}`));
  expect(drop(page({ rows: many, limit: 20 }), 'row-3').reread).toBe('total');
  expect(drop(page({ rows: many.slice(2), limit: 20 }), 'row-3').reread).toBe('rows');
  expect(drop(page({ number: 3 }), 'd')).toMatchObject({ total: 8, reread: 'none' });
});

test('a row that moves is read again where the order is not known, such as that of a name', () => {
  const byTime = page({ query: { sort: '-last_seen_at' }, rows: [deployment('c', { last_seen_at: OLD })] });
  expect(put(byTime, deployment('c', { last_seen_at: '2026-05-01T12:00:01.000Z' })).reread).toBe('rows');
});

test('the change of an object of another page concerns this page only if the object is new', () => {
  expect(put(page(), deployment('z', { phase: 'failed' })).reread).toBe('none');
  expect(put(page(), deployment('z', { created_at: '2026-05-01T12:00:01.000Z' })).reread).toBe('rows');
  expect(drop(page(), 'z').reread).toBe('total');
});

test('an object that begins to match a filter is read if it can be on the page and the order is not known', () => {
  const query = { sort: 'email', role: 'admin' };
  const user = (email: string) => deployment(email, { email, role: 'admin' });
  const users = (more: Partial<ListPage> = {}) =>
    page({ tag: 'users', query, rows: ['c', 'd', 'e'].map(user), ...more });
  expect(put(users(), user('d2')).reread).toBe('rows');
  expect(put(users(), user('a')).reread).toBe('rows');
  expect(put(users(), user('z')).reread).toBe('total');
  expect(put(users({ number: 2 }), user('a')).reread).toBe('total');
  expect(put(users({ number: 3 }), user('z')).reread).toBe('rows');
  expect(put(users({ totalPages: 1 }), user('z')).reread).toBe('rows');
  const descending = users({ query: { ...query, sort: '-email' }, rows: ['e', 'd', 'c'].map(user) });
  expect(put(descending, user('z')).reread).toBe('rows');
});

test('a user with a new name can enter the page, because names of users change', () => {
  const users = page({ tag: 'users', query: { sort: 'name' } });
  expect(put(users, deployment('d2')).reread).toBe('rows');
  expect(put(page(), deployment('d2')).reread).toBe('none');
});

test('names of resources are sorted byte by byte', () => {
  const rows = ['a', 'a-b', 'a1'].map((name) => deployment(name));
  const list = page({ query: { sort: 'name', phase: 'running' }, rows, limit: 9, total: 3, totalPages: 1 });
  expect(namesOf(put(list, deployment('a-c')))).toBe('a a-b a-c a1');
  expect(namesOf(put({ ...list, query: { sort: '-name' }, rows: rows.toReversed() }, deployment('a0')))).toBe(
    'a1 a0 a-b a',
  );
});

/** A list of failed deployments, newest first: `e` of 5 April to `c` of 3 April. */
const april = (day: number) => `2026-04-0${day}T00:00:00.000Z`;
const failedOn = (name: string, day: number) => deployment(name, { phase: 'failed', created_at: april(day) });
const newestFirst = (more: Partial<ListPage> = {}) =>
  page({ query: { phase: 'failed' }, rows: [failedOn('e', 5), failedOn('d', 4), failedOn('c', 3)], ...more });

test.each([
  ['z', 6, 1, 'z e d', 10, 'none'],
  ['d2', 4, 1, 'e d d2', 10, 'none'], // equal times: by id
  ['d2', 4, 2, 'e d d2', 10, 'none'],
  ['z', 6, 2, 'e d c', undefined, 'total'], // on an earlier page
  ['a', 1, 1, 'e d c', undefined, 'total'], // on a later page
  ['b', 3, 3, 'e d b', 10, 'none'], // on the last page, whose last row moves to another one
  ['a', 1, 3, 'e d c', 10, 'none'], // at the end of the last page, on another one
] as const)('an object %s of day %i enters page %i at its place: %s', (name, day, number, names, total, reread) => {
  const entered = put(newestFirst({ number }), failedOn(name, day));
  expect(withNames(entered)).toEqual({ names, total, reread });
});

test('the rows and the total of a list of one page follow from changes alone', () => {
  const list = newestFirst({ total: 3, totalPages: 1, limit: 4 });
  const grown = put(list, failedOn('d2', 4));
  expect(withNames(grown)).toEqual({ names: 'e d d2 c', total: 4, reread: 'none' });
  const next = put({ ...list, rows: grown.rows, total: 4 }, failedOn('z', 6));
  expect(withNames(next)).toEqual({ names: 'z e d d2', total: 5, reread: 'none' });
  expect(drop(list, 'd')).toMatchObject({ total: 2, reread: 'none' });
  expect(namesOf(put(list, deployment('d')))).toBe('e c');
  expect(drop(list, 'z')).toEqual({ rows: list.rows, reread: 'none' });
  const empty = newestFirst({ total: 0, totalPages: 0, rows: [] });
  expect(put(empty, failedOn('a', 1))).toMatchObject({ total: 1, reread: 'none' });
});

test('a changed object moves in a list that is sorted by the time of the change, and enters it from another page', () => {
  const at = (name: string, second: number) => deployment(name, { updated_at: `2026-05-01T12:00:0${second}.000Z` });
  const latest = page({ query: { sort: '-updated_at' }, rows: [at('e', 5), at('d', 4), at('c', 3)] });
  const moved = put(latest, at('c', 6));
  expect(withNames(moved)).toMatchObject({ names: 'c e d', reread: 'none' });
  const entered = put(latest, at('z', 6));
  expect(withNames(entered)).toMatchObject({ names: 'z e d', reread: 'none' });
  const filtered = put({ ...latest, query: { sort: '-updated_at', phase: 'running' } }, at('z', 6));
  expect(withNames(filtered)).toEqual({ names: 'z e d', total: undefined, reread: 'total' });
  const last = put(latest, at('e', 1));
  expect(withNames(last)).toMatchObject({ names: 'e d c', reread: 'rows' });
});

test('an object that does not match can have been counted, unless the page is the whole list', () => {
  const query = { sort: 'name', phase: 'failed' };
  expect(put(page({ query }), deployment('z')).reread).toBe('total');
  expect(put(page({ query, totalPages: 1 }), deployment('z')).reread).toBe('none');
});

test.each([
  [{ search: 'ED' }, 'none'],
  [{ search: 'other' }, 'rows'],
  [{ host_id: 'h1,h2' }, 'none'],
  [{ host_id: 'h3' }, 'rows'],
  [{ cluster_id: 'k1' }, 'rows'],
  [{ template: 'redis' }, 'none'],
  [{ template: 'nginx' }, 'rows'],
  [{ template_state: 'outdated,withdrawn' }, 'none'],
  [{ template_status: 'blocked,deprecated' }, 'none'],
  [{ template_status: 'active' }, 'rows'],
  [{ advisory: 'warning' }, 'none'],
  [{ advisory: 'critical' }, 'rows'],
  [{ update: 'available,held' }, 'none'],
  [{ update: 'held' }, 'rows'],
  [{ label: 'team=a' }, 'rows'], // this console does not evaluate it
  [{ phase: '', search: undefined }, 'none'],
] as const)('the filter %j of a known row', (filter, reread) => {
  const row = deployment('shared');
  expect(put(page({ query: { sort: 'name', ...filter }, rows: [row] }), row).reread).toBe(reread);
});

test('events are filtered by whether they are resolved', () => {
  const event = { id: '1', at: OLD, severity: 'warning', resolved_at: null, name: 'cache' };
  const query = { severity: 'warning', resolved: false };
  const events = page({ tag: 'events', query, rows: [], totalPages: 1 });
  expect(put(events, event).reread).toBe('rows');
  expect(put(events, { ...event, resolved_at: OLD }).reread).toBe('none');
  expect(put({ ...events, rows: [event], total: 1 }, { ...event, resolved_at: OLD })).toMatchObject({
    rows: [],
    total: 0,
  });
});
