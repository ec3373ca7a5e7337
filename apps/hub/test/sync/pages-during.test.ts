// At the end of a sync by cursor, the client has every change that was made during the sync.
import { type Api, byDepth } from '@svc/testing';
import { type CatalogTransaction, writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';
import { clientByCursor, listingOf, lostIn } from './mirror.ts';

const world = await startWorld();
const { anonymous, as, database, aTemplate, aCategory, aGrant } = world;
afterAll(() => world.stop());

const organization = await world.anOrganization();
const others = await aCategory();

const FIRST_ID = '00000000-0000-7000-8000-000000000000';
const LAST_ID = 'ffffffff-ffff-7fff-bfff-ffffffffffff';

type Row = { readonly id: string };
/**
 * A template that the walk has sent, and a template that it has not reached. Both are in the same
 * new category.
 */
interface Situation {
  readonly sent: Row;
  readonly pending: Row;
  readonly category: Row;
}

const write = (work: (catalog: CatalogTransaction) => Promise<unknown>) => writeCatalog(database, work);
const set = ({ id }: Row, data: { description?: string; is_public?: boolean; category_id?: string; slug?: string }) =>
  write(({ template }) => template.update({ where: { id }, data }));
const remove = ({ id }: Row) => write(({ template }) => template.delete({ where: { id } }));
const setPrivate = ({ category }: Situation, is_private: boolean) =>
  write((t) => t.category.update({ where: { id: category.id }, data: { is_private } }));
const revoke = ({ category }: Situation) =>
  write((t) => t.catalogAccess.deleteMany({ where: { category_id: category.id } }));

const changes: Readonly<Record<string, (situation: Situation) => Promise<unknown>>> = {
  'a change of a sent template': ({ sent }) => set(sent, { description: 'new' }),
  'a change of a pending template': ({ pending }) => set(pending, { description: 'new' }),
  'repeated changes of a sent and a pending template': async ({ sent, pending }) => {
    for (const description of ['a', 'b', 'c']) for (const row of [pending, sent]) await set(row, { description });
  },
  'hiding a sent template': ({ sent }) => set(sent, { is_public: false }),
  'hiding a pending template': ({ pending }) => set(pending, { is_public: false }),
  'deleting a sent template': ({ sent }) => remove(sent),
  'deleting a pending template': ({ pending }) => remove(pending),
  'hiding and publishing a sent template': async ({ sent }) => {
    await set(sent, { is_public: false });
    await set(sent, { is_public: true });
  },
  'moving a pending template to a private category and back': async ({ pending, category }) => {
    await set(pending, { category_id: (await aCategory({ is_private: true })).id });
    await set(pending, { category_id: category.id });
  },
  'a new template before the sent one': () => aTemplate({ id: FIRST_ID, category_id: others.id }),
  'a new template after all others': () => aTemplate({ id: LAST_ID, category_id: others.id }),
  'a new template that is deleted': async () => remove(await aTemplate({ category_id: others.id })),
  'swapping the slugs of a sent and a pending template': async ({ sent, pending }) => {
    await set(sent, { slug: 'swapped-on-the-way' });
    await set(pending, { slug: 'swapped-to-sent' });
    await set(sent, { slug: 'swapped-to-ahead' });
  },
  'a new name and slug of the category': ({ category: { id } }) =>
    write((t) => t.category.update({ where: { id }, data: { name: 'Renamed', slug: `renamed-${id.slice(-8)}` } })),
  'making the category private': (situation) => setPrivate(situation, true),
  'making the category private and open again': async (situation) => {
    await setPrivate(situation, true);
    await setPrivate(situation, false);
  },
  'making the category private and granting it': async (situation) => {
    await setPrivate(situation, true);
    await aGrant(organization, situation.category);
  },
  'making the category private, granting it and revoking the grant': async (situation) => {
    await setPrivate(situation, true);
    await aGrant(organization, situation.category);
    await revoke(situation);
  },
};

const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);

/** A client between two pages, with a sent and a pending template. */
async function betweenPages(api: Api, kind: 'full' | 'incremental') {
  const client = clientByCursor(api.get, 1);
  if (kind === 'incremental') await client.sync();
  const category = await aCategory();
  const made = [await aTemplate({ category_id: category.id }), await aTemplate({ category_id: category.id })];
  for (;;) {
    const { has_more } = await client.page();
    const [sent, ...more] = made.filter(({ id }) => client.held.has(id));
    const [pending] = made.filter(({ id }) => !client.held.has(id));
    if (!has_more || more.length > 0) throw new Error('the walk ended before the situation occurred');
    if (sent && pending) return { client, situation: { sent, pending, category } };
  }
}

/** At depth short each change occurs once for each kind of sync and once for each caller. */
const isChosen = (kind: number, change: number, caller: number) =>
  byDepth({ short: (kind + change + caller) % 2 === 0, full: true, long: true });

const cells = (['full', 'incremental'] as const).flatMap((kind, k) =>
  Object.entries(changes).flatMap(([change, apply], h) =>
    Object.entries({ anonymous, organization: as(organization) })
      .filter((_, c) => isChosen(k, h, c))
      .map(([caller, api]) => ({ kind, change, apply, caller, api })),
  ),
);

afterEach(() => write(({ template }) => template.deleteMany()));

test.each(cells)(
  'a sync has all changes after $change during the sync ($kind, $caller)',
  async ({ kind, apply, api }) => {
    await aTemplate({ category_id: others.id });
    const { client, situation } = await betweenPages(api, kind);
    await apply(situation);
    const pages = await client.sync();
    expect(lostIn(client.held, await listingOf(api.get))).toEqual([]);
    expect(pages.filter(({ reset }) => reset)).toEqual([]);
    for (const { templates, removed } of pages) expect(templates.length + removed.length).toBeLessThanOrEqual(1);
    const named = pages.flatMap(({ templates, removed }) => [...idsOf(templates), ...idsOf(removed)]);
    expect(new Set(named).size).toBe(named.length);
    expect(await client.sync()).toMatchObject([{ templates: [], removed: [], has_more: false }]);
  },
);

test('a client that restarts its sync several times has the whole catalog at the end', async () => {
  const client = clientByCursor(anonymous.get, 1);
  for (let round = 0; round < 5; round++) {
    await client.page('start');
    await client.page();
    await remove(await aTemplate({ category_id: others.id }));
    await aTemplate({ category_id: others.id });
  }
  await client.page('start');
  await client.sync();
  expect(lostIn(client.held, await listingOf(anonymous.get))).toEqual([]);
});
