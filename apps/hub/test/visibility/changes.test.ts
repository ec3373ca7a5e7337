// A change of what callers see takes effect at the next request: for every caller, in every place, on every instance.
import { type Api, byDepth } from '@svc/testing';
import { type CatalogTransaction, writeCatalog } from '../../src/database/catalog-write.ts';
import { anInstance, startWorld } from '../world.ts';
import { countsOf, type Place, places, updatesSince } from './places.ts';
import { aCast, aScene, type Scene, scopeOf } from './scene.ts';
import { type Kind, nowhere, type Row, type Seer, seers, templates } from './table.ts';

const world = await startWorld();
const replica = anInstance(world.databaseUrl, world.issuer);
afterAll(async () => {
  await replica.stop();
  await world.stop();
});
const cast = await aCast(world);

interface Change {
  readonly from: Kind;
  /** Who sees it afterwards. */
  readonly after: Row;
  act(catalog: CatalogTransaction, scene: Scene): Promise<unknown>;
}

const becomes = (from: Kind, to: Kind): Change => ({
  from,
  after: templates[to],
  act: ({ template }, { categories, things }) =>
    template.update({ where: { id: things[0]?.id ?? '' }, data: scopeOf(cast, categories, to) }),
});
const closes = (from: Kind, { is_private, to }: { is_private: boolean; to: Kind }): Change => ({
  from,
  after: templates[to],
  act: ({ category }, { categories }) =>
    category.update({ where: { id: categories[is_private ? 'open' : 'private'].id }, data: { is_private } }),
});

const changes: Readonly<Record<string, Change>> = {
  'a grant': {
    from: 'hidden, private, of nobody',
    after: { ...templates['hidden, private, of nobody'], ungranted: true },
    act: ({ catalogAccess }, { categories }) =>
      catalogAccess.create({ data: { org_id: cast.ungranted.id, category_id: categories.private.id } }),
  },
  'a revocation': {
    from: 'public, private, of another',
    after: { ...templates['public, private, of another'], granted: false },
    act: ({ catalogAccess }, { categories }) =>
      catalogAccess.deleteMany({ where: { org_id: cast.granted.id, category_id: categories.private.id } }),
  },
  'a revocation from the owner': {
    from: 'hidden, private, of granted',
    after: templates['hidden, private, of granted'],
    act: ({ catalogAccess }, { categories }) =>
      catalogAccess.deleteMany({ where: { org_id: cast.granted.id, category_id: categories.private.id } }),
  },
  'a category that closes': closes('public, open, of nobody', { is_private: true, to: 'public, private, of nobody' }),
  'a category that closes over hidden ones': closes('hidden, open, of nobody', {
    is_private: true,
    to: 'hidden, private, of nobody',
  }),
  'a category that opens': closes('public, private, of another', { is_private: false, to: 'public, open, of another' }),
  'a category that opens over hidden ones': closes('hidden, private, of nobody', {
    is_private: false,
    to: 'hidden, open, of nobody',
  }),
  'a template that is published': becomes('hidden, open, of nobody', 'public, open, of nobody'),
  'a template that is hidden': becomes('public, open, of ungranted', 'hidden, open, of ungranted'),
  'a template that is published in private': becomes('hidden, private, of another', 'public, private, of another'),
  'a template that gets an owner': becomes('hidden, private, of nobody', 'hidden, private, of ungranted'),
  'a template that changes hands': becomes('hidden, open, of granted', 'hidden, open, of ungranted'),
  'a template that loses its owner': becomes('hidden, private, of another', 'hidden, private, of nobody'),
  'a move into private': becomes('public, open, of nobody', 'public, private, of nobody'),
  'a move into the open': becomes('hidden, private, of nobody', 'hidden, open, of nobody'),
  'a removal': {
    from: 'public, private, of nobody',
    after: nowhere,
    act: ({ template }, { things }) => template.delete({ where: { id: things[0]?.id ?? '' } }),
  },
};

const instances = [world, replica];

const FILTERS: readonly Place[] = ['search', 'tags', 'category', 'featured'];
const allPlaces = Object.keys(places) as Place[]; // of a record of places
/** Every place, with only one of the filters of the list. */
const somePlaces = (turn: number): Place[] =>
  allPlaces.filter((place) => !FILTERS.includes(place) || place === FILTERS[turn % FILTERS.length]);

/** What one caller asks one instance. */
interface Look {
  readonly seer: Seer;
  readonly api: Api;
  readonly places: readonly Place[];
}

/** Pairs of callers with the same rows in the table. */
const ALIKE: readonly (readonly Seer[])[] = [
  ['nobody', 'member'],
  ['admin', 'superadmin'],
];
/** Every caller, with only one of each pair. */
const someSeers = (turn: number): Seer[] =>
  seers.filter((seer) => !ALIKE.some((pair) => pair.includes(seer) && pair[turn % pair.length] !== seer));

/**
 * Every caller asks every instance in every place. At depth short the callers, the instance and the filter alternate with the
 * turn.
 */
const looksOf = (turn: number): Look[] =>
  byDepth({ short: someSeers(turn), full: seers, long: seers }).flatMap((seer, n) =>
    instances
      .filter((_, instance) => byDepth({ short: (turn + n) % instances.length === instance, full: true, long: true }))
      .map(({ api }) => ({
        seer,
        api: api(cast.authorizations[seer]),
        places: byDepth({ short: somePlaces(turn + n), full: allPlaces, long: allPlaces }),
      })),
  );

/** Every caller finds the one template in every place, or in none, as the row says. The counts agree with it. */
async function expectSeen(looks: readonly Look[], scene: Scene, row: Row) {
  const look = async ({ seer, api, places: wanted }: Look) => {
    for (const place of wanted) {
      const found = await places[place](api, scene);
      expect({ seer, place, found: found.length }).toEqual({ seer, place, found: +row[seer] });
    }
    const { open = 0, private: closed = 0 } = await countsOf(api, scene);
    expect({ seer, atMost: open + closed <= +row[seer] }).toEqual({ seer, atMost: true });
  };
  await Promise.all(looks.map(look));
}

const cells = Object.entries(changes).map(([name, change], turn) => ({ name, change, turn }));

test.each(cells)('$name takes effect at the next request', async ({ name, change: { from, after, act }, turn }) => {
  const scene = await aScene(world, cast, { mark: name.replaceAll(' ', ''), kinds: [from] });
  const before = templates[from];
  const looks = looksOf(turn);
  await expectSeen(looks, scene, before);
  const { checkedAt } = await updatesSince(world.api(), '1970-01-01T00:00:00Z');
  await writeCatalog(world.database, (catalog) => act(catalog, scene));
  await expectSeen(looks, scene, after);

  const [thing] = scene.things;
  for (const { seer, api } of looks) {
    const { templates: sent, removed } = await updatesSince(api, checkedAt);
    expect({ seer, removed }).toEqual({ seer, removed: before[seer] && !after[seer] ? [thing?.id] : [] });
    if (!before[seer]) expect({ seer, sent }).toEqual({ seer, sent: after[seer] ? [thing?.id] : [] });
    if (!after[seer]) expect({ seer, sent }).toEqual({ seer, sent: [] });
  }
});

test.each([
  ['revoked', () => ({ revoked_at: new Date() })],
  ['expired', () => ({ expires_at: new Date(Date.now() - 1) })],
])('a key that is %s is refused at the next request on both instances', async (_, change) => {
  const organization = await world.anOrganization();
  const apis = [world, replica].map(({ api }) => api(`Bearer ${organization.key}`));
  for (const api of apis) expect((await api.get('/api/v1/catalog/categories')).status).toBe(200);
  await world.database.client.apiKey.update({ where: { id: organization.keyRow.id }, data: change() });
  for (const api of apis) expect((await api.get('/api/v1/catalog/categories')).status).toBe(401);
});

test('a suspended organization is refused from the next request on, until it is active again', async () => {
  const organization = await world.anOrganization();
  const apis = [world, replica].map(({ api }) => api(`Bearer ${organization.key}`));
  for (const [status, expected] of [
    ['active', 200],
    ['suspended', 403],
    ['active', 200],
  ] as const) {
    await world.database.client.organization.update({ where: { id: organization.id }, data: { status } });
    for (const api of apis) expect((await api.get('/api/v1/catalog/categories')).status).toBe(expected);
  }
});
