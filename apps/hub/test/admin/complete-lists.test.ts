import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';

const ROWS = 1203; // three parts

const world = await startWorld();
const { client } = world.database;
const authorization = await world.anAuthorization('admin');
const admin = world.api(authorization);
afterAll(() => world.stop());

const { id: org } = await world.anOrganization();
const { id: category } = await world.aCategory();

/** Many rows have the same position in the order except for their ids. */
await client.$executeRaw`
  INSERT INTO organizations (id, name, slug, created_at)
  SELECT gen_random_uuid(), 'many ' || n, 'many-' || n, now() - (n % 7) * interval '1 hour' FROM generate_series(1, ${ROWS}::int) n`;
await client.$executeRaw`
  INSERT INTO subscriptions (id, org_id, tier) SELECT gen_random_uuid(), id, 'free' FROM organizations WHERE name LIKE 'many %'`;
await client.$executeRaw`
  INSERT INTO users (id, iss, sub, name, created_at)
  SELECT gen_random_uuid(), 'https://issuer.example.test', n, 'many ' || n, now() - (n % 7) * interval '1 hour'
  FROM generate_series(1, ${ROWS}::int) n`;
await client.$executeRaw`
  INSERT INTO api_keys (id, org_id, name, key_hash, key_prefix, created_at)
  SELECT gen_random_uuid(), ${org}::uuid, 'many ' || n, n, 'svcc_', now() - (n % 7) * interval '1 hour'
  FROM generate_series(1, ${ROWS}::int) n`;
await writeCatalog(world.database, async (catalog) => {
  await catalog.$executeRaw`
    INSERT INTO categories (id, name, slug, sort_name, sort_order, is_private)
    SELECT gen_random_uuid(), 'many ' || n, 'many-' || n, 'many ' || n % 5, n % 3, true FROM generate_series(1, ${ROWS}::int) n`;
  await catalog.$executeRaw`
    INSERT INTO catalog_access (id, org_id, category_id)
    SELECT gen_random_uuid(), ${org}::uuid, id FROM categories WHERE name LIKE 'many %'`;
  await catalog.$executeRaw`
    INSERT INTO templates (id, name, slug, sort_name, search_text, category_id)
    SELECT gen_random_uuid(), 'many ' || n, 'many-' || n, 'many ' || n % 9, 'many', ${category}::uuid
    FROM generate_series(1, ${ROWS}::int) n`;
});

const MANY = "WHERE name LIKE 'many %'";
const NEWEST = 'ORDER BY created_at DESC, id';

/**
 * The path, the member of the response, a query that selects the rows above and one that selects
 * none, and the rows in SQL.
 */
const lists = [
  ['templates', 'templates', 'search=many', 'search=none', `templates ${MANY} ORDER BY sort_name, id`],
  ['categories', 'categories', 'search=many', 'search=none', `categories ${MANY} ORDER BY sort_order, sort_name, id`],
  ['catalog-access', 'grants', `org_id=${org}`, `category_id=${category}`, `catalog_access ${NEWEST}`],
  ['organizations', 'organizations', 'search=many', 'search=none', `organizations ${MANY} ${NEWEST}`],
  ['users', 'users', 'search=many', 'search=none', `users ${MANY} ${NEWEST}`],
  ['api-keys', 'apiKeys', 'search=many', 'search=none', `api_keys ${MANY} ${NEWEST}`],
] as const;

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

test.each(lists)(
  'the complete list of /admin/%s has each row once, in order',
  async (path, member, query, _none, rows) => {
    const expected = idsOf(await client.$queryRawUnsafe<{ id: string }[]>(`SELECT id FROM ${rows}`));
    expect(expected).toHaveLength(ROWS);
    const { status, body, headers } = await admin.get(`/api/v1/admin/${path}?${query}`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
    expect(idsOf(body[member])).toEqual(expected);
    expect(body.pagination).toEqual({ page: 1, limit: ROWS, total: ROWS, totalPages: 1 });
    const page = (await admin.get(`/api/v1/admin/${path}?${query}&limit=100&page=6`)).body;
    expect(body[member].slice(500, 600)).toEqual(page[member]);
  },
);

test.each(lists)('a complete list of /admin/%s with one part has an entity tag', async (path, member, _query, none) => {
  const { body, headers } = await admin.get(`/api/v1/admin/${path}?${none}`);
  expect(body).toEqual({ [member]: [], pagination: { page: 1, limit: 0, total: 0, totalPages: 0 } });
  expect(headers.etag).toBeDefined();
});

test('large templates are read in several parts', async () => {
  const documentation = 'x'.repeat(500_000);
  const names = Array.from({ length: 20 }, (_, n) => `large ${String(n).padStart(2, '0')}`);
  for (const name of names) await world.aTemplate({ name, category_id: category, documentation });
  const { body, headers } = await admin.get('/api/v1/admin/templates?search=large');
  expect(headers.etag).toBeUndefined(); // the response is streamed
  expect(body.templates.map(({ name }: { name: string }) => name)).toEqual(names);
  expect(body.pagination.total).toBe(20);
});

test('a list with an invalid row in a later part is closed before the JSON is complete', async () => {
  const [last] = await client.template.findMany({
    where: { search_text: 'many' },
    orderBy: [{ sort_name: 'desc' }, { id: 'desc' }],
    take: 1,
  });
  await writeCatalog(world.database, ({ template }) =>
    template.update({ where: { id: last?.id ?? '' }, data: { env: { not: 'a list' } } }),
  );
  const server = createServer(world.app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // the server listens on a port
  const request = get({ port, path: '/api/v1/admin/templates?search=many', headers: { authorization } });
  const [response] = await once(request, 'response');
  expect(response.statusCode).toBe(200);
  let text = '';
  const received = async () => {
    for await (const chunk of response) text += chunk;
  };
  await expect(received()).rejects.toThrow('aborted');
  expect(text).toMatch(/^\{"templates":\[\{/);
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  server.close();
});
