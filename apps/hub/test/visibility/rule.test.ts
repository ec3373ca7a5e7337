// Random catalogs and changes. Compares the visibility rule in SQL with the same rule in TypeScript.
import { type Api, byDepth } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { apiOfKind, type ObjectKind, objectKinds, tablesOf } from '../objects.ts';
import { startWorld, type TestOrganization } from '../world.ts';
import {
  applyStep,
  type Caller,
  type CatalogModel,
  grantKey,
  newIds,
  ORGANIZATIONS,
  reasonsFor,
  scenarios,
  writeModel,
} from './generated.ts';

/** Most scenarios are of templates, because the code is the same. */
const SCENARIOS = {
  templates: byDepth({ short: 5, full: 50, long: 1000 }),
  applications: byDepth({ short: 3, full: 25, long: 500 }),
};

const world = await startWorld();
afterAll(() => world.stop());

const organizations: TestOrganization[] = [];
for (let n = 0; n < ORGANIZATIONS; n++) organizations.push(await world.anOrganization());

const callers: readonly { readonly caller: Caller; readonly api: Api }[] = [
  { caller: 'anonymous', api: world.anonymous },
  { caller: 'administrator', api: await world.aUser('admin') },
  ...organizations.map((organization, caller) => ({ caller, api: world.as(organization) })),
];

function isListed(caller: Caller, category: number, { privacy, grants }: CatalogModel): boolean {
  if (caller === 'administrator' || privacy[category] === false) return true;
  return caller !== 'anonymous' && grants.has(grantKey(caller, category));
}

const expectedOf = (caller: Caller, model: CatalogModel) => {
  const seen = model.templates.flatMap((given, n) =>
    given && reasonsFor(caller, given, model).length > 0 ? [{ ...given, n }] : [],
  );
  return {
    list: seen.map(({ n }) => `template-${n}`),
    slugs: seen.map(({ n }) => `template-${n}`),
    updates: seen.map(({ n }) => `template-${n}`),
    counts: model.privacy.flatMap((_, category) =>
      isListed(caller, category, model)
        ? [[`category-${category}`, seen.filter((one) => one.category === category).length]]
        : [],
    ),
  };
};

type Named = { readonly slug: string };

async function foundBy(api: Api, kind: ObjectKind) {
  const slugsOf = (templates: readonly Named[]) => templates.map(({ slug }) => slug).sort();
  const { body } = await api.get('/api/v1/catalog/templates');
  expect(body.pagination.total).toBe(body.templates.length);
  const slugs = [];
  for (const slug of ['template-0', 'template-1', 'template-2', 'template-3', 'template-4']) {
    if ((await api.get(`/api/v1/catalog/templates/${slug}`)).status === 200) slugs.push(slug);
  }
  const updates = await api.get('/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z');
  const { categories } = (await api.get('/api/v1/catalog/categories')).body;
  const counts = categories.map(({ slug, template_count }: Named & { template_count: number }) => [
    slug,
    template_count,
  ]);
  const found = { list: slugsOf(body.templates), slugs, updates: slugsOf(updates.body.templates) };
  return kind === 'templates' ? { ...found, counts } : found;
}

test.each(objectKinds)(
  'every endpoint of %s follows the visibility rule',
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(scenarios, async ({ steps, ...given }) => {
        const ids = newIds(organizations.map(({ id }) => id));
        const grants = new Set(given.grants.map(([organization, category]) => grantKey(organization, category)));
        const model: CatalogModel = { privacy: [...given.privacy], templates: [...given.templates], grants };
        await writeCatalog(world.database, (catalog) => writeModel(tablesOf(kind, catalog), ids, model));
        for (const step of steps)
          await writeCatalog(world.database, (catalog) => applyStep(tablesOf(kind, catalog), ids, { model, step }));
        await Promise.all(
          callers.map(async ({ caller, api }) => {
            const { counts, ...objects } = expectedOf(caller, model);
            const expected = kind === 'templates' ? { ...objects, counts } : objects;
            const found = await foundBy(apiOfKind(kind, api), kind);
            expect({ caller, found }).toEqual({ caller, found: expected });
          }),
        );
      }),
      seeded({ numRuns: SCENARIOS[kind] }),
    );
  },
  180_000 + SCENARIOS.templates * 1000,
);
