// A full walk whose pages come from memory has the same bytes as one whose pages are read from the database.
import { cursorInput } from '@svc/contract';
import { readPage } from '../../../src/catalog/changes/page.ts';
import { pageFromIndex } from '../../../src/catalog/changes/page-from-memory.ts';
import { readState } from '../../../src/catalog/changes/state.ts';
import type { Viewer } from '../../../src/identity/principal.ts';
import { createRevisionCheck } from '../../../src/revision/revision.ts';
import { startWorld } from '../../world.ts';

const world = await startWorld();
afterAll(() => world.stop());
const { catalog, database } = world;
const revisions = createRevisionCheck(database.revisionReader);

const open = await world.aCategory();
const hidden = await world.aCategory({ is_private: true });
const grantee = await world.anOrganization();
const owner = await world.anOrganization();
await world.aGrant(grantee, hidden);
for (let count = 0; count < 9; count += 1) {
  await world.aTemplate({
    category_id: count % 3 === 0 ? hidden.id : open.id,
    is_public: count % 4 !== 1,
    owner_org_id: count % 5 === 0 ? owner.id : null,
  });
}
const viewers: readonly Viewer[] = [
  { kind: 'anonymous' },
  { kind: 'administrator' },
  { kind: 'organization', orgId: grantee.id },
  { kind: 'organization', orgId: owner.id },
];

type Cursor = Parameters<typeof readPage>[1]['cursor'];
const cursorOf = (body = ''): Cursor => cursorInput.parse(JSON.parse(body).cursor);

const fromMemory = async (viewer: Viewer, cursor: Cursor, limit: number) => {
  const request = { catalog, viewer, revision: await revisions.latest() };
  const reply = await pageFromIndex(request, { cursor, limit }, { query: undefined, hasEtag: () => false });
  return reply && 'body' in reply ? reply.body.toString() : undefined;
};
const fromDatabase = (viewer: Viewer, cursor: Cursor, limit: number) =>
  database.reader.inSnapshot(async (reader) => {
    const snapshot = { reader, documents: catalog.documents, viewer, state: await readState(reader) };
    return (await readPage(snapshot, { cursor, limit })).toString();
  });

test.each(viewers)('for the viewer %j, with any number of templates in a page', async (viewer) => {
  for (const limit of [1, 2, 5, 100]) {
    let pages = 0;
    for (let cursor: Cursor = 'start', hasMore = true; hasMore; pages += 1) {
      const body = (await fromMemory(viewer, cursor, limit)) ?? '';
      expect(body).toBe(await fromDatabase(viewer, cursor, limit));
      hasMore = JSON.parse(body).has_more;
      cursor = cursorOf(body);
    }
    expect(pages).toBeGreaterThan(limit === 1 ? 1 : 0);
  }
});

test('a walk continues from the database after a change of what its viewer sees, and from memory after others', async () => {
  const viewer: Viewer = { kind: 'anonymous' };
  const cursor = cursorOf(await fromMemory(viewer, 'start', 2));
  await world.aTemplate({ category_id: hidden.id });
  const after = await fromMemory(viewer, cursor, 2);
  expect(after).toBe(await fromDatabase(viewer, cursor, 2));
  await world.aTemplate({ category_id: open.id });
  expect(await fromMemory(viewer, cursor, 2)).toBeUndefined();
  expect(await fromMemory(viewer, 'start', 2)).toBe(await fromDatabase(viewer, 'start', 2));
});

test('a cursor of another viewer, and one after the list of its walk, are left to the database', async () => {
  const [anonymous, administrator] = viewers;
  if (!anonymous || !administrator) throw new Error('there are viewers');
  const inside = cursorOf(await fromMemory(anonymous, 'start', 1));
  expect(await fromMemory(administrator, inside, 1)).toBeUndefined();
  const finished = cursorOf(await fromMemory(anonymous, 'start', 100));
  expect(await fromMemory(anonymous, finished, 1)).toBeUndefined();
});
