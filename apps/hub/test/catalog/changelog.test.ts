import { startWorld } from '../world.ts';

const world = await startWorld({ publicUrl: 'https://hub.example.test' });
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const ADMIN = '/api/v1/admin/templates';
const changelogOf = (slug: string, query = '') =>
  world.anonymous.get(`/api/v1/catalog/templates/${slug}/changelog${query}`);
const feedOf = async (slug: string) => {
  const { status, headers, text } = await world.anonymous.get(`/api/v1/catalog/templates/${slug}/changelog/feed`);
  return { status, type: headers['content-type'], text };
};

test('lists version, time, message and changed members, newest first, without authors', async () => {
  const { id, slug } = await world.aTemplate();
  const owner = await world.anOrganization();
  await admin.put(ADMIN, { id, version: '1.1.0', image_tag: '2', owner_org_id: owner.id, message: 'A new image' });
  const { body } = await changelogOf(slug);
  expect(body.entries).toEqual([
    {
      revision: 2,
      version: '1.1.0',
      at: expect.any(String),
      message: 'A new image',
      changed: ['version', 'image_tag'],
    },
    { revision: 1, version: '1.0.0', at: expect.any(String), message: '', changed: null },
  ]);
  expect((await changelogOf(slug, '?limit=1&page=2')).body).toMatchObject({
    entries: [{ revision: 1, changed: null }],
    pagination: { page: 2, limit: 1, total: 2, totalPages: 2 },
  });
});

test('a request is no download, and its entity tag changes only with the entries', async () => {
  const { id, slug } = await world.aTemplate();
  const organization = world.as(await world.anOrganization());
  const path = `/api/v1/catalog/templates/${slug}/changelog`;
  const { headers } = await organization.get(path);
  await organization.get(`/api/v1/catalog/templates/${slug}`);
  await admin.put(ADMIN, { id, status: 'deprecated' });
  await world.aTemplate();
  const conditional = { 'If-None-Match': String(headers.etag) };
  expect((await organization.send({ method: 'GET', path, headers: conditional })).status).toBe(304);
  expect((await world.anonymous.get(`/api/v1/catalog/templates/${slug}`)).body.download_count).toBe(1);
  await admin.put(ADMIN, { id, description: 'x' });
  expect((await organization.send({ method: 'GET', path, headers: conditional })).status).toBe(200);
});

test('the Atom feed shows messages as plain text, with links to the page of the template', async () => {
  const { id, slug } = await world.aTemplate({ name: 'Tom & "Jerry"' });
  await admin.put(ADMIN, { id, description: 'x', message: '<b>bold</b> & ]]> \ufffe' });
  const { status, type, text } = await feedOf(slug);
  expect({ status, type }).toEqual({ status: 200, type: 'application/atom+xml; charset=utf-8' });
  expect(text).toContain('<title>Tom &amp; &quot;Jerry&quot; 1.0.0</title>');
  expect(text).toContain('&lt;b&gt;bold&lt;/b&gt; &amp; ]]&gt; \ufffd\n\nChanged: description</content>');
  expect(text).toContain(`<link rel="alternate" type="text/html" href="https://hub.example.test/templates/${slug}"/>`);
  expect(text.match(/<id>urn:uuid:[0-9a-f-]{36}(?:#\d+)?<\/id>/g)).toEqual([
    `<id>urn:uuid:${id}</id>`,
    `<id>urn:uuid:${id}#2</id>`,
    `<id>urn:uuid:${id}#1</id>`,
  ]);
});
