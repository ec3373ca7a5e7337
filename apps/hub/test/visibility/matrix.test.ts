// Compares every way to read templates with the table of visibility.
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { apiOfKind, objectKinds, tablesOf } from '../objects.ts';
import { startWorld } from '../world.ts';
import { createCallers, createFixture, type Fixture } from './fixture.ts';
import { countsOf, type Query, queries, totalOf, updatesSince } from './queries.ts';
import { admittedCallers, categories, kinds, kindsSeenBy, type RefusedCaller, refusals } from './table.ts';

const world = await startWorld();
afterAll(() => world.stop());
const callers = await createCallers(world);
const fixture = await createFixture(world, callers, { label: 'matrix', kinds });
const ofApplications = await createFixture(world, callers, { label: 'applications', kinds, of: 'applications' });
const slugIn =
  ({ rows }: Fixture) =>
  (kind: string) =>
    rows.find((row) => row.kind === kind)?.slug;

const allQueries = Object.keys(queries) as Query[]; // the keys of a Record
const cells = admittedCallers.flatMap((caller) => allQueries.map((query) => ({ caller, query })));

test.each(cells)(
  'the query $query shows $caller exactly the templates that the table states',
  async ({ caller, query }) => {
    const found = await queries[query](world.api(callers.authorizations[caller]), fixture);
    expect(found).toEqual(kindsSeenBy(caller).map(slugIn(fixture)).sort());
  },
);

test.each(cells)(
  'the query $query shows $caller exactly the applications that the table states',
  async ({ caller, query }) => {
    const api = apiOfKind('applications', world.api(callers.authorizations[caller]));
    const found = await queries[query](api, ofApplications);
    expect(found).toEqual(kindsSeenBy(caller).map(slugIn(ofApplications)).sort());
  },
);

test.each(admittedCallers)('%s receives the total that the table states, for every filter and page', async (caller) => {
  const api = world.api(callers.authorizations[caller]);
  for (const query of ['', 'search=matrix', 'tags=matrix', 'featured=true', 'page=99']) {
    expect({ query, total: await totalOf(api, query) }).toEqual({ query, total: kindsSeenBy(caller).length });
  }
});

test.each(admittedCallers)('%s receives the categories and counts that the table states', async (caller) => {
  const counts = await countsOf(world.api(callers.authorizations[caller]), fixture);
  expect(counts).toEqual({ open: categories.open[caller], private: categories.private[caller] });
});

test.each(objectKinds)('sends the removal of %s exactly to the callers who saw them', async (of) => {
  const { rows } = await createFixture(world, callers, { label: `removed-${of}`, kinds, of });
  const api = apiOfKind(of, world.api());
  const { checkedAt } = await updatesSince(api, '1970-01-01T00:00:00Z');
  await writeCatalog(world.database, (tables) =>
    tablesOf(of, tables).template.deleteMany({ where: { id: { in: rows.map(({ id }) => id) } } }),
  );
  for (const caller of admittedCallers) {
    const { removed } = await updatesSince(apiOfKind(of, world.api(callers.authorizations[caller])), checkedAt);
    const sent = rows.filter(({ id }) => removed.includes(id)).map(({ kind }) => kind);
    expect({ caller, sent: sent.sort() }).toEqual({ caller, sent: kindsSeenBy(caller).sort() });
    expect(removed).toHaveLength(sent.length);
  }
});

const READS = [
  '/api/v1/catalog/templates',
  '/api/v1/catalog/templates?search=matrix',
  '/api/v1/catalog/templates/matrix-public-open-owner-none',
  '/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z',
  '/api/v1/catalog/categories',
  '/api/v1/catalog/applications',
  '/api/v1/catalog/applications/applications-public-open-owner-none',
  '/api/v1/catalog/applications/updates?since=1970-01-01T00:00:00Z',
  '/api/v1/catalog/applications/applications-public-open-owner-none/changelog',
];

test.each(Object.keys(refusals) as RefusedCaller[])(
  'rejects %s at every endpoint, and shows nothing',
  async (caller) => {
    const { status, code } = refusals[caller];
    for (const path of READS) {
      const answer = await world.api(callers.authorizations[caller]).get(path);
      expect({ path, status: answer.status, code: answer.body.code }).toEqual({ path, status, code });
      expect(answer.text).not.toMatch(/matrix-|applications-/);
    }
  },
);
