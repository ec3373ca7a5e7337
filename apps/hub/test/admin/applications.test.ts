// Administration of applications, and what callers of the catalog see of them.
import { pruneHistory } from '../../src/catalog/history.ts';
import { PARTS } from '../objects.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());
const admin = await world.aUser('admin');
const category = await world.aCategory({ slug: 'cms' });
const ADMIN = '/api/v1/admin/applications';
const CATALOG = '/api/v1/catalog/applications';

const ghost = {
  name: 'Ghost',
  category_id: category.id,
  tags: ['Blog'],
  inputs: [{ name: 'mail_password', type: 'secret', required: false }],
  generated: [{ name: 'db_password' }],
  parts: [
    {
      name: 'database',
      image_name: 'library/mysql',
      image_tag: '8.0',
      ports: [{ containerPort: 3306 }],
      env: [{ name: 'MYSQL_PASSWORD', value: `\${generated.db_password}` }],
    },
    {
      name: 'web',
      image_name: 'library/ghost',
      image_tag: '6',
      needs: [{ part: 'database' }],
      ports: [{ containerPort: 2368, publish: true }],
      env: [
        { name: 'url', value: `\${self.url.2368}` },
        { name: 'database__connection__host', value: `\${parts.database.host}` },
      ],
    },
  ],
};

async function created(given: object): Promise<{ id: string; slug: string; resource_version: number }> {
  const { status, body } = await admin.post(ADMIN, { ...ghost, ...given });
  expect(status).toBe(201);
  return body.application;
}

test('a new application is in the catalog with its defaults, and is found by the words and images of its parts', async () => {
  const { id, slug } = await created({});
  expect(slug).toBe('ghost');
  const { body } = await world.anonymous.get(`${CATALOG}/ghost`);
  expect(body).toMatchObject({
    id,
    category_slug: 'cms',
    status: 'active',
    revision: 1,
    inputs: [{ name: 'mail_password', required: false, default: null }],
    generated: [{ name: 'db_password', length: 32, format: 'text' }],
  });
  expect(body.parts).toMatchObject([
    { name: 'database', ports: [{ containerPort: 3306, protocol: 'TCP', publish: false }], needs: [], run: 'once' },
    { name: 'web', needs: [{ part: 'database', until: 'ready' }], ports: [{ publish: true }] },
  ]);
  for (const query of ['q=mysql', 'search=gho', 'tags=blog', 'category=cms', 'tier=free', 'gpu=false']) {
    const found = await world.anonymous.get(`${CATALOG}?${query}`);
    expect({ query, slugs: found.body.applications.map((each: { slug: string }) => each.slug) }).toEqual({
      query,
      slugs: ['ghost'],
    });
  }
  expect((await world.anonymous.get(`${CATALOG}?gpu=true`)).body.pagination.total).toBe(0);
  const summary = await world.anonymous.get(`${CATALOG}?view=summary`);
  expect(summary.body.applications).toMatchObject([{ slug: 'ghost', parts: [], inputs: [], documentation: '' }]);
  expect((await world.anonymous.get('/api/v1/catalog/templates')).body.pagination.total).toBe(0);
});

test('a change increases the revision if it concerns the content, and is refused if the result is not valid', async () => {
  const { id, resource_version } = await created({ name: 'Changed' });
  const refused = await admin.put(ADMIN, { id, generated: [] });
  expect(refused.status).toBe(400);
  expect(refused.body.errors).toEqual([
    {
      path: 'parts.0.env.0.value',
      message:
        'must not contain the placeholder generated.db_password: there is no generated value db_password; there is none',
    },
  ]);
  const renamed = await admin.put(ADMIN, { id, description: 'A blog' }, { 'If-Match': `"${resource_version}"` });
  expect(renamed.body.application).toMatchObject({ description: 'A blog', revision: 2, resource_version: 2 });
  const blocked = await admin.put(ADMIN, { id, status: 'blocked', status_message: 'It loses data.' });
  expect(blocked.body.application).toMatchObject({ status: 'blocked', revision: 2, resource_version: 3 });
  const outdated = await admin.put(ADMIN, { id, description: '' }, { 'If-Match': `"${resource_version}"` });
  expect([outdated.status, outdated.body.code]).toEqual([412, 'version_conflict']);
});

test.each([
  [{ slug: 'a', category_id: '00000000-0000-0000-0000-000000000000' }, 422, 'unknown_category'],
  [{ slug: 'b', owner_org_id: '00000000-0000-0000-0000-000000000000' }, 422, 'unknown_organization'],
  [{ slug: 'taken' }, 409, 'slug_taken'],
  [{ slug: 'updates' }, 400, 'validation_failed'],
  [{ parts: [] }, 400, 'validation_failed'],
  [{ status: 'blocked' }, 400, 'validation_failed'],
])('an application with %j is refused', async (given, status, code) => {
  if (code === 'slug_taken') await created({ slug: 'taken' });
  const { body, status: answered } = await admin.post(ADMIN, { ...ghost, ...given });
  expect([answered, body.code]).toEqual([status, code]);
});

test('administrators list applications by words, by owner, and as an organization sees them', async () => {
  const owner = await world.anOrganization();
  const { id } = await created({ name: 'Owned', owner_org_id: owner.id, is_public: false });
  const idsOf = async (query: string) =>
    (await admin.get(`${ADMIN}?limit=100&${query}`)).body.applications.map((each: { id: string }) => each.id);
  expect(await idsOf(`org_id=${owner.id}`)).toEqual([id]);
  expect(await idsOf('q=owned')).toEqual([id]);
  expect(await idsOf(`as=${owner.id}`)).toContain(id);
  expect(await idsOf(`as=${(await world.anOrganization()).id}`)).not.toContain(id);
  const { body } = await admin.get(`${ADMIN}/${id}`);
  expect(body.application).toMatchObject({ id, owner_org_id: owner.id, warnings: [] });
});

test('a file of an application is read with the rules of import and lint, and nothing is stored', async () => {
  const yaml = 'name: From a file\ncategory: cms\nparts:\n- { name: web, image_name: library/server }\n';
  const { body } = await admin.post(`${ADMIN}/file`, { yaml });
  expect(body.application).toMatchObject({ name: 'From a file', slug: '', category_id: category.id });
  expect(body.warnings.map(({ path }: { path: string }) => path)).toEqual(['parts.0.image_tag', 'parts']);
  expect((await admin.get(`${ADMIN}?q=from+a+file`)).body.pagination.total).toBe(0);
  const wrong = await admin.post(`${ADMIN}/file`, { yaml: yaml.replace('image_name', 'image') });
  const messages = wrong.body.errors.map(({ message }: { message: string }) => message);
  expect(messages).toContainEqual(expect.stringMatching(/^line 4: parts\.0\.image: unknown member; allowed: name, /));
  expect(messages).toContainEqual(expect.stringMatching(/^line 4: parts\.0\.image_name: is required$/));
});

test('a category with an application cannot be deleted', async () => {
  const used = await world.aCategory();
  const { id } = await created({ name: 'In use', category_id: used.id });
  const { status, body } = await admin.delete('/api/v1/admin/categories', { id: used.id });
  expect([status, body.code]).toEqual([409, 'category_in_use']);
  expect(body.detail).toBe('1 application refers to this category. Move or delete all its applications first.');
  expect((await admin.delete(ADMIN, { id })).status).toBe(204);
  expect((await admin.delete('/api/v1/admin/categories', { id: used.id })).status).toBe(204);
});

test('requests with an API key count as downloads of the application', async () => {
  const organization = await world.anOrganization();
  await created({ name: 'Counted' });
  const caller = world.as(organization);
  await caller.get(`${CATALOG}/counted`);
  expect((await caller.get(`${CATALOG}/counted`)).body.download_count).toBe(2);
  await world.usage.flush();
  const [found] = (await world.anonymous.get(`${CATALOG}?q=counted`)).body.applications;
  expect(found.download_count).toBe(2);
});

test('a cursor of templates does not continue a walk of applications', async () => {
  const { body } = await world.anonymous.get('/api/v1/catalog/templates/updates?cursor=start');
  const walk = await world.anonymous.get(`${CATALOG}/updates?cursor=${body.cursor}`);
  expect(walk.body).toMatchObject({ reset: true });
  expect(walk.body.applications.length).toBeGreaterThan(0);
  const next = await world.anonymous.get(`${CATALOG}/updates?cursor=${walk.body.cursor}`);
  expect(next.body).toMatchObject({ reset: false, applications: [], removed: [] });
});

test('a change of an application changes the catalog time of the templates, and no template', async () => {
  const before = (await world.anonymous.get('/api/v1/catalog/templates/updates?cursor=start')).body;
  await created({ name: 'Later', parts: PARTS, inputs: [], generated: [] });
  const after = (await world.anonymous.get(`/api/v1/catalog/templates/updates?cursor=${before.cursor}`)).body;
  expect(after).toMatchObject({ templates: [], removed: [], reset: false });
  expect(Date.parse(after.checked_at)).toBeGreaterThan(Date.parse(before.checked_at));
});

test('a client of a time before the pruned history of applications starts again', async () => {
  const { id } = await created({ name: 'Forgotten' });
  const since = (await world.anonymous.get(`${CATALOG}/updates?since=1970-01-01T00:00:00Z`)).body.checked_at;
  await admin.delete(ADMIN, { id });
  const removed = await world.anonymous.get(`${CATALOG}/updates?since=${since}`);
  expect(removed.body).toMatchObject({ removed: [{ id }], reset: false });
  await pruneHistory(world.database, new Date(Date.now() + 60_000));
  const reset = await world.anonymous.get(`${CATALOG}/updates?since=${since}`);
  expect(reset.body).toMatchObject({ removed: [], reset: true });
});
