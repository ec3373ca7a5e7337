// The table of visibility, held against every place where a template could show.
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';
import { countsOf, type Place, places, totalOf, updatesSince } from './places.ts';
import { aCast, aScene } from './scene.ts';
import { categories, kinds, type Refused, refused, seenBy, seers } from './table.ts';

const world = await startWorld();
afterAll(() => world.stop());
const cast = await aCast(world);
const scene = await aScene(world, cast, { mark: 'matrix', kinds });
const slugOf = (kind: string) => scene.things.find((thing) => thing.kind === kind)?.slug;

const cells = seers.flatMap((seer) => (Object.keys(places) as Place[]).map((place) => ({ seer, place }))); // of a Record

test.each(cells)('$seer sees in $place what the table says', async ({ seer, place }) => {
  const found = await places[place](world.api(cast.authorizations[seer]), scene);
  expect(found).toEqual(seenBy(seer).map(slugOf).sort());
});

test.each(seers)('%s reads no other total than of what the table says, whatever the page', async (seer) => {
  const api = world.api(cast.authorizations[seer]);
  for (const query of ['', 'search=matrix', 'tags=matrix', 'featured=true', 'page=99']) {
    expect([query, await totalOf(api, query)]).toEqual([query, seenBy(seer).length]);
  }
});

test.each(seers)('%s reads the categories and counts that the table says', async (seer) => {
  const counts = await countsOf(world.api(cast.authorizations[seer]), scene);
  expect(counts).toEqual({ open: categories.open[seer], private: categories.private[seer] });
});

test('whoever saw a template hears of its removal, and nobody else', async () => {
  const { things } = await aScene(world, cast, { mark: 'removed', kinds });
  const api = world.api();
  const { checkedAt } = await updatesSince(api, '1970-01-01T00:00:00Z');
  await writeCatalog(world.database, ({ template }) =>
    template.deleteMany({ where: { id: { in: things.map(({ id }) => id) } } }),
  );
  for (const seer of seers) {
    const { removed } = await updatesSince(world.api(cast.authorizations[seer]), checkedAt);
    const heard = things.filter(({ id }) => removed.includes(id)).map(({ kind }) => kind);
    expect([seer, heard.sort()]).toEqual([seer, seenBy(seer).sort()]);
    expect(removed).toHaveLength(heard.length);
  }
});

const READS = [
  '/api/v1/catalog/templates',
  '/api/v1/catalog/templates?search=matrix',
  '/api/v1/catalog/templates/matrix-public-open-of-nobody',
  '/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z',
  '/api/v1/catalog/categories',
];

test.each(Object.keys(refused) as Refused[])('%s is refused everywhere, and reads nothing', async (caller) => {
  const { status, code } = refused[caller];
  for (const path of READS) {
    const answer = await world.api(cast.authorizations[caller]).get(path);
    expect({ path, status: answer.status, code: answer.body.code }).toEqual({ path, status, code });
    expect(answer.text).not.toContain('matrix-');
  }
});
