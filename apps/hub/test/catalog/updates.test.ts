import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { anonymous, as, database, aTemplate, aCategory, aGrant } = world;
afterAll(() => world.stop());

type Api = typeof anonymous;

const updates = async (api: Api, since: string) => {
  const { status, body } = await api.get(`/api/v1/catalog/templates/updates?since=${encodeURIComponent(since)}`);
  expect(status).toBe(200);
  return {
    slugs: body.templates.map(({ slug }: { slug: string }) => slug) as string[],
    removed: body.removed.map(({ id }: { id: string }) => id) as string[],
    checkedAt: body.checked_at as string,
  };
};

const catalogTime = async (api: Api) => (await updates(api, '1970-01-01T00:00:00Z')).checkedAt;

test('sends all visible templates to a first sync, and nothing to the next', async () => {
  const { slug } = await aTemplate();
  const first = await updates(anonymous, '1970-01-01T00:00:00Z');
  expect(first.slugs).toContain(slug);
  expect(await updates(anonymous, first.checkedAt)).toEqual({ slugs: [], removed: [], checkedAt: first.checkedAt });
});

test('sends only changed templates, and advances checked_at', async () => {
  const changed = await aTemplate();
  await aTemplate();
  const before = await catalogTime(anonymous);
  await writeCatalog(database, ({ template }) =>
    template.update({ where: { id: changed.id }, data: { description: 'new' } }),
  );
  const after = await updates(anonymous, before);
  expect(after.slugs).toEqual([changed.slug]);
  expect(Date.parse(after.checkedAt)).toBeGreaterThan(Date.parse(before));
});

test('does not send a template because of a download', async () => {
  const organization = await world.anOrganization();
  const { slug } = await aTemplate();
  const before = await catalogTime(anonymous);
  await as(organization).get(`/api/v1/catalog/templates/${slug}`);
  expect(await updates(anonymous, before)).toEqual({ slugs: [], removed: [], checkedAt: before });
});

test('sends the templates of a renamed category, but not of a category with a new description', async () => {
  const category = await aCategory();
  const { slug } = await aTemplate({ category_id: category.id });
  const before = await catalogTime(anonymous);
  await writeCatalog(database, (t) => t.category.update({ where: { id: category.id }, data: { description: 'new' } }));
  const described = await updates(anonymous, before);
  expect(described.slugs).toEqual([]);
  await writeCatalog(database, (t) => t.category.update({ where: { id: category.id }, data: { name: 'Renamed' } }));
  expect((await updates(anonymous, described.checkedAt)).slugs).toEqual([slug]);
});

test('lists templates in the order in which they, or the names of their categories, were changed', async () => {
  const category = await aCategory();
  const before = await catalogTime(anonymous);
  const renamed = await aTemplate({ category_id: category.id });
  const changed = await aTemplate();
  await writeCatalog(database, (t) => t.category.update({ where: { id: category.id }, data: { name: 'Later' } }));
  expect((await updates(anonymous, before)).slugs).toEqual([changed.slug, renamed.slug]);
});

test('sends templates after a grant and removes them after its revocation, for that organization only', async () => {
  const organization = await world.anOrganization();
  const stranger = await world.anOrganization();
  const category = await aCategory({ is_private: true });
  const { id, slug } = await aTemplate({ category_id: category.id });
  const before = await catalogTime(as(organization));
  await aGrant(organization, category);
  const granted = await updates(as(organization), before);
  expect(granted.slugs).toEqual([slug]);
  expect((await updates(as(stranger), before)).slugs).toEqual([]);

  await writeCatalog(database, (t) => t.catalogAccess.deleteMany({ where: { org_id: organization.id } }));
  expect((await updates(as(organization), granted.checkedAt)).removed).toEqual([id]);
  expect((await updates(as(stranger), before)).removed).toEqual([]);
});

test('removes a template that is hidden, moved to a private category or deleted for callers who saw it', async () => {
  const closed = await aCategory({ is_private: true });
  const hidden = await aTemplate();
  const moved = await aTemplate();
  const deleted = await aTemplate();
  const never = await aTemplate({ is_public: false });
  const before = await catalogTime(anonymous);
  await writeCatalog(database, async ({ template }) => {
    await template.update({ where: { id: hidden.id }, data: { is_public: false } });
    await template.update({ where: { id: moved.id }, data: { category_id: closed.id } });
    await template.delete({ where: { id: deleted.id } });
    await template.delete({ where: { id: never.id } });
  });
  const after = await updates(anonymous, before);
  expect(after.slugs).toEqual([]);
  expect(after.removed.sort()).toEqual([hidden.id, moved.id, deleted.id].sort());
});

test('removes the templates of a category that becomes private, and sends them when it becomes public again', async () => {
  const category = await aCategory();
  const { id, slug } = await aTemplate({ category_id: category.id });
  const setPrivate = (is_private: boolean) =>
    writeCatalog(database, (t) => t.category.update({ where: { id: category.id }, data: { is_private } }));
  const before = await catalogTime(anonymous);
  await setPrivate(true);
  const closed = await updates(anonymous, before);
  expect(closed).toMatchObject({ slugs: [], removed: [id] });
  await setPrivate(false);
  const opened = await updates(anonymous, closed.checkedAt);
  expect(opened).toMatchObject({ slugs: [slug], removed: [] });
  expect(await updates(anonymous, before)).toMatchObject({ slugs: [slug], removed: [] });
});

test('gives concurrent transactions distinct stamps in the order of their commits', async () => {
  const category = await aCategory();
  const made = await Promise.all(Array.from({ length: 20 }, () => aTemplate({ category_id: category.id })));
  const stamps = made.map(({ updated_at }) => updated_at.getTime());
  expect(new Set(stamps).size).toBe(20);
  const commits = await database.client.catalogCommit.findMany({ orderBy: { at: 'desc' }, take: 20 });
  expect(commits.map(({ at }) => at.getTime()).sort()).toEqual(stamps.sort());
});

test('the database rejects a write that does not advance the catalog clock first', async () => {
  const category = await aCategory();
  const data = { name: 'unstamped', slug: 'unstamped', sort_name: '', search_text: '', category_id: category.id };
  await expect(database.client.template.create({ data })).rejects.toThrow(/catalog_clock/);
  await expect(database.client.category.update({ where: { id: category.id }, data: { name: 'x' } })).rejects.toThrow(
    /catalog_clock/,
  );
});

test.each([4999, 5000, 10_001])('sends each of %i removals, which are read in parts', async (count) => {
  const { id: category } = await aCategory();
  const before = await catalogTime(anonymous);
  const deleted = await writeCatalog(
    database,
    (catalog) => catalog.$queryRaw<{ id: string }[]>`
      INSERT INTO template_scopes (template_id, is_public, category_id, valid_from, valid_to)
      SELECT gen_random_uuid(), true, ${category}::uuid, 'epoch', at FROM catalog_clock, generate_series(1, ${count}::int)
      RETURNING template_id AS id`,
  );
  const { removed } = await updates(anonymous, before);
  expect(removed.toSorted()).toEqual(deleted.map(({ id }) => id).sort());
});

test('sends nothing for a since in the future, with the current checked_at', async () => {
  const checkedAt = await catalogTime(anonymous);
  expect(await updates(anonymous, '9999-01-01T00:00:00Z')).toEqual({ slugs: [], removed: [], checkedAt });
});

test.each([
  ['', 'since'],
  ['?since=', 'since'],
  ['?since=now', 'since'],
  ['?since=2026-01-02', 'since'],
  ['?since=2026-01-02T03:04:05', 'since'],
  ['?since=2026-01-02T03:04:05+01:00', 'since'],
  ['?since=2026-02-30T00:00:00Z', 'since'],
  ['?since=1&since=2', 'since'],
])('rejects updates%s with an error for the parameter %s', async (query, path) => {
  const answer = await anonymous.get(`/api/v1/catalog/templates/updates${query}`);
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].path).toBe(path);
});
