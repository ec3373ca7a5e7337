// Forged cursors: the hub trusts no member of a cursor, so a forged cursor shows nothing that its
// caller cannot see.
import { type Cursor, writeCursor } from '@svc/contract';
import { byDepth } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';
import { clientByCursor, listingOf, lostIn, updatesOf } from './mirror.ts';

const UPDATES = '/api/v1/catalog/templates/updates';
const RUNS = seeded({ numRuns: byDepth({ short: 40, full: 150, long: 1500 }) });
const MAX_PAGES = 20;

const world = await startWorld();
const { anonymous, as, database, aTemplate, aCategory } = world;
afterAll(() => world.stop());

// Anonymous callers see two templates and saw a third one. They never saw the others: hidden,
// private, or deleted while hidden.
const organization = await world.anOrganization();
const closed = await aCategory({ is_private: true });
const visible = [await aTemplate(), await aTemplate()];
const withdrawn = await aTemplate();
const neverSeen = await aTemplate({ is_public: false });
await aTemplate({ is_public: false });
await aTemplate({ category_id: closed.id });
await aTemplate({ is_public: false, owner_org_id: organization.id });
await world.aGrant(organization, closed);
await writeCatalog(database, async ({ template }) => {
  await template.update({ where: { id: withdrawn.id }, data: { is_public: false } });
  await template.delete({ where: { id: neverSeen.id } });
});
const commits = await database.client.catalogCommit.findMany({ orderBy: { at: 'asc' } });

const visibleIds: readonly string[] = visible.map(({ id }) => id);
const removedIds: readonly string[] = [withdrawn.id];

/**
 * Follows a cursor to the end of its walk. Expects that no page contains a template that anonymous
 * callers cannot see.
 */
async function walk(cursor: string) {
  const mirror = clientByCursor(anonymous.get, 1);
  const first = await mirror.page(cursor);
  const pages = [first];
  for (let page = first; page.has_more; ) {
    page = await mirror.page();
    pages.push(page);
    if (pages.length > MAX_PAGES) throw new Error('the walk does not end');
  }
  for (const { templates, removed, reset } of pages) {
    for (const { id } of templates) expect(visibleIds).toContain(id);
    for (const { id } of removed) expect(removedIds).toContain(id);
    expect(templates.length + removed.length).toBeLessThanOrEqual(1);
    if (reset) expect(pages[0]?.reset).toBe(true);
  }
  return { reset: first.reset, held: mirror.held };
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const time = fc.oneof(
  fc.constantFrom('0001-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'),
  fc.constantFrom(...commits.map(({ at }) => at.toISOString())),
);
const id = fc.oneof(fc.constantFrom(FIRST_ID, LAST_ID, withdrawn.id, neverSeen.id, ...visibleIds), fc.uuid());
const known = fc.constantFrom(...commits.map(({ at, commit }) => ({ at: at.toISOString(), commit })));

/** Cursors with members that are valid one by one. Optional members can be absent. */
const forged = fc.record(
  {
    v: fc.constant(1),
    of: fc.constantFrom('anonymous', 'anonymous', 'administrator', organization.id, 'Anonymous', '', '*'),
    seen: fc.oneof(known, known, fc.record({ at: time, commit: fc.uuid() })),
    began: time,
    listed: id,
    position: fc.record({ at: time, after: id }, { requiredKeys: ['at'] }),
    checked: time,
  },
  { requiredKeys: ['v', 'of', 'seen', 'position', 'checked'] },
);

const textOf = (cursor: unknown) => Buffer.from(JSON.stringify(cursor)).toString('base64url');

const isKnown = ({ of, seen }: { of: string; seen: { at: string; commit: string } }) =>
  of === 'anonymous' && commits.some(({ at, commit }) => at.toISOString() === seen.at && commit === seen.commit);

test('a forged cursor shows only templates that its caller can see, to the end of its walk', async () => {
  await fc.assert(
    fc.asyncProperty(forged, async (cursor) => {
      const { reset, held } = await walk(textOf(cursor));
      expect(reset).toBe(!isKnown(cursor));
      if (reset) expect(lostIn(held, await listingOf(anonymous.get))).toEqual([]);
    }),
    RUNS,
  );
});

test('a modified cursor is rejected, or shows only templates that its caller can see', async () => {
  const finished = await updatesOf(anonymous.get, 'cursor=start');
  const halfWay = await updatesOf(anonymous.get, 'cursor=start&limit=1');
  const change = fc.record({
    text: fc.constantFrom(finished.cursor, halfWay.cursor),
    place: fc.nat(),
    removed: fc.nat({ max: 4 }),
    inserted: fc.stringMatching(/^[\w-]{0,4}$/),
  });
  await fc.assert(
    fc.asyncProperty(change, async ({ text, place, removed, inserted }) => {
      const at = place % text.length;
      const cursor = `${text.slice(0, at)}${inserted}${text.slice(at + removed)}`;
      const { status } = await anonymous.get(`${UPDATES}?cursor=${cursor}`);
      expect([200, 400]).toContain(status);
      if (status === 200) await walk(cursor);
    }),
    RUNS,
  );
});

test.each([
  ['an anonymous caller', 'an administrator', anonymous, 'administrator'],
  ['an anonymous caller', 'an organization', anonymous, organization.id],
  ['an organization', 'an anonymous caller', as(organization), 'anonymous'],
  ['an organization', 'an administrator', as(organization), 'administrator'],
  ['an organization', 'another organization', as(await world.anOrganization()), organization.id],
])('a cursor of %s that claims to be of %s starts a full walk', async (_, __, api, of) => {
  const { cursor } = await updatesOf(api.get, 'cursor=start');
  const own: Cursor = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  const answer = await updatesOf(api.get, `cursor=${textOf({ ...own, of })}`);
  expect(answer).toMatchObject({ reset: true, has_more: false, removed: [] });
  expect(answer.templates.map(({ id }) => id).sort()).toEqual([...(await listingOf(api.get)).keys()].sort());
  expect(await updatesOf(api.get, `cursor=${cursor}`)).toMatchObject({ reset: false, templates: [] });
});

test('a cursor with a position in the future returns no change and a cursor with the current position', async () => {
  const { cursor, checked_at } = await updatesOf(anonymous.get, 'cursor=start');
  const own: Cursor = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  const future = new Date('9999-12-31T23:59:59.999Z');
  const futureCursor = writeCursor({ ...own, position: { at: future }, checked: future });
  expect(await updatesOf(anonymous.get, `cursor=${futureCursor}`)).toMatchObject({
    templates: [],
    removed: [],
    checked_at,
    cursor,
    reset: false,
    has_more: false,
  });
});
