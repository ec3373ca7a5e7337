import { pruneHistory } from '../../../src/catalog/history.ts';
import { revisedTemplates } from '../../../src/catalog/revisions/content.ts';
import { writeCatalog } from '../../../src/database/catalog-write.ts';
import { startWorld } from '../../world.ts';

const world = await startWorld();
const { client } = world.database;
const admin = await world.aUser('admin');
const me: { readonly id: string; readonly email: string } = (await admin.get('/api/v1/account/profile')).body.profile;
afterAll(() => world.stop());

const PATH = '/api/v1/admin/templates';
const ABSENT = '00000000-0000-4000-8000-000000000000';

const change = (id: string, body: object) => admin.put(PATH, { id, ...body });
const revisionsOf = async (id: string) => (await admin.get(`${PATH}/${id}/revisions`)).body.revisions;
const changesOf = async (id: string, revision: number, query = '') =>
  (await admin.get(`${PATH}/${id}/revisions/${revision}/changes${query}`)).body.changes;

test('lists the revisions with author, message, version and changed members, newest first', async () => {
  const { id: category_id } = await world.aCategory();
  const created = await admin.post(PATH, { name: 'Listed', category_id, tags: ['a'], message: 'first' });
  const { id } = created.body.template;
  await change(id, { version: '2.0.0', documentation: '# New', message: 'Better text\nin two lines' });
  const author = { author: me.email, author_id: me.id, at: expect.any(String), deleted: false };
  expect(await revisionsOf(id)).toEqual([
    {
      ...author,
      revision: 2,
      version: '2.0.0',
      message: 'Better text\nin two lines',
      changed: ['version', 'documentation'],
    },
    { ...author, revision: 1, version: '1.0.0', message: 'first', changed: ['name', 'slug', 'category_id', 'tags'] },
  ]);
  const page = (await admin.get(`${PATH}/${id}/revisions?limit=1&page=2`)).body;
  expect(page.revisions).toMatchObject([{ revision: 1, message: 'first' }]);
  expect(page.pagination).toEqual({ page: 2, limit: 1, total: 2, totalPages: 2 });
  expect(created.body.template.revision).toBe(1);
});

test('shows the content of each revision, also after the deletion of the template', async () => {
  const { id, slug } = await world.aTemplate({ documentation: '# One', env: [{ name: 'A', value: '1' }] });
  await change(id, { documentation: '# Two', env: [] });
  expect((await admin.delete(`${PATH}?id=${id}`, { message: 'retired' })).status).toBe(204);
  const contentOf = async (revision: number) =>
    (await admin.get(`${PATH}/${id}/revisions/${revision}`)).body.revision.template;
  expect(await contentOf(1)).toMatchObject({ slug, documentation: '# One', env: [{ name: 'A', value: '1' }] });
  expect(await contentOf(2)).toMatchObject({ slug, documentation: '# Two', env: [], owner_org_id: null });
  expect(await contentOf(3)).toBeNull();
  expect(await revisionsOf(id)).toMatchObject([
    { revision: 3, deleted: true, version: null, changed: [], message: 'retired', author: me.email },
    { revision: 2 },
    { revision: 1 },
  ]);
});

test('compares a revision with the one before, with an earlier one and with the defaults', async () => {
  const { id, slug, name, category_id } = await world.aTemplate({ image_tag: '1' });
  await change(id, { image_tag: '2' });
  await change(id, { image_tag: '3', gpu_count: 1 });
  await admin.delete(`${PATH}?id=${id}`);
  expect(await changesOf(id, 3)).toEqual([
    { member: 'image_tag', before: '2', after: '3' },
    { member: 'gpu_count', before: 0, after: 1 },
  ]);
  expect(await changesOf(id, 3, '?since=1')).toContainEqual({ member: 'image_tag', before: '1', after: '3' });
  expect(await changesOf(id, 1)).toEqual([
    { member: 'name', before: null, after: name },
    { member: 'slug', before: null, after: slug },
    { member: 'category_id', before: null, after: category_id },
    { member: 'image_tag', before: 'latest', after: '1' },
  ]);
  const deletion: { member: string; after: unknown }[] = await changesOf(id, 4);
  expect(deletion.map(({ member }) => member)).toEqual(['name', 'slug', 'category_id', 'image_tag', 'gpu_count']);
  expect(deletion.map(({ after }) => after)).toEqual(deletion.map(() => null));
});

test('a member that a revision does not contain, because it was added later, has its default', async () => {
  const { id } = await world.aTemplate();
  await client.$executeRaw`ALTER TABLE template_revisions DISABLE TRIGGER template_history_refuse_change`;
  await client.$executeRaw`UPDATE template_revisions SET content = content - 'stop_grace_seconds' WHERE template_id = ${id}::uuid`;
  await client.$executeRaw`ALTER TABLE template_revisions ENABLE TRIGGER template_history_refuse_change`;
  await change(id, { description: 'x' });
  expect(await revisionsOf(id)).toMatchObject([{ changed: ['description'] }, { revision: 1 }]);
  expect(await changesOf(id, 2)).toEqual([{ member: 'description', before: '', after: 'x' }]);
  const { body } = await admin.get(`${PATH}/${id}/revisions/1`);
  expect(body.revision.template.stop_grace_seconds).toBe(30);
});

test('a change of the status or of advisories has a new version and stamp, and no revision', async () => {
  const { id } = await world.aTemplate();
  const before = (await admin.get(`${PATH}/${id}`)).body.template;
  const { body } = await change(id, { status: 'deprecated', status_message: 'Use another one.' });
  expect(body.template).toMatchObject({ revision: 1, resource_version: 2, status: 'deprecated' });
  expect(Date.parse(body.template.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
  await change(id, { description: 'x' });
  expect((await revisionsOf(id)).map(({ revision }: { revision: number }) => revision)).toEqual([3, 1]);
});

test('two concurrent changes have one revision each, in the order of their commits', async () => {
  const { id } = await world.aTemplate();
  await Promise.all(['one', 'two'].map((description) => change(id, { description, message: description })));
  const revisions: { revision: number; message: string }[] = await revisionsOf(id);
  expect(revisions.map(({ revision }) => revision)).toEqual([3, 2, 1]);
  expect(revisions[0]?.message).toBe((await admin.get(`${PATH}/${id}`)).body.template.description);
});

test('answers 404 for an unknown template, and states which revisions the hub has', async () => {
  const { id } = await world.aTemplate();
  for (const path of ['', '/1', '/1/changes']) {
    expect((await admin.get(`${PATH}/${ABSENT}/revisions${path}`)).status).toBe(404);
  }
  const later = await admin.get(`${PATH}/${id}/revisions/9`);
  expect(later).toMatchObject({ status: 404, body: { detail: expect.stringContaining('no revision 9') } });
  expect((await admin.get(`${PATH}/${id}/revisions/1/changes?since=1`)).body.errors).toMatchObject([{ path: 'since' }]);
});

test.each([
  ['a message of 1,001 characters', 'x'.repeat(1001)],
  ['a control character', 'a\u0007b'],
])('rejects %s, and changes nothing', async (_, message) => {
  const { id } = await world.aTemplate();
  expect((await change(id, { description: 'x', message })).body.errors).toMatchObject([{ path: 'message' }]);
  expect(await revisionsOf(id)).toHaveLength(1);
});

test('the content of a revision has the members that a restoration accepts', async () => {
  const { content } = await client.templateRevision.findFirstOrThrow({
    where: { template_id: (await world.aTemplate()).id },
  });
  const { members, defaults } = revisedTemplates;
  expect([...Object.keys(Object(content)), 'documentation'].sort()).toEqual([...members].sort());
  expect(members.filter((member) => !(member in defaults))).toEqual(['name', 'slug', 'category_id']);
});

describe('revisions are immutable', () => {
  test.each([
    "UPDATE template_revisions SET message = 'x'",
    'DELETE FROM template_revisions',
    'TRUNCATE template_revisions',
    "UPDATE template_texts SET text = 'x'",
    'DELETE FROM template_texts',
    'TRUNCATE template_texts CASCADE',
  ])('%s fails', async (statement) => {
    await world.aTemplate();
    await expect(client.$executeRawUnsafe(statement)).rejects.toThrow('cannot be changed or deleted');
  });
});

describe('pruning', () => {
  /** Sets the time of the revisions of a template back. */
  const age = async (id: string, days: number) => {
    await client.$executeRaw`ALTER TABLE template_revisions DISABLE TRIGGER template_history_refuse_change`;
    await client.$executeRaw`
      UPDATE template_revisions SET at = at - make_interval(days => ${days}::int) WHERE template_id = ${id}::uuid`;
    await client.$executeRaw`ALTER TABLE template_revisions ENABLE TRIGGER template_history_refuse_change`;
  };
  const countOf = (id: string) => client.templateRevision.count({ where: { template_id: id } });

  test('keeps the newest 500 revisions of a template, and the texts that revisions have', async () => {
    const { id } = await world.aTemplate({ documentation: 'text 0' });
    await writeCatalog(
      world.database,
      (transaction) =>
        transaction.$executeRaw`
        DO $$ BEGIN
          FOR n IN 1..505 LOOP
            UPDATE templates SET documentation = 'text ' || n WHERE documentation = 'text ' || n - 1;
          END LOOP;
        END $$`,
    );
    expect(await countOf(id)).toBe(506);
    await pruneHistory(world.database, new Date());
    expect(await countOf(id)).toBe(500);
    const { body } = await admin.get(`${PATH}/${id}/revisions/3`);
    expect(body.detail).toBe(
      'The oldest revision that the hub has is 7. It keeps the newest 500 revisions of each template.',
    );
    const texts = await client.templateText.findMany({ where: { text: { startsWith: 'text ' } } });
    expect(texts).toHaveLength(500);
    expect((await admin.get(`${PATH}/${id}/revisions/7`)).body.revision.template.documentation).toBe('text 6');
  });

  test('forgets a template that was deleted before, with its advisories, and keeps one that was restored', async () => {
    const [forgotten, lately, restored] = await Promise.all([world.aTemplate(), world.aTemplate(), world.aTemplate()]);
    for (const { id } of [forgotten, lately, restored]) {
      const advisory = { severity: 'note', message: 'x', first_revision: 1 };
      expect((await admin.post(`${PATH}/${id}/advisories`, advisory)).status).toBe(201);
      await admin.delete(`${PATH}?id=${id}`);
    }
    for (const { id } of [forgotten, restored]) await age(id, 10);
    await admin.post(`${PATH}/${restored.id}/restore`, { revision: 1 });
    await pruneHistory(world.database, new Date(Date.now() - 9 * 24 * 3_600_000));
    expect(await Promise.all([forgotten, lately, restored].map(({ id }) => countOf(id)))).toEqual([0, 2, 3]);
    const left = await client.templateAdvisory.findMany({
      where: { template_id: { in: [forgotten.id, lately.id, restored.id] } },
    });
    expect(left.map(({ template_id }) => template_id).sort()).toEqual([lately.id, restored.id].sort());
    const listed = (await admin.get('/api/v1/admin/deleted-templates?limit=100')).body.templates;
    expect(listed.map(({ id }: { id: string }) => id)).toContain(lately.id);
    expect(listed.map(({ id }: { id: string }) => id)).not.toContain(forgotten.id);
  });
});
