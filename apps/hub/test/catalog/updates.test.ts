import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { nobody, as, database, aTemplate, aCategory, aGrant } = world;
afterAll(() => world.stop());

type Api = typeof nobody;

const updates = async (api: Api, since: string) => {
  const { status, body } = await api.get(`/api/v1/catalog/templates/updates?since=${encodeURIComponent(since)}`);
  expect(status).toBe(200);
  return {
    slugs: body.templates.map(({ slug }: { slug: string }) => slug) as string[],
    removed: body.removed.map(({ id }: { id: string }) => id) as string[],
    checkedAt: body.checked_at as string,
  };
};

const now = async (api: Api) => (await updates(api, '1970-01-01T00:00:00Z')).checkedAt;

test('a first sync sends everything visible, the next one nothing', async () => {
  const { slug } = await aTemplate();
  const first = await updates(nobody, '1970-01-01T00:00:00Z');
  expect(first.slugs).toContain(slug);
  expect(await updates(nobody, first.checkedAt)).toEqual({ slugs: [], removed: [], checkedAt: first.checkedAt });
});

test('only what changed is sent, and checked_at moves with it', async () => {
  const [changed] = [await aTemplate(), await aTemplate()];
  const before = await now(nobody);
  await writeCatalog(database, ({ template }) =>
    template.update({ where: { id: changed.id }, data: { description: 'new' } }),
  );
  const after = await updates(nobody, before);
  expect(after.slugs).toEqual([changed.slug]);
  expect(Date.parse(after.checkedAt)).toBeGreaterThan(Date.parse(before));
});

test('a download is no update', async () => {
  const organization = await world.anOrganization();
  const { slug } = await aTemplate();
  const before = await now(nobody);
  await as(organization).get(`/api/v1/catalog/templates/${slug}`);
  expect(await updates(nobody, before)).toEqual({ slugs: [], removed: [], checkedAt: before });
});

test('a renamed category sends its templates, one whose description changed does not', async () => {
  const category = await aCategory();
  const { slug } = await aTemplate({ category_id: category.id });
  const before = await now(nobody);
  await writeCatalog(database, (t) => t.category.update({ where: { id: category.id }, data: { description: 'new' } }));
  const described = await updates(nobody, before);
  expect(described.slugs).toEqual([]);
  await writeCatalog(database, (t) => t.category.update({ where: { id: category.id }, data: { name: 'Renamed' } }));
  expect((await updates(nobody, described.checkedAt)).slugs).toEqual([slug]);
});

test('a grant sends what it shows, its revocation removes it, for that organization only', async () => {
  const [organization, stranger] = [await world.anOrganization(), await world.anOrganization()];
  const category = await aCategory({ is_private: true });
  const { id, slug } = await aTemplate({ category_id: category.id });
  const before = await now(as(organization));
  await aGrant(organization, category);
  const granted = await updates(as(organization), before);
  expect(granted.slugs).toEqual([slug]);
  expect((await updates(as(stranger), before)).slugs).toEqual([]);

  await writeCatalog(database, (t) => t.catalogAccess.deleteMany({ where: { org_id: organization.id } }));
  expect((await updates(as(organization), granted.checkedAt)).removed).toEqual([id]);
  expect((await updates(as(stranger), before)).removed).toEqual([]);
});

test('a template that is hidden, moved to a private category, or deleted is removed for those who saw it', async () => {
  const closed = await aCategory({ is_private: true });
  const [hidden, moved, deleted] = [await aTemplate(), await aTemplate(), await aTemplate()];
  const never = await aTemplate({ is_public: false });
  const before = await now(nobody);
  await writeCatalog(database, async ({ template }) => {
    await template.update({ where: { id: hidden.id }, data: { is_public: false } });
    await template.update({ where: { id: moved.id }, data: { category_id: closed.id } });
    await template.delete({ where: { id: deleted.id } });
    await template.delete({ where: { id: never.id } });
  });
  const after = await updates(nobody, before);
  expect(after.slugs).toEqual([]);
  expect(after.removed.sort()).toEqual([hidden.id, moved.id, deleted.id].sort());
});

test('a category that becomes private removes its templates, and sends them when it opens again', async () => {
  const category = await aCategory();
  const { id, slug } = await aTemplate({ category_id: category.id });
  const setPrivate = (is_private: boolean) =>
    writeCatalog(database, (t) => t.category.update({ where: { id: category.id }, data: { is_private } }));
  const before = await now(nobody);
  await setPrivate(true);
  const closed = await updates(nobody, before);
  expect(closed).toMatchObject({ slugs: [], removed: [id] });
  await setPrivate(false);
  const opened = await updates(nobody, closed.checkedAt);
  expect(opened).toMatchObject({ slugs: [slug], removed: [] });
  expect(await updates(nobody, before)).toMatchObject({ slugs: [slug], removed: [] });
});

test('stamps are unique to a transaction and grow in commit order, whatever writers do at the same time', async () => {
  const category = await aCategory();
  const made = await Promise.all(Array.from({ length: 20 }, () => aTemplate({ category_id: category.id })));
  const stamps = made.map(({ updated_at }) => updated_at.getTime());
  expect(new Set(stamps).size).toBe(20);
  const commits = await database.client.catalogCommit.findMany({ orderBy: { at: 'desc' }, take: 20 });
  expect(commits.map(({ at }) => at.getTime()).sort()).toEqual(stamps.sort());
});

test('a write that does not begin by moving the clock is refused by the database', async () => {
  const category = await aCategory();
  const data = { name: 'unstamped', slug: 'unstamped', sort_name: '', search_text: '', category_id: category.id };
  await expect(database.client.template.create({ data })).rejects.toThrow(/catalog_clock/);
  await expect(database.client.category.update({ where: { id: category.id }, data: { name: 'x' } })).rejects.toThrow(
    /catalog_clock/,
  );
});

test('a moment in the future answers nothing, with the true checked_at', async () => {
  const checkedAt = await now(nobody);
  expect(await updates(nobody, '9999-01-01T00:00:00Z')).toEqual({ slugs: [], removed: [], checkedAt });
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
])('updates%s is refused, and says what is expected', async (query, path) => {
  const answer = await nobody.get(`/api/v1/catalog/templates/updates${query}`);
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].path).toBe(path);
});
