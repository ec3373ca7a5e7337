import { expect, test } from '@jest/globals';
import { effectOn, type ListedObject, type ListPage } from '../src/shared/api/effects.ts';

const SENT = Date.parse('2026-05-01T12:00:00Z');
const OLD = '2026-04-01T00:00:00.000Z';

const deployment = (name: string, more: object = {}): ListedObject => ({
  ...{ id: name, name, phase: 'running', template_slug: 'redis', target: { host_id: 'h1', cluster_id: null } },
  ...{ created_at: OLD, updated_at: OLD, ...more },
});

/** A page of a list that is sorted by name, from `c` to `e`, unless stated otherwise. */
const page = (more: Partial<ListPage> = {}): ListPage => ({
  ...{ tag: 'deployments', query: { sort: 'name' }, number: 1, totalPages: 3, sentAt: SENT },
  rows: ['c', 'd', 'e'].map((name) => deployment(name)),
  ...more,
});

const put = (on: ListPage, object: ListedObject, before?: ListedObject) => effectOn(on, { before, object });

test('a row of the page is replaced, and nothing else is necessary', () => {
  expect(put(page(), deployment('c', { phase: 'failed' }), deployment('c'))).toBe('none');
});

test('rows are read again if a row no longer matches, is deleted, or moves', () => {
  const filtered = page({ query: { sort: 'name', phase: 'running,starting' } });
  expect(put(filtered, deployment('c', { phase: 'failed' }), deployment('c'))).toBe('rows');
  expect(effectOn(page(), { before: deployment('c'), object: null })).toBe('rows');
  const byTime = page({ query: { sort: '-updated_at' } });
  expect(put(byTime, deployment('c', { updated_at: '2026-05-01T12:00:01.000Z' }), deployment('c'))).toBe('rows');
});

test('the change of an object of another page concerns this page only if the object is new', () => {
  expect(put(page(), deployment('z', { phase: 'failed' }))).toBe('none');
  expect(put(page(), deployment('z', { created_at: '2026-05-01T12:00:01.000Z' }))).toBe('rows');
  expect(effectOn(page(), { before: undefined, object: null })).toBe('rows');
});

test('an object that begins to match a filter is read if its place is on the page, and otherwise counted later', () => {
  const query = { sort: 'name', phase: 'failed' };
  const failed = (name: string) => deployment(name, { phase: 'failed' });
  expect(put(page({ query }), failed('d2'))).toBe('rows');
  expect(put(page({ query }), failed('a'))).toBe('rows');
  expect(put(page({ query }), failed('z'))).toBe('total');
  expect(put(page({ query, number: 2 }), failed('a'))).toBe('total');
  expect(put(page({ query, number: 3 }), failed('z'))).toBe('rows');
  expect(put(page({ query: { ...query, sort: '-name' }, rows: ['e', 'd', 'c'].map(failed) }), failed('z'))).toBe(
    'rows',
  );
});

test('an object that does not match can have been counted, unless the page is the whole list', () => {
  const query = { sort: 'name', phase: 'failed' };
  expect(put(page({ query }), deployment('z'))).toBe('total');
  expect(put(page({ query, totalPages: 1 }), deployment('z'))).toBe('none');
  expect(put(page({ query, totalPages: 1 }), deployment('z', { phase: 'failed' }))).toBe('rows');
  expect(effectOn(page({ totalPages: 1 }), { before: undefined, object: null })).toBe('none');
});

test.each([
  [{ search: 'ED' }, 'none'],
  [{ search: 'other' }, 'rows'],
  [{ host_id: 'h1,h2' }, 'none'],
  [{ host_id: 'h3' }, 'rows'],
  [{ cluster_id: 'k1' }, 'rows'],
  [{ template: 'redis' }, 'none'],
  [{ template: 'nginx' }, 'rows'],
  [{ label: 'team=a' }, 'rows'], // this console does not evaluate it
  [{ phase: '', search: undefined }, 'none'],
] as const)('the filter %j of a known row', (filter, effect) => {
  const row = deployment('shared');
  expect(put(page({ query: { sort: 'name', ...filter } }), row, row)).toBe(effect);
});

test('events are filtered by whether they are resolved', () => {
  const event = { id: '1', at: OLD, severity: 'warning', resolved_at: null, name: 'cache' };
  const events = page({ tag: 'events', query: { severity: 'warning', resolved: false }, rows: [], totalPages: 1 });
  expect(put(events, event)).toBe('rows');
  expect(put(events, { ...event, resolved_at: OLD })).toBe('none');
  expect(put(events, { ...event, resolved_at: OLD }, event)).toBe('rows');
});
