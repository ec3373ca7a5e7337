// The ETag changes whenever the response may change, and a 304 reads no template.
import { type Api, byDepth } from '@svc/testing';
import { holding } from '@svc/testing/faults';
import { pruneHistory } from '../../src/catalog/history.ts';
import { type CatalogTransaction, writeCatalog } from '../../src/database/catalog-write.ts';
import { startCountedInstance } from '../visibility/counting-proxy.ts';
import { anInstance, startWorld } from '../world.ts';

const TEMPLATES = '/api/v1/catalog/templates';
const UPDATES = `${TEMPLATES}/updates`;
const NEVER = '1970-01-01T00:00:00Z';

const world = await startWorld();
const { anonymous, as, database, usage, aTemplate, aCategory, aGrant } = world;
const counted = await startCountedInstance(world);
/** A replica whose statements soon time out while they wait for a lock. */
const impatient = anInstance(world.databaseUrl, world.issuer, { limits: { lockTimeoutMs: 200 } });
afterAll(async () => {
  await Promise.all([counted.stop(), impatient.stop()]);
  await world.stop();
});

// A request does not update the row.
const recentlyUsed = { last_used_at: new Date(Date.now() + 3_600_000) };
const organization = await world.anOrganization({}, recentlyUsed);
const another = await world.anOrganization({}, recentlyUsed);
const admin = await world.aUser('admin');
const callers: Readonly<Record<string, Api>> = {
  anonymous,
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
  expect({ status, etag: headers.etag }).toEqual({ status: 200, etag: expect.any(String) });
  return headers.etag ?? '';
}

const getIfChanged = (api: Api, path: string, tag: string) => api.get(path, { 'If-None-Match': tag });

const write = (work: (catalog: CatalogTransaction) => Promise<unknown>) => () => writeCatalog(database, work);
const setPrivate = (is_private: boolean) =>
  write((t) => t.category.update({ where: { id: category.id }, data: { is_private } }));
const setTemplate = (data: { description?: string; is_public?: boolean; owner_org_id?: string }) =>
  write((t) => t.template.update({ where: { id: template.id }, data }));

/** At depth short half of the cells in each turn, the other half in the next turn. */
const isChosen = (turn: number, caller: number, path: number) =>
  byDepth({ short: (turn + caller + path) % 2 === 0, full: true, long: true });

// In this order: each change starts from what the previous one left.
const changes: readonly (readonly [name: string, change: () => Promise<unknown>])[] = [
  ['a change of a template', setTemplate({ description: 'new' })],
  ['a new template', () => aTemplate({ category_id: category.id })],
  [
    'the new name of a category',
    write((t) => t.category.update({ where: { id: category.id }, data: { name: 'New' } })),
  ],
  ['a category that becomes private', setPrivate(true)],
  ['a grant', () => aGrant(another, category)],
  ['the revocation of a grant', write((t) => t.catalogAccess.deleteMany({ where: { org_id: another.id } }))],
  ['a category that becomes open', setPrivate(false)],
  ['hiding a template', setTemplate({ is_public: false })],
  ['a change of the owner of a template', setTemplate({ owner_org_id: another.id })],
  ['the deletion of a template', write((t) => t.template.delete({ where: { id: template.id } }))],
];

test.each(changes.map(([name, change], turn) => ({ name, change, turn })))(
  '$name changes the ETags of all callers whose response may change',
  async ({ change, turn }) => {
    const cells = Object.entries(callers).flatMap(([caller, api], c) =>
      Object.entries(paths)
        .filter((_, p) => isChosen(turn, c, p))
        .map(([request, path]) => ({ caller, request, path, api })),
    );
    const before = await Promise.all(cells.map(async (cell) => ({ ...cell, held: await cell.api.get(cell.path) })));
    await change();
    const expectOther = async ({ caller, request, path, api, held }: (typeof before)[number]) => {
      const [after, current] = await Promise.all([getIfChanged(api, path, held.headers.etag ?? ''), api.get(path)]);
      // The ETags of lists depend on their content; the ETags of updates depend on the catalog
      // clock.
      const isList = request === 'list' || request === 'categories';
      const expected = isList && current.text === held.text ? 304 : 200;
      expect({ caller, request, status: after.status }).toEqual({ caller, request, status: expected });
      if (expected === 200) expect(after.text).toBe(current.text);
    };
    await Promise.all(before.map(expectOther));
  },
);

test('gives each viewer its own ETags, and answers 200 to the ETags of other viewers', async () => {
  for (const path of [paths.since, paths.start]) {
    const tags = await Promise.all(Object.values(callers).map((api) => tagAt(api, path)));
    expect(new Set(tags).size).toBe(tags.length);
    for (const [index, api] of Object.values(callers).entries()) {
      const others = tags.filter((_, other) => other !== index).join(', ');
      expect((await getIfChanged(api, path, others)).status).toBe(200);
    }
  }
});

test('sends the visible templates to a former administrator with an old ETag', async () => {
  const { issuer } = world.issuer;
  const user = await database.client.user.create({
    data: { iss: issuer, sub: 'demoted', role: 'admin', role_set: true },
  });
  const api = world.api(`Bearer ${await world.issuer.sign('demoted')}`);
  await aTemplate({ is_public: false });
  const tag = await tagAt(api, paths.since);
  await database.client.user.update({ where: { id: user.id }, data: { role: 'user' } });
  const { status, body } = await getIfChanged(api, paths.since, tag);
  expect(status).toBe(200);
  expect(body.templates).toEqual((await anonymous.get(paths.since)).body.templates);
});

test('gives each query its own ETag', async () => {
  const { body } = await anonymous.get(paths.start);
  const queries = ['cursor=start', 'cursor=start&limit=1', 'cursor=start&limit=2', `cursor=${body.cursor}`];
  const since = [`since=${NEVER}`, `since=${body.checked_at}`, 'since=9999-01-01T00:00:00Z'];
  const tags = await Promise.all([...queries, ...since].map((query) => tagAt(anonymous, `${UPDATES}?${query}`)));
  expect(new Set(tags).size).toBe(tags.length);
});

test('changes the ETags when pruning raises the floor, because the response may be a reset', async () => {
  const { id } = await aTemplate();
  await writeCatalog(database, (t) => t.template.delete({ where: { id } }));
  const since = paths.since;
  const finished = `${UPDATES}?cursor=${(await anonymous.get(paths.start)).body.cursor}`;
  const before = [await tagAt(anonymous, since), await tagAt(anonymous, finished)];
  await pruneHistory(database, new Date(Date.now() + 3_600_000));
  const bySince = await getIfChanged(anonymous, since, before[0] ?? '');
  const byCursor = await getIfChanged(anonymous, finished, before[1] ?? '');
  expect(bySince).toMatchObject({ status: 200, body: { reset: true } });
  expect(byCursor).toMatchObject({ status: 200, body: { reset: false } });
});

test('a download changes no ETag of lists, updates and categories', async () => {
  const { slug } = await aTemplate();
  const tagsOf = () => Promise.all(Object.values(paths).map((path) => tagAt(anonymous, path)));
  const tags = await tagsOf();
  expect((await as(organization).get(`${TEMPLATES}/${slug}`)).status).toBe(200);
  await usage.flush();
  expect(await tagsOf()).toEqual(tags);
});

const MAX_STATEMENTS = 5; // revision, begin, isolation level, state of the catalog, commit

test.each(['since', 'start'] as const)(
  'a 304 for the request %s takes few statements and reads no template',
  async (request) => {
    const path = paths[request];
    for (const authorization of [undefined, `Bearer ${organization.key}`]) {
      const api = counted.api(authorization);
      const tag = await tagAt(api, path);
      const whole = await counted.during(() => tagAt(api, path));
      const unchanged = await counted.during(async () => expect((await getIfChanged(api, path, tag)).status).toBe(304));
      expect(unchanged).toBeLessThanOrEqual(MAX_STATEMENTS);
      expect(unchanged).toBeLessThan(whole);
    }
  },
);

const LOCKED_TEMPLATES = 'LOCK TABLE templates, template_scopes, categories IN ACCESS EXCLUSIVE MODE';

test('answers 304 while the templates are locked, and 503 to requests that need them', async () => {
  const api = impatient.api();
  const held = await Promise.all(
    [paths.since, paths.start].map(async (path) => ({ path, tag: await tagAt(api, path) })),
  );
  await holding(world.databaseUrl, LOCKED_TEMPLATES, async () => {
    for (const { path, tag } of held) expect((await getIfChanged(api, path, tag)).status).toBe(304);
    const whole = await Promise.all(held.map(({ path }) => api.get(path)));
    expect(whole.map(({ status }) => status)).toEqual(held.map(() => 503));
  });
  for (const { path } of held) expect((await api.get(path)).status).toBe(200);
});
