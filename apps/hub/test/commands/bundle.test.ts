import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { bundleCatalog } from '../../src/commands/bundle.ts';
import { aSigner, keyringOf, signatureOf } from '../signers.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { client } = world.database;
const admin = await world.aUser('admin');
const folder = mkdtempSync(path.join(tmpdir(), 'bundle-'));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await world.stop();
});

const file = path.join(folder, 'site.bundle');
/** The values in the lines of the file. The members are those that a test compares. */
// biome-ignore lint/suspicious/noExplicitAny: tests check the members that they use.
const linesOf = (): any[] =>
  gunzipSync(readFileSync(file))
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const write = (options: object = {}) => bundleCatalog(file, options)(world.database);

const digest = `sha256:${'a'.repeat(64)}`;
const root = await aSigner();
const signer = await aSigner();
const owner = await world.anOrganization({ slug: 'acme' });
const open = await world.aCategory({ slug: 'open' });
const closed = await world.aCategory({ slug: 'closed', is_private: true });
await world.aTemplate({ slug: 'everybody', category_id: open.id, image_name: 'redis', image_tag: '8' });
await world.aTemplate({
  slug: 'own',
  category_id: closed.id,
  owner_org_id: owner.id,
  is_public: false,
  registry_url: 'registry.example.com:5000',
  image_name: 'team/own',
  image_digest: digest,
});
await admin.post('/api/v1/admin/applications', {
  name: 'Wiki',
  category_id: open.id,
  parts: [{ name: 'web', image_name: 'team/wiki', image_digest: digest }],
});
await client.publisher.create({
  data: { slug: 'acme', name: 'Acme', root: { ...root.key }, keyring: await keyringOf(root), transitions: [] },
});

test('a bundle has the responses of the hub to a full walk of the organization, and the list of its images', async () => {
  expect(await write({ organization: 'acme' })).toMatch(/2 templates and 1 applications as acme sees them.* 3 images$/);
  const [header, first, ...rest] = linesOf();
  expect(header).toMatchObject({
    format: 'svc-catalog-bundle',
    version: 1,
    organization: { id: owner.id, slug: 'acme', tier: 'free', status: 'active' },
  });
  expect(first.page).toMatchObject({ reset: true, removed: [], has_more: false });
  expect(first.page.templates.map(({ slug }: { slug: string }) => slug).sort()).toEqual(['everybody', 'own']);
  expect(rest).toMatchObject([
    { categories: [expect.objectContaining({ slug: 'open' })] },
    { publishers: [{ slug: 'acme', name: 'Acme', keyring: expect.any(String), transitions: [] }] },
    { application_page: { applications: [{ slug: 'wiki', signatures: [] }], reset: true, has_more: false } },
    { end: true },
  ]);
  expect(rest[1].publishers[0].root).toBeUndefined();
  expect(readFileSync(`${file}.images`, 'utf8')).toBe(
    `docker.io/library/redis:8\ndocker.io/team/wiki@${digest}\nregistry.example.com:5000/team/own@${digest}\n`,
  );
});

test('without an organization, it is what everybody sees', async () => {
  await write();
  const [header, { page }, { categories }] = linesOf();
  expect(header.organization).toBeNull();
  expect(page.templates.map(({ slug }: { slug: string }) => slug)).toEqual(['everybody']);
  expect(categories.map(({ slug }: { slug: string }) => slug)).toEqual(['open']);
});

test('it carries signatures, and several pages', async () => {
  const { id } = await client.template.findUniqueOrThrow({ where: { slug: 'everybody' } });
  const shown = (await world.anonymous.get('/api/v1/catalog/templates/everybody')).body;
  const signatures = [await signatureOf(shown, signer)];
  expect((await admin.put('/api/v1/admin/templates', { id, signatures })).status).toBe(200);
  // Each documentation has a megabyte, and a page at most two.
  for (const slug of ['one', 'two', 'three'])
    await world.aTemplate({ slug, category_id: open.id, documentation: 'x'.repeat(900_000) });
  await write();
  const pages = linesOf().flatMap(({ page }) => page ?? []);
  expect(pages.map(({ has_more, reset }) => [has_more, reset])).toEqual([
    [true, true],
    [false, false],
  ]);
  const templates = pages.flatMap((page) => page.templates);
  expect(templates.find(({ slug }) => slug === 'everybody').signatures).toEqual(signatures);
});

test('an unknown organization is refused, and no file is written', async () => {
  rmSync(file);
  await expect(write({ organization: 'nobody' })).rejects.toThrow('No organization has the slug nobody.');
  expect(() => readFileSync(file)).toThrow('ENOENT');
});
