// Random catalogs and changes. Compares the visibility rule in SQL with the same rule in
// TypeScript, and the narrowed queries for changes with queries over the whole history.
import { type Api, byDepth } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { changedTemplates, removedTemplates } from '../../src/catalog/changes/since.ts';
import { NO_ID } from '../../src/catalog/changes/state.ts';
import { templateSources, visibleFrom, visiblePeriods, visibleTemplates } from '../../src/catalog/visibility.ts';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import type { Viewer } from '../../src/identity/principal.ts';
import { startWorld, type TestOrganization } from '../world.ts';
import {
  applyStep,
  type CatalogModel,
  grantKey,
  newIds,
  ORGANIZATIONS,
  scenarios,
  type TemplateScope,
  writeModel,
} from './generated.ts';

const SCENARIOS = byDepth({ short: 5, full: 50, long: 1000 });

const world = await startWorld();
const { client } = world.database;
afterAll(() => world.stop());

const organizations: TestOrganization[] = [];
for (let n = 0; n < ORGANIZATIONS; n++) organizations.push(await world.anOrganization());

type Caller = 'anonymous' | 'administrator' | number;
const callers: readonly { readonly caller: Caller; readonly viewer: Viewer; readonly api: Api }[] = [
  { caller: 'anonymous', viewer: { kind: 'anonymous' }, api: world.anonymous },
  { caller: 'administrator', viewer: { kind: 'administrator' }, api: await world.aUser('admin') },
  ...organizations.map((organization, caller) => ({
    caller,
    viewer: { kind: 'organization', orgId: organization.id } as const,
    api: world.as(organization),
  })),
];

/** The visibility rule in TypeScript. */
function sees(
  caller: Caller,
  { isPublic, category, owner }: TemplateScope,
  { privacy, grants }: CatalogModel,
): boolean {
  if (caller === 'administrator') return true;
  const isOpen = privacy[category] === false;
  if (isPublic && isOpen) return true;
  if (caller === 'anonymous') return false;
  if (owner === caller) return true;
  const isOwnedByAnother = owner !== undefined && owner !== caller;
  return !isOpen && grants.has(grantKey(caller, category)) && (isPublic || !isOwnedByAnother);
}

function isListed(caller: Caller, category: number, { privacy, grants }: CatalogModel): boolean {
  if (caller === 'administrator' || privacy[category] === false) return true;
  return caller !== 'anonymous' && grants.has(grantKey(caller, category));
}

const expectedOf = (caller: Caller, model: CatalogModel) => {
  const seen = model.templates.flatMap((given, n) => (given && sees(caller, given, model) ? [{ ...given, n }] : []));
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

async function foundBy(api: Api) {
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
  return { list: slugsOf(body.templates), slugs, updates: slugsOf(updates.body.templates), counts };
}

test(
  'every endpoint follows the visibility rule, and narrowed queries for changes return the rows of the full queries',
  async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async ({ steps, ...given }) => {
        const ids = newIds(organizations.map(({ id }) => id));
        const grants = new Set(given.grants.map(([organization, category]) => grantKey(organization, category)));
        const model: CatalogModel = { privacy: [...given.privacy], templates: [...given.templates], grants };
        const times = [await catalogTime()];
        await writeCatalog(world.database, (catalog) => writeModel(catalog, ids, model));
        for (const step of steps) {
          times.push(await catalogTime());
          await writeCatalog(world.database, (catalog) => applyStep(catalog, ids, { model, step }));
        }
        await Promise.all(
          callers.map(async ({ caller, viewer, api }) => {
            expect({ caller, found: await foundBy(api) }).toEqual({ caller, found: expectedOf(caller, model) });
            for (const since of times) await expectNarrowedEqualsFull(viewer, since);
          }),
        );
      }),
      seeded({ numRuns: SCENARIOS }),
    );
  },
  180_000 + SCENARIOS * 1000,
);

const catalogTime = async () => (await client.catalogClock.findFirstOrThrow()).at;

/**
 * Compares the narrowed queries for changes with the same queries over every row of the catalog's
 * history.
 */
async function expectNarrowedEqualsFull(viewer: Viewer, since: Date) {
  const ids = async (query: Prisma.Sql) => (await client.$queryRaw<{ id: string }[]>(query)).map(({ id }) => id);
  const changed = Prisma.sql`
    SELECT t.id FROM ${templateSources}
    WHERE ${visibleTemplates(viewer)} AND greatest(t.updated_at, c.shown_at, ${visibleFrom(viewer)}) > ${since}
    ORDER BY greatest(t.updated_at, c.shown_at), t.id`;
  const removed = Prisma.sql`
    SELECT template_id AS id FROM (${visiblePeriods(viewer)}) AS periods (template_id, until)
    GROUP BY template_id HAVING max(until) > ${since} AND max(until) < 'infinity'
    ORDER BY template_id`;
  expect(await ids(changedTemplates(viewer, since, 1000))).toEqual(await ids(changed));
  expect(await ids(removedTemplates(viewer, since, { after: NO_ID, limit: 1000 }))).toEqual(await ids(removed));
}
