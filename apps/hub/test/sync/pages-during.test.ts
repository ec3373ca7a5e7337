// A client that syncs by cursor has every change of the catalog that is made during its sync by the end of it.
import { type Api, byDepth } from '@svc/testing';
import { type CatalogTransaction, writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';
import { clientByCursor, listingOf, lostIn } from './mirror.ts';

const world = await startWorld();
const { nobody, as, database, aTemplate, aCategory, aGrant } = world;
afterAll(() => world.stop());

const organization = await world.anOrganization();
const others = await aCategory();

const FIRST_ID = '00000000-0000-7000-8000-000000000000';
const LAST_ID = 'ffffffff-ffff-7fff-bfff-ffffffffffff';

type Row = { readonly id: string };
/** A template that the walk has sent, and one that it has not come to; both in a category of their own. */
interface Scene {
  readonly sent: Row;
  readonly ahead: Row;
  readonly category: Row;
}

const write = (work: (catalog: CatalogTransaction) => Promise<unknown>) => writeCatalog(database, work);
const set = ({ id }: Row, data: { description?: string; is_public?: boolean; category_id?: string; slug?: string }) =>
  write(({ template }) => template.update({ where: { id }, data }));
const remove = ({ id }: Row) => write(({ template }) => template.delete({ where: { id } }));
const setPrivate = ({ category }: Scene, is_private: boolean) =>
  write((t) => t.category.update({ where: { id: category.id }, data: { is_private } }));
const revoke = ({ category }: Scene) =>
  write((t) => t.catalogAccess.deleteMany({ where: { category_id: category.id } }));

const happenings: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  'an edit of what was sent': ({ sent }) => set(sent, { description: 'new' }),
  'an edit of what is ahead': ({ ahead }) => set(ahead, { description: 'new' }),
  'an edit of both, again and again': async ({ sent, ahead }) => {
    for (const description of ['a', 'b', 'c']) for (const row of [ahead, sent]) await set(row, { description });
  },
  'what was sent is hidden': ({ sent }) => set(sent, { is_public: false }),
  'what is ahead is hidden': ({ ahead }) => set(ahead, { is_public: false }),
  'what was sent is removed': ({ sent }) => remove(sent),
  'what is ahead is removed': ({ ahead }) => remove(ahead),
  'what was sent is hidden and shown again': async ({ sent }) => {
    await set(sent, { is_public: false });
    await set(sent, { is_public: true });
  },
  'what is ahead moves away and comes back': async ({ ahead, category }) => {
    await set(ahead, { category_id: (await aCategory({ is_private: true })).id });
    await set(ahead, { category_id: category.id });
  },
  'something new before what was sent': () => aTemplate({ id: FIRST_ID, category_id: others.id }),
  'something new behind all': () => aTemplate({ id: LAST_ID, category_id: others.id }),
  'something new that goes again': async () => remove(await aTemplate({ category_id: others.id })),
  'the slugs are swapped': async ({ sent, ahead }) => {
    await set(sent, { slug: 'swapped-on-the-way' });
    await set(ahead, { slug: 'swapped-to-sent' });
    await set(sent, { slug: 'swapped-to-ahead' });
  },
  'the category is renamed': ({ category: { id } }) =>
    write((t) => t.category.update({ where: { id }, data: { name: 'Renamed', slug: `renamed-${id.slice(-8)}` } })),
  'the category closes': (scene) => setPrivate(scene, true),
  'the category closes and opens again': async (scene) => {
    await setPrivate(scene, true);
    await setPrivate(scene, false);
  },
  'the category closes, and is granted': async (scene) => {
    await setPrivate(scene, true);
    await aGrant(organization, scene.category);
  },
  'the category closes, is granted, and revoked': async (scene) => {
    await setPrivate(scene, true);
    await aGrant(organization, scene.category);
    await revoke(scene);
  },
};

const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);

/** Something sent and something ahead of a client that is between two pages. */
async function inTheMiddle(api: Api, kind: 'full' | 'incremental') {
  const client = clientByCursor(api.get, 1);
  if (kind === 'incremental') await client.sync();
  const category = await aCategory();
  const made = [await aTemplate({ category_id: category.id }), await aTemplate({ category_id: category.id })];
  for (;;) {
    const { has_more } = await client.page();
    const [sent, ...more] = made.filter(({ id }) => client.held.has(id));
    const [ahead] = made.filter(({ id }) => !client.held.has(id));
    if (!has_more || more.length > 0) throw new Error('the walk is over');
    if (sent && ahead) return { client, scene: { sent, ahead, category } };
  }
}

/** At depth short each happening occurs once in each kind of sync and once for each caller. */
const isChosen = (kind: number, happening: number, caller: number) =>
  byDepth({ short: (kind + happening + caller) % 2 === 0, full: true, long: true });

const cells = (['full', 'incremental'] as const).flatMap((kind, k) =>
  Object.entries(happenings).flatMap(([happening, happen], h) =>
    Object.entries({ nobody, organization: as(organization) })
      .filter((_, c) => isChosen(k, h, c))
      .map(([caller, api]) => ({ kind, happening, happen, caller, api })),
  ),
);

afterEach(() => write(({ template }) => template.deleteMany()));

test.each(cells)('$happening, during a sync ($kind, $caller)', async ({ kind, happen, api }) => {
  await aTemplate({ category_id: others.id });
  const { client, scene } = await inTheMiddle(api, kind);
  await happen(scene);
  const pages = await client.sync();
  expect(lostIn(client.held, await listingOf(api.get))).toEqual([]);
  expect(pages.filter(({ reset }) => reset)).toEqual([]);
  for (const { templates, removed } of pages) expect(templates.length + removed.length).toBeLessThanOrEqual(1);
  const named = pages.flatMap(({ templates, removed }) => [...idsOf(templates), ...idsOf(removed)]);
  expect(new Set(named).size).toBe(named.length);
  expect(await client.sync()).toMatchObject([{ templates: [], removed: [], has_more: false }]);
});

test('a client that restarts its sync several times holds the whole catalog in the end', async () => {
  const client = clientByCursor(nobody.get, 1);
  for (let round = 0; round < 5; round++) {
    await client.page('start');
    await client.page();
    await remove(await aTemplate({ category_id: others.id }));
    await aTemplate({ category_id: others.id });
  }
  await client.page('start');
  await client.sync();
  expect(lostIn(client.held, await listingOf(nobody.get))).toEqual([]);
});
