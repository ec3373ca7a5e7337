// A change of visibility takes effect at the next request: for every caller, in every query, on
// every instance.
import { type Api, byDepth } from '@svc/testing';
import { type CatalogTransaction, writeCatalog } from '../../src/database/catalog-write.ts';
import { anInstance, startWorld } from '../world.ts';
import { createCallers, createFixture, type Fixture, scopeOf } from './fixture.ts';
import { countsOf, type Query, queries, updatesSince } from './queries.ts';
import { type AdmittedCaller, admittedCallers, type Kind, type Row, templates, visibleToNone } from './table.ts';

const world = await startWorld();
const replica = anInstance(world.databaseUrl, world.issuer);
afterAll(async () => {
  await replica.stop();
  await world.stop();
});
const callers = await createCallers(world);

interface Change {
  readonly from: Kind;
  /** The callers that see the template afterwards. */
  readonly after: Row;
  apply(catalog: CatalogTransaction, fixture: Fixture): Promise<unknown>;
}

const changesScope = (from: Kind, to: Kind): Change => ({
  from,
  after: templates[to],
  apply: ({ template }, { categories, rows }) =>
    template.update({ where: { id: rows[0]?.id ?? '' }, data: scopeOf(callers, categories, to) }),
});
const changesPrivacy = (from: Kind, { is_private, to }: { is_private: boolean; to: Kind }): Change => ({
  from,
  after: templates[to],
  apply: ({ category }, { categories }) =>
    category.update({ where: { id: categories[is_private ? 'open' : 'private'].id }, data: { is_private } }),
});

const changes: Readonly<Record<string, Change>> = {
  'a grant': {
    from: 'hidden, private, owner none',
    after: { ...templates['hidden, private, owner none'], ungranted: true },
    apply: ({ catalogAccess }, { categories }) =>
      catalogAccess.create({ data: { org_id: callers.ungranted.id, category_id: categories.private.id } }),
  },
  'the revocation of a grant': {
    from: 'public, private, owner another',
    after: { ...templates['public, private, owner another'], granted: false },
    apply: ({ catalogAccess }, { categories }) =>
      catalogAccess.deleteMany({ where: { org_id: callers.granted.id, category_id: categories.private.id } }),
  },
  'the revocation of a grant of the owner': {
    from: 'hidden, private, owner granted',
    after: templates['hidden, private, owner granted'],
    apply: ({ catalogAccess }, { categories }) =>
      catalogAccess.deleteMany({ where: { org_id: callers.granted.id, category_id: categories.private.id } }),
  },
  'a category that becomes private': changesPrivacy('public, open, owner none', {
    is_private: true,
    to: 'public, private, owner none',
  }),
  'a category with a hidden template that becomes private': changesPrivacy('hidden, open, owner none', {
    is_private: true,
    to: 'hidden, private, owner none',
  }),
  'a category that becomes open': changesPrivacy('public, private, owner another', {
    is_private: false,
    to: 'public, open, owner another',
  }),
  'a category with a hidden template that becomes open': changesPrivacy('hidden, private, owner none', {
    is_private: false,
    to: 'hidden, open, owner none',
  }),
  'publishing a template': changesScope('hidden, open, owner none', 'public, open, owner none'),
  'hiding a template': changesScope('public, open, owner ungranted', 'hidden, open, owner ungranted'),
  'publishing a template in a private category': changesScope(
    'hidden, private, owner another',
    'public, private, owner another',
  ),
  'an owner for a template without owner': changesScope(
    'hidden, private, owner none',
    'hidden, private, owner ungranted',
  ),
  'a change of the owner of a template': changesScope('hidden, open, owner granted', 'hidden, open, owner ungranted'),
  'the removal of the owner of a template': changesScope(
    'hidden, private, owner another',
    'hidden, private, owner none',
  ),
  'a move to a private category': changesScope('public, open, owner none', 'public, private, owner none'),
  'a move to an open category': changesScope('hidden, private, owner none', 'hidden, open, owner none'),
  'the deletion of a template': {
    from: 'public, private, owner none',
    after: visibleToNone,
    apply: ({ template }, { rows }) => template.delete({ where: { id: rows[0]?.id ?? '' } }),
  },
};

const instances = [world, replica];

const FILTERS: readonly Query[] = ['search', 'tags', 'category', 'featured'];
const allQueries = Object.keys(queries) as Query[]; // the keys of a Record
/** All queries, but only one of the filters of the list. */
const someQueries = (turn: number): Query[] =>
  allQueries.filter((query) => !FILTERS.includes(query) || query === FILTERS[turn % FILTERS.length]);

/** The queries of one caller to one instance. */
interface Probe {
  readonly caller: AdmittedCaller;
  readonly api: Api;
  readonly queries: readonly Query[];
}

/** Pairs of callers with the same visibility in the table. */
const EQUAL_CALLERS: readonly (readonly AdmittedCaller[])[] = [
  ['anonymous', 'member'],
  ['admin', 'superadmin'],
];
/** All callers, but only one of each pair. */
const someCallers = (turn: number): AdmittedCaller[] =>
  admittedCallers.filter(
    (caller) => !EQUAL_CALLERS.some((pair) => pair.includes(caller) && pair[turn % pair.length] !== caller),
  );

/**
 * Every caller sends every query to every instance. At depth short the callers, the instance and
 * the filter alternate with the turn.
 */
const probesFor = (turn: number): Probe[] =>
  byDepth({ short: someCallers(turn), full: admittedCallers, long: admittedCallers }).flatMap((caller, n) =>
    instances
      .filter((_, instance) => byDepth({ short: (turn + n) % instances.length === instance, full: true, long: true }))
      .map(({ api }) => ({
        caller,
        api: api(callers.authorizations[caller]),
        queries: byDepth({ short: someQueries(turn + n), full: allQueries, long: allQueries }),
      })),
  );

/**
 * Expects that each caller finds the template with every query or with none, as the row states, and
 * that counts agree.
 */
async function expectSeen(probes: readonly Probe[], fixture: Fixture, row: Row) {
  const probe = async ({ caller, api, queries: wanted }: Probe) => {
    for (const query of wanted) {
      const found = await queries[query](api, fixture);
      expect({ caller, query, found: found.length }).toEqual({ caller, query, found: +row[caller] });
    }
    const { open = 0, private: closed = 0 } = await countsOf(api, fixture);
    expect({ caller, atMost: open + closed <= +row[caller] }).toEqual({ caller, atMost: true });
  };
  await Promise.all(probes.map(probe));
}

const cells = Object.entries(changes).map(([name, change], turn) => ({ name, change, turn }));

test.each(cells)('$name takes effect at the next request', async ({ change: { from, after, apply }, turn }) => {
  const fixture = await createFixture(world, callers, {
    label: `change-${String(turn).padStart(2, '0')}`,
    kinds: [from],
  });
  const before = templates[from];
  const probes = probesFor(turn);
  await expectSeen(probes, fixture, before);
  const { checkedAt } = await updatesSince(world.api(), '1970-01-01T00:00:00Z');
  await writeCatalog(world.database, (catalog) => apply(catalog, fixture));
  await expectSeen(probes, fixture, after);

  const [row] = fixture.rows;
  for (const { caller, api } of probes) {
    const { templates: sent, removed } = await updatesSince(api, checkedAt);
    expect({ caller, removed }).toEqual({ caller, removed: before[caller] && !after[caller] ? [row?.id] : [] });
    if (!before[caller]) expect({ caller, sent }).toEqual({ caller, sent: after[caller] ? [row?.id] : [] });
    if (!after[caller]) expect({ caller, sent }).toEqual({ caller, sent: [] });
  }
});

test.each([
  ['revoked', () => ({ revoked_at: new Date() })],
  ['expired', () => ({ expires_at: new Date(Date.now() - 1) })],
])('both instances reject a key that is %s at the next request', async (_, change) => {
  const organization = await world.anOrganization();
  const apis = [world, replica].map(({ api }) => api(`Bearer ${organization.key}`));
  for (const api of apis) expect((await api.get('/api/v1/catalog/categories')).status).toBe(200);
  await world.database.client.apiKey.update({ where: { id: organization.keyRow.id }, data: change() });
  for (const api of apis) expect((await api.get('/api/v1/catalog/categories')).status).toBe(401);
});

test('both instances reject a suspended organization at the next request, until it is active again', async () => {
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
