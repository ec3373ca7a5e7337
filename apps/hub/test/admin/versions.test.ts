import { randomUUID } from 'node:crypto';
import { type Answered, byDepth } from '@svc/testing';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';

const ROUNDS = byDepth({ short: 5, full: 30, long: 200 });

const world = await startWorld();
const { client } = world.database;
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const ABSENT = '00000000-0000-4000-8000-000000000000';

interface Kind {
  readonly path: string;
  /** The member of responses that contains the object, and the one that contains a list. */
  readonly member: string;
  readonly list: string;
  readonly version: 'version' | 'resource_version';
  readonly create: () => Promise<{ readonly id: string }>;
  /** A change, with a different value for each number. */
  readonly change: (n: number) => Record<string, unknown>;
}

const kinds: Readonly<Record<string, Kind>> = {
  template: {
    path: '/api/v1/admin/templates',
    member: 'template',
    list: 'templates',
    version: 'resource_version',
    create: () => world.aTemplate(),
    change: (n) => ({ description: `change ${n}` }),
  },
  category: {
    path: '/api/v1/admin/categories',
    member: 'category',
    list: 'categories',
    version: 'version',
    create: () => world.aCategory(),
    change: (n) => ({ description: `change ${n}` }),
  },
  organization: {
    path: '/api/v1/admin/organizations',
    member: 'organization',
    list: 'organizations',
    version: 'version',
    create: () => world.anOrganization(),
    change: (n) => ({ tier: n % 2 === 0 ? 'pro' : 'enterprise' }),
  },
  user: {
    path: '/api/v1/admin/users',
    member: 'user',
    list: 'users',
    version: 'version',
    create: () => client.user.create({ data: { iss: 'https://issuer.example.test', sub: randomUUID() } }),
    change: (n) => ({ role: n % 2 === 0 ? 'admin' : 'user' }),
  },
};

const withGet = ['template', 'category', 'organization'];
const withDelete = ['template', 'category'];
const all = Object.keys(kinds);
const kindOf = (name: string) => {
  const kind = kinds[name];
  if (!kind) throw new Error(`unknown kind ${name}`);
  return kind;
};

const listed = async ({ path, list }: Kind, id: string) =>
  (await admin.get(path)).body[list].find((row: { id: string }) => row.id === id);

test.each(withGet)('returns one %s with its version and an entity tag, and 304 for this entity tag', async (name) => {
  const kind = kindOf(name);
  const { id } = await kind.create();
  const got = await admin.get(`${kind.path}/${id}`);
  expect(got.status).toBe(200);
  expect(got.body[kind.member]).toEqual(await listed(kind, id));
  expect(got.body[kind.member][kind.version]).toBe(1);
  expect(got.headers.etag).toMatch(/^"1\./);
  expect((await admin.get(`${kind.path}/${id}`, { 'If-None-Match': got.headers.etag ?? '' })).status).toBe(304);
  for (const absent of [ABSENT, 'no-uuid']) {
    expect((await admin.get(`${kind.path}/${absent}`)).body.code).toBe('not_found');
  }
});

test.each(all)('the version of a %s increases with each change that has an effect', async (name) => {
  const kind = kindOf(name);
  const { id } = await kind.create();
  const versions = [];
  for (const n of [0, 1, 1, 2]) {
    const { status, body } = await admin.put(kind.path, { id, ...kind.change(n) });
    expect(status).toBe(200);
    versions.push(body[kind.member][kind.version]);
  }
  expect(versions).toEqual([2, 3, 3, 4]);
  expect((await listed(kind, id))[kind.version]).toBe(4);
});

test.each(all)(
  'a change of a %s with the version of an earlier read is rejected, and changes nothing',
  async (name) => {
    const kind = kindOf(name);
    const { id } = await kind.create();
    const put = (n: number, tag: string) => admin.put(kind.path, { id, ...kind.change(n) }, { 'If-Match': tag });
    expect((await put(0, '"1"')).status).toBe(200);
    const before = await listed(kind, id);
    const stale = await put(1, '"1"');
    expect(stale).toMatchObject({ status: 412, body: { code: 'version_conflict' } });
    expect(stale.body.detail).toContain('version 2');
    expect(await listed(kind, id)).toEqual(before);
    expect((await put(1, 'W/"2"')).body.errors[0].path).toBe('If-Match');
    expect((await put(1, '"1", "2"')).status).toBe(200);
    expect((await put(2, '*')).status).toBe(200);
  },
);

test.each(withGet)('the entity tag of a read %s is accepted in If-Match', async (name) => {
  const kind = kindOf(name);
  const { id } = await kind.create();
  const { headers } = await admin.get(`${kind.path}/${id}`);
  const match = { 'If-Match': headers.etag ?? '' };
  expect((await admin.put(kind.path, { id, ...kind.change(0) }, match)).status).toBe(200);
  expect((await admin.put(kind.path, { id, ...kind.change(1) }, match)).status).toBe(412);
});

test.each(withDelete)('a deletion of a %s requires a version in If-Match that is current', async (name) => {
  const kind = kindOf(name);
  const { id } = await kind.create();
  await admin.put(kind.path, { id, ...kind.change(0) });
  expect((await admin.delete(kind.path, { id }, { 'If-Match': '"1"' })).body.code).toBe('version_conflict');
  expect(await listed(kind, id)).toBeDefined();
  expect((await admin.delete(kind.path, { id }, { 'If-Match': '"2"' })).status).toBe(204);
});

test.each(all)('of concurrent changes of a %s with the same version, exactly one succeeds', async (name) => {
  const kind = kindOf(name);
  const { id } = await kind.create();
  for (let version = 1; version <= ROUNDS; version++) {
    const change = () => admin.put(kind.path, { id, ...kind.change(version - 1) }, { 'If-Match': `"${version}"` });
    const answers: Answered[] = await Promise.all([change(), change(), change()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
  }
});

test('the revocation of a key requires a version in If-Match that is current', async () => {
  const { keyRow } = await world.anOrganization();
  const PATH = '/api/v1/admin/api-keys';
  const revoke = (version: number) => admin.delete(PATH, { id: keyRow.id }, { 'If-Match': `"${version}"` });
  expect((await revoke(2)).body.code).toBe('version_conflict');
  expect((await revoke(1)).body.apiKey).toMatchObject({ status: 'revoked', version: 2 });
  expect((await revoke(2)).body.apiKey).toMatchObject({ status: 'revoked', version: 2 });
});

test('downloads, the use of a key and sign-ins do not change versions', async () => {
  const organization = await world.anOrganization();
  const template = await world.aTemplate();
  expect((await world.as(organization).get(`/api/v1/catalog/templates/${template.slug}`)).body.download_count).toBe(1);
  await world.usage.flush();
  const downloaded = (await admin.get(`/api/v1/admin/templates/${template.id}`)).body.template;
  expect(downloaded).toMatchObject({ download_count: 1, resource_version: 1 });
  const keys = (await admin.get('/api/v1/admin/api-keys')).body.apiKeys;
  const used = keys.find(({ id }: { id: string }) => id === organization.keyRow.id);
  expect(used).toMatchObject({ last_used_at: expect.any(String), version: 1 });
  expect((await admin.get(`/api/v1/admin/organizations/${organization.id}`)).body.organization.version).toBe(1);

  const token = (name: string) => world.issuer.sign('renamed', { name });
  for (const name of ['one', 'two']) await world.api(`Bearer ${await token(name)}`).get('/api/v1/account/profile');
  expect(await client.user.findFirst({ where: { sub: 'renamed' } })).toMatchObject({ name: 'two', version: 1 });
});

test('a change that does not mention the version, as by an earlier release, increases it', async () => {
  const template = await world.aTemplate();
  const organization = await world.anOrganization();
  await writeCatalog(world.database, async (catalog) => {
    await catalog.$executeRaw`UPDATE templates SET description = 'changed' WHERE id = ${template.id}::uuid`;
    await catalog.$executeRaw`UPDATE categories SET icon = 'changed' WHERE id = ${template.category_id}::uuid`;
  });
  await client.$executeRaw`UPDATE subscriptions SET tier = 'pro' WHERE org_id = ${organization.id}::uuid`;
  await client.$executeRaw`UPDATE organizations SET name = 'changed' WHERE id = ${organization.id}::uuid`;
  expect((await admin.get(`/api/v1/admin/templates/${template.id}`)).body.template.resource_version).toBe(2);
  expect((await admin.get(`/api/v1/admin/categories/${template.category_id}`)).body.category.version).toBe(2);
  expect((await admin.get(`/api/v1/admin/organizations/${organization.id}`)).body.organization.version).toBe(3);
});

test('the catalog does not return the version of the template object', async () => {
  const { slug } = await world.aTemplate();
  const { body } = await world.anonymous.get(`/api/v1/catalog/templates/${slug}`);
  expect(body).toMatchObject({ slug, version: '1.0.0' });
  expect(body).not.toHaveProperty('resource_version');
});
