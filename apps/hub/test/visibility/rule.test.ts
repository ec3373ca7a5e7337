// Random catalogs and changes of them: compares the visibility rule in SQL with the table of the specification in
// TypeScript, and the narrowed queries for changes with queries over the whole history.
import { type Api, byDepth } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { templateSources } from '../../src/catalog/template-rows.ts';
import { changedTemplates, removedTemplates } from '../../src/catalog/updates.ts';
import { visibleFrom, visiblePeriods, visibleTemplates } from '../../src/catalog/visibility.ts';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import type { Viewer } from '../../src/principal.ts';
import { startWorld, type TestOrganization } from '../world.ts';
import { key, type Model, newRows, ORGANIZATIONS, type Placed, take, worlds, write } from './generated.ts';

const WORLDS = byDepth({ short: 5, full: 50, long: 1000 });

const world = await startWorld();
const { client } = world.database;
afterAll(() => world.stop());

const organizations: TestOrganization[] = [];
for (let n = 0; n < ORGANIZATIONS; n++) organizations.push(await world.anOrganization());

type Seer = 'anonymous' | 'administrator' | number;
const seers: readonly { readonly seer: Seer; readonly viewer: Viewer; readonly api: Api }[] = [
  { seer: 'anonymous', viewer: { kind: 'anonymous' }, api: world.nobody },
  { seer: 'administrator', viewer: { kind: 'administrator' }, api: await world.aUser('admin') },
  ...organizations.map((organization, seer) => ({
    seer,
    viewer: { kind: 'organization', orgId: organization.id } as const,
    api: world.as(organization),
  })),
];

/** The table of the specification, row by row. */
function sees(seer: Seer, { isPublic, category, owner }: Placed, { privacy, grants }: Model): boolean {
  if (seer === 'administrator') return true;
  const isOpen = privacy[category] === false;
  if (isPublic && isOpen) return true;
  if (seer === 'anonymous') return false;
  if (owner === seer) return true;
  const ofAnother = owner !== undefined && owner !== seer;
  return !isOpen && grants.has(key(seer, category)) && (isPublic || !ofAnother);
}

function listed(seer: Seer, category: number, { privacy, grants }: Model): boolean {
  if (seer === 'administrator' || privacy[category] === false) return true;
  return seer !== 'anonymous' && grants.has(key(seer, category));
}

const expectedOf = (seer: Seer, model: Model) => {
  const seen = model.templates.flatMap((given, n) => (given && sees(seer, given, model) ? [{ ...given, n }] : []));
  return {
    list: seen.map(({ n }) => `template-${n}`),
    slugs: seen.map(({ n }) => `template-${n}`),
    updates: seen.map(({ n }) => `template-${n}`),
    counts: model.privacy.flatMap((_, category) =>
      listed(seer, category, model)
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
  'every endpoint shows what the table says, and a narrowed query for changes has the rows of the whole query',
  async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async ({ steps, ...given }) => {
        const rows = newRows(organizations.map(({ id }) => id));
        const grants = new Set(given.grants.map(([organization, category]) => key(organization, category)));
        const model: Model = { privacy: [...given.privacy], templates: [...given.templates], grants };
        const moments = [await now()];
        await writeCatalog(world.database, (catalog) => write(catalog, rows, model));
        for (const step of steps) {
          moments.push(await now());
          await writeCatalog(world.database, (catalog) => take(catalog, rows, { model, step }));
        }
        await Promise.all(
          seers.map(async ({ seer, viewer, api }) => {
            expect([seer, await foundBy(api)]).toEqual([seer, expectedOf(seer, model)]);
            for (const since of moments) await expectNarrowingAlike(viewer, since);
          }),
        );
      }),
      seeded({ numRuns: WORLDS }),
    );
  },
  180_000 + WORLDS * 1000,
);

const now = async () => (await client.catalogClock.findFirstOrThrow()).at;

/** Compares the narrowed queries for changes with the same queries over every row of the catalog's history. */
async function expectNarrowingAlike(viewer: Viewer, since: Date) {
  const ids = async (query: Prisma.Sql) => (await client.$queryRaw<{ id: string }[]>(query)).map(({ id }) => id);
  const changed = Prisma.sql`
    SELECT t.id FROM ${templateSources}
    WHERE ${visibleTemplates(viewer)} AND greatest(t.updated_at, c.shown_at, ${visibleFrom(viewer)}) > ${since}
    ORDER BY greatest(t.updated_at, c.shown_at), t.id`;
  const removed = Prisma.sql`
    SELECT template_id AS id FROM (${visiblePeriods(viewer)}) AS periods (template_id, until)
    GROUP BY template_id HAVING max(until) > ${since} AND max(until) < 'infinity'
    ORDER BY max(until), template_id`;
  expect(await ids(changedTemplates(viewer, since))).toEqual(await ids(changed));
  expect(await ids(removedTemplates(viewer, since))).toEqual(await ids(removed));
}
