import { randomUUID } from 'node:crypto';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { client } = world.database;
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const NAMES = ['Alpha', 'beta', '100% alphabetical', 'with_underscore', 'back\\slash', 'with-underscore'] as const;

const acme = await world.anOrganization({ slug: 'acme' });
const other = await world.anOrganization({ slug: 'other' });
const day = 86_400_000;

const aUser = (name: string, n: number) =>
  client.user.create({
    data: {
      iss: 'https://issuer.example.test',
      sub: name,
      name,
      email: `person${n}@example.test`,
      role: n % 2 === 0 ? 'superadmin' : 'user',
      ...(n < 3 ? { org_id: acme.id, org_role: 'member' } : {}),
    },
  });

const aKey = (name: string, n: number) =>
  client.apiKey.create({
    data: {
      org_id: n < 3 ? acme.id : other.id,
      name,
      key_hash: randomUUID(),
      key_prefix: `svcc_filter${n}`,
      expires_at: n === 1 ? new Date(Date.now() - day) : new Date(Date.now() + day),
      revoked_at: n === 2 ? new Date() : null,
    },
  });

for (const [n, name] of NAMES.entries()) {
  const { id: category_id } = await world.aCategory({ name, slug: `category-of-${n}`, is_private: true });
  await world.aTemplate({ name, slug: `template-of-${n}`, category_id, owner_org_id: n < 3 ? acme.id : other.id });
  await world.aGrant(n < 3 ? acme : other, { id: category_id });
  await aUser(name, n);
  await aKey(name, n);
  await client.organization.create({
    data: {
      name,
      slug: `organization-of-${n}`,
      status: n % 2 === 0 ? 'suspended' : 'active',
      subscription: { create: { tier: 'free' } },
    },
  });
}

const lists = {
  templates: 'templates',
  categories: 'categories',
  organizations: 'organizations',
  users: 'users',
  'api-keys': 'apiKeys',
} as const;
type Path = keyof typeof lists;
const paths = Object.keys(lists) as Path[]; // the keys of the object

async function found(path: Path, query: Record<string, string>): Promise<string[]> {
  const { status, body } = await admin.get(`/api/v1/admin/${path}?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  const rows: { readonly name: string }[] = body[lists[path]];
  if (query.limit === undefined) expect(body.pagination.total).toBe(rows.length);
  return rows.map(({ name }) => name).sort();
}

const searches: readonly (readonly [string, readonly string[]])[] = [
  ['ALPHA', ['100% alphabetical', 'Alpha']],
  ['%', ['100% alphabetical']],
  ['h_u', ['with_underscore']],
  ['\\', ['back\\slash']],
  ['nothing of this name', []],
];
test.each(paths.flatMap((path) => searches.map(([search, names]) => ({ path, search, names }))))(
  'the search for $search in /admin/$path returns exactly the matching rows',
  async ({ path, search, names }) => {
    expect(await found(path, { search })).toEqual(names);
  },
);

test('searches also find the other member', async () => {
  expect(await found('categories', { search: 'Category-Of-1' })).toEqual(['beta']);
  expect(await found('organizations', { search: 'organization-of-1' })).toEqual(['beta']);
  expect(await found('users', { search: 'PERSON1@' })).toEqual(['beta']);
  expect(await found('api-keys', { search: 'svcc_filter1' })).toEqual(['beta']);
});

test.each<[Path, Record<string, string>, readonly string[]]>([
  ['templates', { org_id: acme.id }, ['100% alphabetical', 'Alpha', 'beta']],
  ['templates', { org_id: other.id, search: 'a' }, ['back\\slash']],
  ['users', { org_id: acme.id }, ['100% alphabetical', 'Alpha', 'beta']],
  ['users', { role: 'superadmin' }, ['100% alphabetical', 'Alpha', 'back\\slash']],
  ['users', { role: 'superadmin', org_id: acme.id, search: 'alpha' }, ['100% alphabetical', 'Alpha']],
  ['organizations', { status: 'suspended' }, ['100% alphabetical', 'Alpha', 'back\\slash']],
  ['api-keys', { status: 'expired' }, ['beta']],
  ['api-keys', { status: 'revoked' }, ['100% alphabetical']],
  ['api-keys', { status: 'active', org_id: acme.id }, ['Alpha', 'key']],
  ['api-keys', { org_id: randomUUID() }, []],
])('the list of /admin/%s with the filters %j returns exactly the matching rows', async (path, query, names) => {
  expect(await found(path, query)).toEqual([...names].sort());
});

test('a page of a filtered list has the number of all matching rows', async () => {
  for (const path of paths) {
    const { body } = await admin.get(`/api/v1/admin/${path}?search=alpha&limit=1`);
    expect(body[lists[path]]).toHaveLength(1);
    expect(body.pagination).toEqual({ page: 1, limit: 1, total: 2, totalPages: 2 });
  }
});

test('grants can be filtered by organization and category', async () => {
  const grants = async (query: string) => (await admin.get(`/api/v1/admin/catalog-access?${query}`)).body;
  const all = (await grants('')).grants;
  const ofAcme = await grants(`org_id=${acme.id}`);
  expect(all).toHaveLength(6);
  expect(ofAcme.grants).toHaveLength(3);
  expect(ofAcme.pagination.total).toBe(3);
  const [{ id, org_id, category_id }] = all;
  expect((await grants(`org_id=${org_id}&category_id=${category_id}`)).grants).toMatchObject([{ id }]);
});

test.each([
  'users?role=root',
  'users?org_id=acme',
  'organizations?status=deleted',
  'api-keys?status=lost',
  'templates?owner=x',
])('rejects the filter /admin/%s', async (path) => {
  const { status, body } = await admin.get(`/api/v1/admin/${path}`);
  expect(status).toBe(400);
  expect(body.errors[0].path).toBe(path.replace(/.*\?|=.*/g, ''));
});

test('rejects a search of more than 200 characters', async () => {
  for (const path of paths) {
    const { status, body } = await admin.get(`/api/v1/admin/${path}?search=${'x'.repeat(201)}`);
    expect(status).toBe(400);
    expect(body.errors[0]).toEqual({ path: 'search', message: 'must have at most 200 characters' });
  }
});
