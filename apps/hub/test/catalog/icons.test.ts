import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLog } from '@svc/http';
import { importCatalog } from '../../src/commands/import.ts';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { fetchNextIcon } from '../../src/icons/fetching.ts';
import { typeOfImage } from '../../src/icons/image.ts';
import { deleteUnusedIcons, requestIcons } from '../../src/icons/store.ts';
import { startWorld } from '../world.ts';

/** Images with the first bytes of their formats. */
const png = (width: number, height: number) => {
  const header = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000', 'hex');
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  return header;
};
const jpeg = (width: number, height: number) => {
  const frame = Buffer.from('ffd8ffe000100000000000000000000000000000ffc0000b0800000000', 'hex');
  frame.writeUInt16BE(height, 25);
  frame.writeUInt16BE(width, 27);
  return frame;
};
const webp = (format: string, size: string) =>
  Buffer.concat([
    Buffer.from(`RIFF\0\0\0\0WEBP${format}\0\0\0\0`, 'latin1'),
    Buffer.from(size, 'hex'),
    Buffer.alloc(8),
  ]);

const files: Readonly<Record<string, Buffer | undefined>> = {
  '/icon.png': png(512, 512),
  '/icon.jpg': jpeg(64, 32),
  '/wide.png': png(513, 1),
  '/large.png': Buffer.concat([png(16, 16), Buffer.alloc(65_536)]),
  '/icon.svg': Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
};
let requests: string[] = [];
const server = createServer((req, res) => {
  requests.push(String(req.url));
  const file = files[String(req.url)];
  if (req.url === '/moved.png') res.writeHead(302, { location: '/icon.png' }).end();
  // The stated type has no meaning.
  else res.writeHead(file ? 200 : 404, { 'content-type': 'text/html' }).end(file);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo; // it listens on a port
const address = (name: string) => `http://127.0.0.1:${port}/${name}`;

const world = await startWorld();
const { client } = world.database;
const folder = mkdtempSync(path.join(tmpdir(), 'icons-'));
afterAll(async () => {
  server.close();
  rmSync(folder, { recursive: true });
  await world.stop();
});
beforeEach(() => {
  requests = [];
});

const log = createLog('hub', 'silent');
const restrictTo = new Set(['http', 'loopback', 'own-address'] as const);
const fetchAll = async () => {
  while (await fetchNextIcon({ database: world.database, log, restrictTo })) {
    // Until no icon is requested.
  }
};
/** A template whose `icon_url` a version with icons wrote. */
async function aTemplateWith(name: string, given: Parameters<typeof world.aTemplate>[0] = {}) {
  const template = await world.aTemplate({ ...given, icon_url: address(name) });
  await writeCatalog(world.database, (transaction) => requestIcons(transaction, [template.slug]));
  return template;
}
const iconOf = (slug: string, caller = world.anonymous) => caller.get(`/api/v1/catalog/templates/${slug}/icon`);

test.each([
  ['image/png', png(1, 512)],
  ['image/jpeg', jpeg(512, 1)],
  ['image/webp', webp('VP8 ', '000000' + '9d012a' + '00020002')],
  ['image/webp', webp('VP8L', '2fffc17f00')],
  ['image/webp', webp('VP8X', '00000000' + 'ff0100' + 'ff0100')],
])('the first bytes of a file state that it is %s', (type, bytes) => {
  expect(typeOfImage(bytes)).toBe(type);
});

test.each([
  ['a larger PNG', png(513, 512), /513 x 512 pixels/],
  ['a larger JPEG', jpeg(16, 600), /16 x 600 pixels/],
  ['a larger WebP', webp('VP8X', '00000000' + '000200' + '000000'), /513 x 1 pixels/],
  ['a JPEG without a frame', Buffer.from('ffd8ffe00002ffe00002', 'hex'), /no size/],
  ['a PNG that ends', Buffer.from('89504e470d0a1a0a', 'hex'), /no size/],
  ['a GIF', Buffer.from('GIF89a\x10\0\x10\0'), /neither PNG nor JPEG nor WebP/],
  ['an SVG', Buffer.from('<svg/>'), /neither PNG nor JPEG nor WebP/],
  ['nothing', Buffer.alloc(0), /neither PNG nor JPEG nor WebP/],
])('%s is no icon', (_, bytes, message) => {
  expect(() => typeOfImage(bytes)).toThrow(message);
});

test('an icon is fetched once, stored by its digest, and served without the type that its server states', async () => {
  const [one, other] = [await aTemplateWith('icon.png'), await aTemplateWith('icon.png')];
  expect((await iconOf(one.slug)).status).toBe(404);
  await fetchAll();
  await fetchAll();
  expect(requests).toEqual(['/icon.png', '/icon.png']);
  expect(await client.icon.count()).toBe(1);
  const { status, headers, body } = await iconOf(one.slug);
  expect(status).toBe(200);
  expect(body).toEqual(png(512, 512));
  expect(headers).toMatchObject({
    'content-type': 'image/png',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
  const again = await world.anonymous.get(`/api/v1/catalog/templates/${other.slug}/icon`, {
    'If-None-Match': headers.etag ?? '',
  });
  expect(again.status).toBe(304);
});

test.each(['absent.png', 'wide.png', 'large.png', 'icon.svg', 'moved.png'])(
  'a template whose icon is %s has none, and the hub tries three times',
  async (name) => {
    const { id, slug } = await aTemplateWith(name);
    const makeDue = () =>
      client.templateIcon.update({ where: { template_id: id }, data: { next_attempt_at: new Date(0) } });
    await fetchAll();
    expect((await iconOf(slug)).status).toBe(404);
    for (let attempts = 1; attempts < 3; attempts++) {
      await makeDue();
      await fetchAll();
    }
    expect(requests).toEqual([`/${name}`, `/${name}`, `/${name}`]);
    const stored = await client.templateIcon.findUnique({ where: { template_id: id } });
    expect(stored).toMatchObject({ digest: null, attempts: 3, next_attempt_at: null });
    expect((await world.anonymous.get(`/api/v1/catalog/templates/${slug}`)).status).toBe(200);
  },
);

test('without an allowance, no connection to an address that is not public or without TLS is made', async () => {
  await aTemplateWith('icon.png');
  while (await fetchNextIcon({ database: world.database, log })) {
    // Until no icon is requested.
  }
  expect(requests).toEqual([]);
});

test('an icon has the visibility of its template, and the response shows nothing else', async () => {
  const organization = await world.anOrganization();
  const { id: category_id } = await world.aCategory({ is_private: true });
  const { slug } = await aTemplateWith('icon.jpg', { category_id });
  const { slug: without } = await world.aTemplate();
  await fetchAll();
  const owner = await world.aUser('admin');
  expect((await iconOf(slug, owner)).status).toBe(200);
  const same = { 'X-Request-Id': 'same' };
  const texts = await Promise.all(
    [slug, 'absent', without].map(async (name) => {
      const { status, text } = await world.as(organization).get(`/api/v1/catalog/templates/${name}/icon`, same);
      return `${status} ${text}`;
    }),
  );
  expect(new Set(texts).size).toBe(1);
  expect(texts[0]).toMatch(/^404 /);
});

test('a write of the API and an import request an icon, another URL replaces it, and unused icons are deleted', async () => {
  const admin = await world.aUser('admin');
  const { id: category_id } = await world.aCategory({ slug: 'icons' });
  const { body } = await admin.post('/api/v1/admin/templates', {
    name: 'With an icon',
    category_id,
    icon_url: 'https://example.com/a.png',
  });
  const { id, slug } = body.template;
  const requested = () => client.templateIcon.findUnique({ where: { template_id: id } });
  expect(await requested()).toMatchObject({ url: 'https://example.com/a.png', digest: null });
  await admin.put('/api/v1/admin/templates', { id, description: 'changed' });
  await admin.put('/api/v1/admin/templates', { id, icon_url: 'https://example.com/b.png' });
  expect(await requested()).toMatchObject({ url: 'https://example.com/b.png', attempts: 0 });
  mkdirSync(path.join(folder, 'templates'));
  writeFileSync(path.join(folder, 'categories.yaml'), '- { slug: icons, name: Icons }\n');
  const file = 'name: With an icon\ncategory: icons\nicon_url: https://example.com/c.png\n';
  writeFileSync(path.join(folder, 'templates', `${slug}.yaml`), file);
  await importCatalog(world.database, { folder, dryRun: false });
  expect(await requested()).toMatchObject({ url: 'https://example.com/c.png' });
  await admin.put('/api/v1/admin/templates', { id, icon_url: null });
  expect(await requested()).toBeNull();
  await writeCatalog(world.database, ({ template }) => template.deleteMany());
  await deleteUnusedIcons(client);
  expect([await client.icon.count(), await client.templateIcon.count()]).toEqual([0, 0]);
});

test('an icon of a URL that an earlier version wrote is not shown', async () => {
  const { id, slug } = await aTemplateWith('icon.png');
  await fetchAll();
  expect((await iconOf(slug)).status).toBe(200);
  await writeCatalog(world.database, ({ template }) =>
    template.update({ where: { id }, data: { icon_url: address('icon.jpg') } }),
  );
  expect((await iconOf(slug)).status).toBe(404);
});
