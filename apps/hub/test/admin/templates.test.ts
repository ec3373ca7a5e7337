import { templateDefaults, templateExamples, templateFieldNames } from '@svc/contract';
import { checkStoredValues } from '../../src/commands/doctor-values.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const PATH = '/api/v1/admin/templates';
const ABSENT = '00000000-0000-4000-8000-000000000000';

test('creates a template with the declared defaults if only the required members are given', async () => {
  const { id: category_id } = await world.aCategory();
  const { status, body } = await admin.post(PATH, { name: 'Plain Thing', category_id });
  expect(status).toBe(201);
  const required = { name: 'Plain Thing', slug: 'plain-thing', category_id, owner_org_id: null, download_count: 0 };
  expect(body.template).toMatchObject({ ...templateDefaults, ...required });
});

test.each(templateFieldNames)('the column %s has the default that the contract declares', async (field) => {
  const row = await world.aTemplate();
  expect(row[field]).toEqual(templateDefaults[field]);
});

test('stores every member as given and shows it in the catalog', async () => {
  const category = await world.aCategory();
  const owner = await world.anOrganization();
  const given = { name: 'Full', slug: 'full', category_id: category.id, ...templateExamples, owner_org_id: owner.id };
  expect((await admin.post(PATH, given)).body.template).toMatchObject(given);
  const shown = await world.as(owner).get('/api/v1/catalog/templates/full');
  expect(shown.body).toMatchObject({ ...templateExamples, category_name: category.name, category_slug: category.slug });
  expect(shown.body).not.toHaveProperty('owner_org_id');
});

test('changes only the given members of a template, and replaces lists as a whole', async () => {
  const { id } = await world.aTemplate({ description: 'old', tags: ['a', 'b'] });
  const { body } = await admin.put(PATH, { id, tags: ['c'], is_featured: true });
  expect(body.template).toMatchObject({ description: 'old', tags: ['c'], is_featured: true });
});

test.each([
  ['image_tag', '2', '3'],
  ['image_name', 'team/app', 'team/other'],
  ['registry_url', null, 'ghcr.io'],
])('a change of %s without a digest removes the digest', async (member, present, changed) => {
  const image_digest = templateExamples.image_digest;
  const { id } = await world.aTemplate({ image_name: 'team/app', image_tag: '2', image_digest });
  const digestAfter = async (body: object) => (await admin.put(PATH, { id, ...body })).body.template.image_digest;
  expect(await digestAfter({ [member]: present })).toBe(image_digest);
  expect(await digestAfter({ [member]: changed })).toBeNull();
  expect(await digestAfter({ [member]: present, image_digest })).toBe(image_digest);
});

test('accepts a template as it was read, and ignores read-only members', async () => {
  const { slug, id, created_at } = await world.aTemplate();
  const got = (await admin.get(`/api/v1/catalog/templates/${slug}`)).body;
  const { status, body } = await admin.put(PATH, {
    ...got,
    description: 'edited',
    download_count: 99,
    created_at: 'x',
  });
  expect(status).toBe(200);
  expect(body.template).toMatchObject({
    id,
    description: 'edited',
    download_count: 0,
    created_at: created_at.toISOString(),
  });
});

test('keeps updated_at if a request changes nothing', async () => {
  const { id, name, updated_at } = await world.aTemplate();
  const { body } = await admin.put(PATH, { id, name });
  expect(body.template.updated_at).toBe(updated_at.toISOString());
});

test('finds a template by its new name and not by its old name', async () => {
  const { id, slug } = await world.aTemplate({ name: 'Formerly', description: 'first words' });
  await admin.put(PATH, { id, name: 'Nowadays' });
  const find = async (text: string) =>
    (await world.anonymous.get(`/api/v1/catalog/templates?search=${text}`)).body.templates.map(
      (t: { slug: string }) => t.slug,
    );
  expect(await find('nowadays')).toEqual([slug]);
  expect(await find('first')).toEqual([slug]);
  expect(await find('formerly')).toEqual([]);
});

test('clears a nullable member with null, and rejects null for other members', async () => {
  const { id } = await world.aTemplate({ icon_url: 'https://example.com/i.svg' });
  expect((await admin.put(PATH, { id, icon_url: null })).body.template.icon_url).toBeNull();
  expect((await admin.put(PATH, { id, description: null })).body.errors[0].path).toBe('description');
});

test('accepts the id in the query, and rejects a missing id and two different ids', async () => {
  const { id } = await world.aTemplate();
  expect((await admin.put(`${PATH}?id=${id}`, { version: '2' })).body.template.version).toBe('2');
  expect((await admin.put(`${PATH}?id=${id}`, { id, version: '3' })).status).toBe(200);
  expect((await admin.put(`${PATH}?id=${ABSENT}`, { id })).body.errors[0].path).toBe('id');
  expect((await admin.put(PATH, { version: '4' })).body.errors[0].path).toBe('id');
});

test('answers 409 for the slug of another template, in a creation and in a change', async () => {
  const { slug, category_id } = await world.aTemplate();
  const other = await world.aTemplate();
  const taken = { status: 409, body: { code: 'slug_taken' } };
  expect(await admin.post(PATH, { name: 'x', slug, category_id })).toMatchObject(taken);
  expect(await admin.put(PATH, { id: other.id, slug })).toMatchObject(taken);
});

test('creates one template for ten concurrent requests with the same slug, and answers 409 to the others', async () => {
  const { id: category_id } = await world.aCategory();
  const all = await Promise.all(
    Array.from({ length: 10 }, () => admin.post(PATH, { name: 'x', slug: 'contended', category_id })),
  );
  expect(all.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
});

test('answers 422 for an unknown category or owner, and 404 for an unknown template', async () => {
  const { id, category_id } = await world.aTemplate();
  expect((await admin.post(PATH, { name: 'x', category_id: ABSENT })).body.code).toBe('unknown_category');
  expect((await admin.put(PATH, { id, category_id: ABSENT })).body.code).toBe('unknown_category');
  expect((await admin.post(PATH, { name: 'y', category_id, owner_org_id: ABSENT })).body.code).toBe(
    'unknown_organization',
  );
  expect((await admin.put(PATH, { id: ABSENT, name: 'x' })).body.code).toBe('not_found');
});

test.each([
  [{ name: '' }, 'name'],
  [{ slug: 'Upper' }, 'slug'],
  [{ slug: 'updates' }, 'slug'],
  [{ kind: 'Two Words' }, 'kind'],
  [{ min_tier: 'gold' }, 'min_tier'],
  [{ cpu_request: 'lots' }, 'cpu_request'],
  [{ gpu_count: 1.5 }, 'gpu_count'],
  [{ registry_credentials: 'user:password' }, 'registry_credentials'],
  [{ icon_url: 'http://example.com/i.png' }, 'icon_url'],
  [{ ports: [{ containerPort: 70000 }] }, 'ports.0.containerPort'],
  [{ env: [{ name: 'A', value: '1', secret: true }] }, 'env.0.secret'],
  [{ colour: 'red' }, 'colour'],
])('rejects %j with an error for the member %s, and creates nothing', async (wrong, path) => {
  const { id: category_id } = await world.aCategory();
  const { status, body } = await admin.post(PATH, { name: 'Wrong', category_id, ...wrong });
  expect(status).toBe(400);
  expect(body.errors.map((error: { path: string }) => error.path)).toContain(path);
  expect(await world.database.client.template.count({ where: { category_id } })).toBe(0);
});

test('lists all templates unless a page is requested', async () => {
  const total = await world.database.client.template.count();
  const whole = (await admin.get(PATH)).body;
  expect(whole.templates).toHaveLength(total);
  expect(whole.pagination).toEqual({ page: 1, limit: total, total, totalPages: 1 });
  const page = (await admin.get(`${PATH}?limit=2&page=2`)).body;
  expect(page.templates.map((t: { id: string }) => t.id)).toEqual(
    whole.templates.slice(2, 4).map((t: { id: string }) => t.id),
  );
  expect(page.pagination).toEqual({ page: 2, limit: 2, total, totalPages: Math.ceil(total / 2) });
});

test('repeated tags are merged', async () => {
  const { id: category_id } = await world.aCategory();
  const { body } = await admin.post(PATH, { name: 'Repeated', category_id, tags: ['gpu', 'llm', 'gpu'] });
  expect(body.template.tags).toEqual(['gpu', 'llm']);
});

test('what a template has from before a rule remains, and changes of other members are accepted', async () => {
  const stored = { memory_request: '500m', name: 'old\u200bname', icon_url: 'https://ada@example.test/icon.png' };
  const { id } = await world.aTemplate(stored);
  const { body } = await admin.put(`${PATH}?id=${id}`, { description: 'changed' });
  const marked = ['name', 'memory_request', 'icon_url'].map((path) => ({ path, message: expect.any(String) }));
  expect(body.template).toMatchObject({ ...stored, description: 'changed', warnings: marked });
  const { body: listed } = await admin.get(PATH);
  expect(listed.templates.filter(({ warnings }: { warnings: unknown[] }) => warnings.length > 0)).toMatchObject([
    { id },
  ]);
  expect(await checkStoredValues(world.database)).toMatchObject({
    state: 'warning',
    found: expect.stringMatching(/written: 1\.\n.*name: must not contain invisible/),
  });
  const refused = await admin.put(`${PATH}?id=${id}`, { memory_request: '500m' });
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'memory_request' }] } });
  expect(refused.body.errors[0].message).toContain('did you mean 500Mi?');
});
