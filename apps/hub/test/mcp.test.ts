import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { newSecretToken } from '@svc/auth';
import { createHttpServer } from '@svc/http';
import { writeCatalog } from '../src/database/catalog-write.ts';
import { PARTS } from './objects.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const server = createHttpServer(world.app).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo; // it listens on a port
const url = `http://127.0.0.1:${port}/mcp`;
const organization = await world.anOrganization();
const { client: sql } = world.database;
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await world.stop();
});

/** Uses a client that is connected with a credential, and closes it. */
async function withClient<T>(
  key: string | undefined,
  use: (client: Client) => Promise<T>,
  mode: 'auto' | 'legacy' = 'auto',
) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = key === undefined ? {} : { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const downloadsOf = async (id: string) => {
  await world.usage.flush();
  return Number((await sql.templateDownload.findUnique({ where: { template_id: id } }))?.count ?? 0);
};

test.each(['auto', 'legacy'] as const)(
  'anybody can read the public catalog with a client of the SDK (%s)',
  async (mode) => {
    // Its name is its slug.
    const { slug } = await world.aTemplate({ documentation: 'How to run it.' });
    await withClient(
      undefined,
      async (client) => {
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toEqual(['search_templates', 'get_template']);
        expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
        const found = await client.callTool({ name: 'search_templates', arguments: { q: slug } });
        expect(found.structuredContent).toMatchObject({
          total: 1,
          next_page: null,
          templates: [{ slug, required_env: [] }],
        });
        const one = await client.callTool({ name: 'get_template', arguments: { slug } });
        expect(one.structuredContent).toMatchObject({ slug, documentation: 'How to run it.' });
        const { contents } = await client.readResource({ uri: `hub://templates/${slug}` });
        expect(contents).toMatchObject([
          { mimeType: 'text/markdown', text: expect.stringContaining('How to run it.') },
        ]);
        const ref = { type: 'ref/resource', uri: 'hub://templates/{slug}' } as const;
        const { completion } = await client.complete({ ref, argument: { name: 'slug', value: slug } });
        expect(completion.values).toEqual([slug]);
      },
      mode,
    );
  },
);

test('the tools find and return applications', async () => {
  const { id: category_id } = await world.aCategory();
  const data = { name: 'Wiki', slug: 'wiki', category_id, sort_name: 'wiki', search_text: 'wiki', parts: PARTS };
  await writeCatalog(world.database, ({ application }) => application.create({ data }));
  await withClient(undefined, async (client) => {
    const found = await client.callTool({ name: 'search_templates', arguments: { q: 'wiki', kind: 'application' } });
    expect(found.structuredContent).toMatchObject({ total: 1, next_page: null, applications: [{ slug: 'wiki' }] });
    const one = await client.callTool({ name: 'get_template', arguments: { slug: 'wiki', kind: 'application' } });
    expect(one.structuredContent).toMatchObject({ slug: 'wiki', parts: [{ name: 'web' }] });
    const none = await client.callTool({ name: 'get_template', arguments: { slug: 'wiki' } });
    expect(none.isError).toBe(true);
  });
});

test('get_template counts a download with an API key, and none without', async () => {
  const { id, slug } = await world.aTemplate();
  const get = (client: Client) => client.callTool({ name: 'get_template', arguments: { slug } });
  await withClient(undefined, get);
  expect(await downloadsOf(id)).toBe(0);
  await withClient(organization.key, get);
  expect(await downloadsOf(id)).toBe(1);
});

test('a private template is visible to an organization with a grant only', async () => {
  const category = await world.aCategory({ is_private: true });
  const { slug } = await world.aTemplate({ category_id: category.id });
  await world.aGrant(organization, category);
  const get = (client: Client) => client.callTool({ name: 'get_template', arguments: { slug } });
  expect(await withClient(undefined, get)).toMatchObject({ isError: true });
  expect(await withClient(organization.key, get)).toMatchObject({ structuredContent: { slug } });
});

test('an invalid credential, and a service token, is 401, although the catalog is public', async () => {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  const { secret } = await world.aServiceToken(await world.aUser('admin'), {
    categories: [(await world.aCategory()).id],
  });
  for (const token of [newSecretToken('svcc_'), secret]) {
    const Authorization = `Bearer ${token}`;
    const { status } = await fetch(url, { method: 'POST', headers: { ...headers, Authorization }, body });
    expect(status).toBe(401);
  }
});

test('the resources, search_templates and completion do not read the documentation of templates', async () => {
  const documentation = 'x'.repeat(100_000);
  const { slug } = await world.aTemplate({ documentation });
  const before = world.catalog.documents.use();
  await withClient(undefined, async (client) => {
    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name)).toContain(slug);
    await client.callTool({ name: 'search_templates', arguments: { q: slug } });
    const ref = { type: 'ref/resource', uri: 'hub://templates/{slug}' } as const;
    await client.complete({ ref, argument: { name: 'slug', value: slug } });
  });
  const { hits, misses, bytes } = world.catalog.documents.use();
  expect({ hits, misses, bytes }).toMatchObject({ hits: before.hits, misses: before.misses, bytes: before.bytes });
  const { bytes: ofSummaries, entries } = world.catalog.documents.summaries.use();
  expect(entries).toBeGreaterThan(0);
  expect(ofSummaries).toBeLessThan(documentation.length);
});

test('resources whose summaries are too large for one read are listed completely', async () => {
  const env_schema = Array.from({ length: 40 }, (_, index) => ({
    name: `V${index}`,
    required: false,
    secret: false,
    default_value: 'x'.repeat(32_000),
    description: '',
  }));
  const made = [];
  for (let count = 0; count < 4; count++) made.push((await world.aTemplate({ env_schema })).slug);
  const resources = await withClient(undefined, async (client) => (await client.listResources()).resources);
  expect(resources.map(({ name }) => name)).toEqual(expect.arrayContaining(made));
});
