// The ETag changes whenever the answer may change, and a 304 reads no template.
import { type Api, byDepth } from '@svc/testing';
import { pruneHistory } from '../../src/catalog/prune.ts';
import { type CatalogTransaction, writeCatalog } from '../../src/database/catalog-write.ts';
import { countingWay } from '../visibility/statements.ts';
import { anInstance, startWorld } from '../world.ts';

const TEMPLATES = '/api/v1/catalog/templates';
const UPDATES = `${TEMPLATES}/updates`;
const NEVER = '1970-01-01T00:00:00Z';

const world = await startWorld({ limits: { lockTimeoutMs: 200 } });
const { nobody, as, database, aTemplate, aCategory, aGrant } = world;
const way = await countingWay(world.databaseUrl);
const counted = anInstance(way.url, world.issuer);
afterAll(async () => {
  await counted.stop();
  await way.close();
  await world.stop();
});

const used = { last_used_at: new Date(Date.now() + 3_600_000) }; // as if just used: using the key writes nothing
const [organization, another] = [await world.anOrganization({}, used), await world.anOrganization({}, used)];
const admin = await world.aUser('admin');
const callers: Readonly<Record<string, Api>> = {
  nobody,
  'an organization': as(organization),
  'another organization': as(another),
  'an administrator': admin,
};
const category = await aCategory();
await aGrant(organization, category);
const template = await aTemplate({ category_id: category.id });

const paths = {
  since: `${UPDATES}?since=${NEVER}`,
  start: `${UPDATES}?cursor=start`,
  categories: '/api/v1/catalog/categories',
  list: `${TEMPLATES}?limit=100`,
};

async function tagAt(api: Api, path: string): Promise<string> {
  const { status, headers } = await api.get(path);
  expect([status, headers.etag]).toEqual([200, expect.any(String)]);
  return headers.etag ?? '';
}

const again = (api: Api, path: string, tag: string) => api.get(path, { 'If-None-Match': tag });

const write = (work: (catalog: CatalogTransaction) => Promise<unknown>) => () => writeCatalog(database, work);
const setPrivate = (is_private: boolean) =>
  write((t) => t.category.update({ where: { id: category.id }, data: { is_private } }));
const setTemplate = (data: { description?: string; is_public?: boolean; owner_org_id?: string }) =>
  write((t) => t.template.update({ where: { id: template.id }, data }));

/** At depth short half of the cells, the others at the next turn. */
const isChosen = (turn: number, caller: number, place: number) =>
  byDepth({ short: (turn + caller + place) % 2 === 0, full: true, long: true });

// In this order: each change starts from what the previous one left.
const changes: readonly (readonly [name: string, change: () => Promise<unknown>])[] = [
  ['an edit', setTemplate({ description: 'new' })],
  ['a new template', () => aTemplate({ category_id: category.id })],
  [
    'a category that is renamed',
    write((t) => t.category.update({ where: { id: category.id }, data: { name: 'New' } })),
  ],
  ['a category that closes', setPrivate(true)],
  ['a grant', () => aGrant(another, category)],
  ['a revocation', write((t) => t.catalogAccess.deleteMany({ where: { org_id: another.id } }))],
  ['a category that opens', setPrivate(false)],
  ['a template that is hidden', setTemplate({ is_public: false })],
  ['a template that changes hands', setTemplate({ owner_org_id: another.id })],
  ['a removal', write((t) => t.template.delete({ where: { id: template.id } }))],
];

test.each(changes.map(([name, change], turn) => ({ name, change, turn })))(
  '$name changes the ETags of every caller whose answer may change',
  async ({ change, turn }) => {
    const cells = Object.entries(callers).flatMap(([caller, api], c) =>
      Object.entries(paths)
        .filter((_, p) => isChosen(turn, c, p))
        .map(([place, path]) => ({ caller, place, path, api })),
    );
    const before = await Promise.all(cells.map(async (cell) => ({ ...cell, held: await cell.api.get(cell.path) })));
    await change();
    const expectOther = async ({ caller, place, path, api, held }: (typeof before)[number]) => {
      const [after, current] = await Promise.all([again(api, path, held.headers.etag ?? ''), api.get(path)]);
      // The ETag of a list depends on its bytes, that of the other places on the clock of the catalog.
      const expected = place === 'list' && current.text === held.text ? 304 : 200;
      expect({ caller, place, status: after.status }).toEqual({ caller, place, status: expected });
      if (expected === 200) expect(after.text).toBe(current.text);
    };
    await Promise.all(before.map(expectOther));
  },
);

test('each viewer has tags of its own, and holds nothing with those of another', async () => {
  for (const path of [paths.since, paths.start, paths.categories]) {
    const tags = await Promise.all(Object.values(callers).map((api) => tagAt(api, path)));
    expect(new Set(tags).size).toBe(tags.length);
    for (const [index, api] of Object.values(callers).entries()) {
      const others = tags.filter((_, other) => other !== index).join(', ');
      expect((await again(api, path, others)).status).toBe(200);
    }
  }
});

test('who is no administrator any more is sent what is left', async () => {
  const { issuer } = world.issuer;
  const user = await database.client.user.create({
    data: { iss: issuer, sub: 'demoted', role: 'admin', role_set: true },
  });
  const api = world.api(`Bearer ${await world.issuer.sign('demoted')}`);
  await aTemplate({ is_public: false });
  const tag = await tagAt(api, paths.since);
  await database.client.user.update({ where: { id: user.id }, data: { role: 'user' } });
  const { status, body } = await again(api, paths.since, tag);
  expect(status).toBe(200);
  expect(body.templates).toEqual((await nobody.get(paths.since)).body.templates);
});

test('another query has another tag', async () => {
  const { body } = await nobody.get(paths.start);
  const queries = ['cursor=start', 'cursor=start&limit=1', 'cursor=start&limit=2', `cursor=${body.cursor}`];
  const since = [`since=${NEVER}`, `since=${body.checked_at}`, 'since=9999-01-01T00:00:00Z'];
  const tags = await Promise.all([...queries, ...since].map((query) => tagAt(nobody, `${UPDATES}?${query}`)));
  expect(new Set(tags).size).toBe(tags.length);
});

test('a floor that moved is another tag: the answer may begin from nothing', async () => {
  const { id } = await aTemplate();
  await writeCatalog(database, (t) => t.template.delete({ where: { id } }));
  const [since, finished] = [paths.since, `${UPDATES}?cursor=${(await nobody.get(paths.start)).body.cursor}`];
  const before = [await tagAt(nobody, since), await tagAt(nobody, finished)];
  await pruneHistory(database, new Date(Date.now() + 3_600_000));
  const [bySince, byCursor] = [
    await again(nobody, since, before[0] ?? ''),
    await again(nobody, finished, before[1] ?? ''),
  ];
  expect([bySince.status, bySince.body.reset]).toEqual([200, true]);
  expect([byCursor.status, byCursor.body.reset]).toEqual([200, false]);
});

test('a download makes another tag for the list, and none for updates', async () => {
  const { slug } = await aTemplate();
  const [list, ...others] = [paths.list, paths.since, paths.start, paths.categories];
  const before = await tagAt(nobody, list ?? '');
  const tags = await Promise.all(others.map((path) => tagAt(nobody, path)));
  expect((await as(organization).get(`${TEMPLATES}/${slug}`)).status).toBe(200);
  expect((await again(nobody, list ?? '', before)).status).toBe(200);
  expect(await Promise.all(others.map((path) => tagAt(nobody, path)))).toEqual(tags);
});

const MOST_STATEMENTS = 5; // whose key it is; begin, the isolation, where the catalog stands, commit

test.each(['since', 'start', 'categories'] as const)(
  'a 304 of %s costs few statements, and no look at the templates',
  async (place) => {
    const path = paths[place];
    for (const authorization of [undefined, `Bearer ${organization.key}`]) {
      const api = counted.api(authorization);
      const tag = await tagAt(api, path);
      const whole = await way.during(() => tagAt(api, path));
      const unchanged = await way.during(async () => expect((await again(api, path, tag)).status).toBe(304));
      expect(unchanged).toBeLessThanOrEqual(MOST_STATEMENTS);
      expect(unchanged).toBeLessThan(whole);
    }
  },
);

test('a 304 is answered while the templates are locked, and everything else is answered 503', async () => {
  const held = await Promise.all(
    [paths.since, paths.start].map(async (path) => ({ path, tag: await tagAt(nobody, path) })),
  );
  await database.client.$transaction(
    async (transaction) => {
      await transaction.$executeRaw`LOCK TABLE templates, template_scopes, categories IN ACCESS EXCLUSIVE MODE`;
      for (const { path, tag } of held) expect((await again(nobody, path, tag)).status).toBe(304);
      const whole = await Promise.all(held.map(({ path }) => nobody.get(path)));
      expect(whole.map(({ status }) => status)).toEqual(held.map(() => 503));
    },
    { timeout: 20_000 },
  );
  for (const { path } of held) expect((await nobody.get(path)).status).toBe(200);
});
