// What each GET and each tool reads, with rows as large as they can be, and more rows than a page.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { hasPages, readBound } from '@svc/contract';
import { hubEndpoints, hubTools } from '@svc/contract/hub';
import { createHttpServer, MAX_PERFORMED_BYTES } from '@svc/http';
import { countingReads } from '@svc/testing';
import { writeCatalog } from '../src/database/catalog-write.ts';
import { requestIcons, storeIcon } from '../src/icons/store.ts';
import { aSigner, keyringOf } from './signers.ts';
import { startWorld } from './world.ts';

/** The large rows of a kind, the rows of a page, and small rows besides. */
const LARGE = 6;
const PAGE = 3;
const SMALL = 40;
const ICON_URL = 'https://example.com/icon.png';

const world = await startWorld();
const { client } = world.database;
const server = createHttpServer(world.app).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo; // it listens on a port
const agent = new Client({ name: 'test', version: '1' });
await agent.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
const reads = countingReads();
afterAll(async () => {
  reads.stop();
  await agent.close();
  server.closeAllConnections();
  server.close();
  await world.stop();
});

const organization = await world.anOrganization();
const administrator = await world.aUser('superadmin');
const member = await world.aMember(organization, 'org_admin');
const category = await world.aCategory();
const documentation = 'x'.repeat(500_000);
/** 400 KB that are no documentation. */
const env_schema = Array.from({ length: 20 }, (_, index) => ({
  name: `NAME_${index}`,
  required: false,
  secret: false,
  default_value: 'x'.repeat(20_000),
  description: '',
}));

let id = '';
let applicationId = '';
let webhookId = '';
beforeAll(async () => {
  for (let row = 0; row < LARGE; row++) {
    ({ id } = await world.aTemplate({
      slug: `large-${row}`,
      category_id: category.id,
      documentation,
      env_schema,
      icon_url: ICON_URL,
    }));
    await writeCatalog(world.database, async (transaction) => {
      // The second revision is as large as the first.
      const data = {
        documentation: 'y'.repeat(500_000),
        env_schema: env_schema.map((each) => ({ ...each, required: true })),
      };
      await transaction.template.update({ where: { id }, data });
      await requestIcons(transaction, [`large-${row}`]);
    });
    const application = await writeCatalog(world.database, ({ application }) =>
      application.create({
        data: {
          name: `large-${row}`,
          slug: `large-${row}`,
          category_id: category.id,
          sort_name: '',
          search_text: '',
          documentation,
          parts: [{ name: 'web', image_name: 'library/server', env_schema }],
        },
      }),
    );
    applicationId = application.id;
    await writeCatalog(world.database, (transaction) =>
      transaction.application.update({ where: { id: application.id }, data: { documentation: 'y'.repeat(500_000) } }),
    );
    await storeIcon(
      client,
      { template_id: id, slug: '', url: ICON_URL },
      { data: Buffer.alloc(65_536), type: 'image/png' },
    );
  }
  await client.$executeRaw`
    INSERT INTO users (id, iss, sub, role)
    SELECT gen_random_uuid(), 'https://issuer.example.test', 'small-' || n, 'user' FROM generate_series(1, ${SMALL}) n`;
  for (let row = 0; row < SMALL / 2; row++) await world.anOrganization();
  const root = await aSigner();
  for (let row = 0; row < SMALL; row++) {
    const slug = `publisher-${row}`;
    const keyring = await keyringOf(root, { publisher: slug });
    await client.publisher.create({ data: { slug, name: slug, root: { ...root.key }, keyring } });
  }
});
/** A webhook with more deliveries than a page. */
beforeAll(async () => {
  const given = { name: 'receiver', url: 'https://hooks.example.test/', events: ['access.requested'] };
  webhookId = (await administrator.post('/api/v1/admin/webhooks', given)).body.webhook.id;
  await client.$executeRaw`
    INSERT INTO webhook_deliveries (webhook_id, message_id, event, object_id, body)
    SELECT ${webhookId}::uuid, gen_random_uuid(), 'webhook.test', gen_random_uuid(), '{}' FROM generate_series(1, ${SMALL})`;
});
beforeEach(() => {
  world.catalog.documents.clear();
  world.catalog.applications.documents.clear();
});

const ids: Readonly<Record<string, () => string>> = {
  templates: () => id,
  applications: () => applicationId,
  categories: () => category.id,
  organizations: () => organization.id,
  webhooks: () => webhookId,
};

const pathOf = (path: string) => {
  const [, kind = ''] = /(\w+)\/:id/.exec(path) ?? [];
  return path
    .replace(':id', ids[kind]?.() ?? '')
    .replace(':slug', 'large-0')
    .replace(':revision', '2');
};

/** The callers of operations, by the start of their paths. The others are those of an administrator. */
const callers = {
  '/api/v1/catalog': world.as(organization),
  '/api/v1/account': member,
};
const callerOf = (path: string) =>
  Object.entries(callers).find(([start]) => path.startsWith(start))?.[1] ?? administrator;

const required: Readonly<Record<string, string>> = {
  listTemplateUpdates: 'cursor=start',
  listApplicationUpdates: 'cursor=start',
};

/** Operations that this caller, or a hub without sign-ins by a browser, does not have. */
const REFUSED = ['startOidcLogin', 'endOidcLogin', 'getBrowserSession', 'listOwnSessions'];

const gets = Object.values(hubEndpoints).filter(({ method }) => method === 'get');

test.each(gets.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  '%s reads as much as it declares at most',
  async (name, { path, query, reads: declared }) => {
    const paged = hasPages(query);
    const parameters = [required[name], paged ? `limit=${PAGE}` : undefined].filter((each) => each !== undefined);
    const { result, rows, bytes } = await reads.of(() => callerOf(path).get(`${pathOf(path)}?${parameters.join('&')}`));
    if (!REFUSED.includes(name)) expect(result.status).toBe(200);
    const bound = readBound({ reads: declared, query }, paged ? PAGE : SMALL);
    expect(rows).toBeLessThanOrEqual(bound.rows);
    expect(bytes).toBeLessThanOrEqual(bound.bytes);
    expect((result.text ?? '').length).toBeLessThanOrEqual(bound.bytes); // a file has no text
  },
);

const calls: Readonly<Record<keyof typeof hubTools, Record<string, unknown>>> = {
  search_templates: { limit: 50 },
  get_template: { slug: 'large-0' },
};

test.each(Object.entries(hubTools))(
  'the tool %s reads as much as its operations declare at most',
  async (name, tool) => {
    const given = calls[name as keyof typeof hubTools]; // a key of the tools
    const { result, rows, bytes } = await reads.of(() => agent.callTool({ name, arguments: given }));
    const bounds = tool.calls.map((endpoint) => readBound(endpoint));
    expect(rows).toBeLessThanOrEqual(bounds.reduce((sum, bound) => sum + bound.rows, 0));
    const most = bounds.reduce((sum, bound) => sum + Math.min(bound.bytes, MAX_PERFORMED_BYTES), 0);
    expect(bytes).toBeLessThanOrEqual(most);
    expect(JSON.stringify(result.structuredContent ?? null).length).toBeLessThanOrEqual(most);
  },
);
