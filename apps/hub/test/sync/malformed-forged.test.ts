// Cursors that somebody wrote: nothing in them is trusted, so they show nothing and break nothing.
import { type Cursor, writeCursor } from '@svc/contract';
import { byDepth } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';
import { clientByCursor, listingOf, lostIn, updatesOf } from './mirror.ts';

const UPDATES = '/api/v1/catalog/templates/updates';
const RUNS = seeded({ numRuns: byDepth({ short: 40, full: 150, long: 1500 }) });
const MOST_PAGES = 20;

const world = await startWorld();
const { nobody, as, database, aTemplate, aCategory } = world;
afterAll(() => world.stop());

// For nobody's eyes: two that are visible, one that was. Never: hidden ones, of a private category, deleted while hidden.
const organization = await world.anOrganization();
const closed = await aCategory({ is_private: true });
const visible = [await aTemplate(), await aTemplate()];
const [withdrawn, neverSeen] = [await aTemplate(), await aTemplate({ is_public: false })];
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

/** Follows a cursor to the end of its walk; each page shows what anybody may see, and no more. */
async function walk(cursor: string) {
  const mirror = clientByCursor(nobody.get, 1);
  const first = await mirror.page(cursor);
  const pages = [first];
  for (let page = first; page.has_more; ) {
    page = await mirror.page();
    pages.push(page);
    if (pages.length > MOST_PAGES) throw new Error('a walk without an end');
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

const [moment, id] = [
  fc.oneof(
    fc.constantFrom('0001-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'),
    fc.constantFrom(...commits.map(({ at }) => at.toISOString())),
  ),
  fc.oneof(fc.constantFrom(FIRST_ID, LAST_ID, withdrawn.id, neverSeen.id, ...visibleIds), fc.uuid()),
];
const known = fc.constantFrom(...commits.map(({ at, commit }) => ({ at: at.toISOString(), commit })));

/** Every member by itself sane; any of them may be absent where a cursor may lack it. */
const forged = fc.record(
  {
    v: fc.constant(1),
    of: fc.constantFrom('anonymous', 'anonymous', 'administrator', organization.id, 'Anonymous', '', '*'),
    seen: fc.oneof(known, known, fc.record({ at: moment, commit: fc.uuid() })),
    began: moment,
    listed: id,
    position: fc.record({ at: moment, after: id }, { requiredKeys: ['at'] }),
    checked: moment,
  },
  { requiredKeys: ['v', 'of', 'seen', 'position', 'checked'] },
);

const textOf = (cursor: unknown) => Buffer.from(JSON.stringify(cursor)).toString('base64url');

const isKnown = ({ of, seen }: { of: string; seen: { at: string; commit: string } }) =>
  of === 'anonymous' && commits.some(({ at, commit }) => at.toISOString() === seen.at && commit === seen.commit);

test('a forged cursor shows what its caller sees anyway, to the end of its walk', async () => {
  await fc.assert(
    fc.asyncProperty(forged, async (cursor) => {
      const { reset, held } = await walk(textOf(cursor));
      expect(reset).toBe(!isKnown(cursor));
      if (reset) expect(lostIn(held, await listingOf(nobody.get))).toEqual([]);
    }),
    RUNS,
  );
});

test('a cursor that was changed is refused, or shows what its caller sees anyway', async () => {
  const finished = await updatesOf(nobody.get, 'cursor=start');
  const halfWay = await updatesOf(nobody.get, 'cursor=start&limit=1');
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
      const { status } = await nobody.get(`${UPDATES}?cursor=${cursor}`);
      expect([200, 400]).toContain(status);
      if (status === 200) await walk(cursor);
    }),
    RUNS,
  );
});

test.each([
  ['nobody', 'an administrator', nobody, 'administrator'],
  ['nobody', 'an organization', nobody, organization.id],
  ['an organization', 'nobody', as(organization), 'anonymous'],
  ['an organization', 'an administrator', as(organization), 'administrator'],
  ['an organization', 'another one', as(await world.anOrganization()), organization.id],
])('a cursor of %s that says it is for %s begins from nothing', async (_, __, api, of) => {
  const { cursor } = await updatesOf(api.get, 'cursor=start');
  const own: Cursor = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  const answer = await updatesOf(api.get, `cursor=${textOf({ ...own, of })}`);
  expect(answer).toMatchObject({ reset: true, has_more: false, removed: [] });
  expect(answer.templates.map(({ id }) => id).sort()).toEqual([...(await listingOf(api.get)).keys()].sort());
  expect(await updatesOf(api.get, `cursor=${cursor}`)).toMatchObject({ reset: false, templates: [] });
});

test('a position in the future answers nothing, and comes back to the present', async () => {
  const { cursor, checked_at } = await updatesOf(nobody.get, 'cursor=start');
  const own: Cursor = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  const future = new Date('9999-12-31T23:59:59.999Z');
  const ahead = writeCursor({ ...own, position: { at: future }, checked: future });
  expect(await updatesOf(nobody.get, `cursor=${ahead}`)).toMatchObject({
    templates: [],
    removed: [],
    checked_at,
    cursor,
    reset: false,
    has_more: false,
  });
});
