import { randomUUID } from 'node:crypto';
import { hubEndpoints } from '@svc/contract/hub';
import { createLog } from '@svc/http';
import type { Answered } from '@svc/testing';
import { eventually } from '@svc/testing';
import { startAuditRetention } from '../../src/audit/retention.ts';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import type { Prisma } from '../../src/generated/prisma/client.ts';
import { aSigner, keyringOf } from '../signers.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { client } = world.database;
const admin = await world.aUser('admin');
const me: { readonly id: string; readonly email: string } = (await admin.get('/api/v1/account/profile')).body.profile;
afterAll(() => world.stop());

const PATH = '/api/v1/admin/audit';
const ADMIN = '/api/v1/admin';
const ABSENT = '00000000-0000-4000-8000-000000000000';

interface Change {
  readonly body: Record<string, unknown>;
  /** Path parameters beside the id. */
  readonly params?: Readonly<Record<string, string>>;
  /** The id of the object; undefined: the request creates it; null: it changes several objects. */
  readonly id?: string | null;
}

const anApplicationBody = async () => ({
  name: `a ${randomUUID()}`,
  category_id: (await world.aCategory()).id,
  parts: [{ name: 'web', image_name: 'library/server' }],
});

async function anApplication(): Promise<{ readonly id: string }> {
  const { body } = await admin.post(`${ADMIN}/applications`, await anApplicationBody());
  return body.application;
}

const aWebhookBody = () => ({ name: randomUUID(), url: 'http://localhost:9/', events: ['access.requested'] });
async function aWebhook(): Promise<{ readonly id: string }> {
  await client.webhook.deleteMany(); // their number is bounded
  return (await admin.post(`${ADMIN}/webhooks`, aWebhookBody())).body.webhook;
}
const changingWebhooks = {
  createWebhook: async () => ({ body: aWebhookBody() }),
  updateWebhook: async () => ({ body: { name: randomUUID() }, id: (await aWebhook()).id }),
  deleteWebhook: async () => ({ body: {}, id: (await aWebhook()).id }),
  rotateWebhook: async () => ({ body: {}, id: (await aWebhook()).id }),
  testWebhook: async () => ({ body: {}, id: (await aWebhook()).id }),
  redeliverWebhook: async () => {
    const { id } = await aWebhook();
    const { body } = await admin.post(`${ADMIN}/webhooks/${id}/test`);
    return { body: {}, params: { delivery_id: body.delivery.id }, id };
  },
};

/** A successful request for each administrative change. */
const changes: Readonly<Record<string, () => Promise<Change>>> = {
  createTemplate: async () => ({ body: { name: `t ${randomUUID()}`, category_id: (await world.aCategory()).id } }),
  updateTemplate: async () => identified({ description: 'x' }, await world.aTemplate()),
  deleteTemplate: async () => identified({}, await world.aTemplate()),
  restoreTemplate: async () => {
    const { id } = await world.aTemplate();
    await admin.put('/api/v1/admin/templates', { id, description: 'x' });
    return { body: { revision: 1 }, id };
  },
  createApplication: async () => ({ body: await anApplicationBody() }),
  updateApplication: async () => identified({ description: 'x' }, await anApplication()),
  deleteApplication: async () => identified({}, await anApplication()),
  restoreApplication: async () => {
    const { id } = await anApplication();
    await admin.put(`${ADMIN}/applications`, { id, description: 'x' });
    return { body: { revision: 1 }, id };
  },
  createApplicationAdvisory: async () => ({ body: ADVISORY, id: (await anApplication()).id }),
  updateApplicationAdvisory: async () => ({ body: ADVISORY, ...(await anApplicationAdvisory()) }),
  withdrawApplicationAdvisory: async () => ({ body: {}, ...(await anApplicationAdvisory()) }),
  createAdvisory: async () => ({ body: ADVISORY, id: (await world.aTemplate()).id }),
  updateAdvisory: async () => ({ body: ADVISORY, ...(await anAdvisory()) }),
  withdrawAdvisory: async () => ({ body: {}, ...(await anAdvisory()) }),
  createCategory: async () => ({ body: { name: `c ${randomUUID()}` } }),
  updateCategory: async () => identified({ description: 'x' }, await world.aCategory()),
  deleteCategory: async () => identified({}, await world.aCategory()),
  grantAccess: async () => ({
    body: { org_id: (await world.anOrganization()).id, category_id: (await world.aCategory({ is_private: true })).id },
  }),
  revokeAccess: async () => {
    const { id, org_id, category_id } = await aGrant();
    return { body: { org_id, category_id }, id };
  },
  changeAccess: async () => {
    const { org_id, category_id } = await aGrant();
    const grants = [{ org_id, category_id: (await world.aCategory({ is_private: true })).id }];
    return { body: { grants, revokes: [{ org_id, category_id }] }, id: null };
  },
  decideAccessRequest: async () => {
    const { id: org_id } = await world.anOrganization();
    const { id: category_id, slug: category_slug } = await world.aCategory({ is_private: true });
    const { id } = await client.accessRequest.create({ data: { org_id, category_slug } });
    return { body: { status: 'granted', category: { id: category_id, version: 1 } }, id };
  },
  setPublisher: async () => {
    const root = await aSigner();
    const slug = `publisher-${randomUUID().slice(0, 8)}`;
    const keyring = await keyringOf(root, { publisher: slug });
    return { body: { name: 'x', root: root.key, keyring }, params: { slug }, id: null };
  },
  deletePublisher: async () => {
    const slug = `publisher-${randomUUID().slice(0, 8)}`;
    await client.publisher.create({ data: { slug, name: 'x', root: {}, keyring: '' } });
    return { body: {}, params: { slug }, id: null };
  },
  updateUser: async () =>
    identified(
      { role: 'admin' },
      await client.user.create({ data: { iss: 'https://issuer.example.test', sub: randomUUID() } }),
    ),
  updateOrganization: async () => identified({ tier: 'pro', status: 'suspended' }, await world.anOrganization()),
  createManagedOrganization: async () => ({ body: { name: `o ${randomUUID()}` } }),
  createManagedApiKey: async () => ({ body: { org_id: (await world.anOrganization()).id, name: 'x' } }),
  createServiceToken: async () => {
    const { id } = await world.aCategory();
    return { body: { name: 'x', scopes: ['import'], categories: [id], expires_in_days: 1 } };
  },
  revokeServiceToken: async () =>
    identified({}, await world.aServiceToken(admin, { categories: [(await world.aCategory()).id] })),
  ...changingWebhooks,
  renameAnyApiKey: async () => identified({ name: 'x' }, (await world.anOrganization()).keyRow),
  revokeAnyApiKey: async () => identified({}, (await world.anOrganization()).keyRow),
};

const identified = (body: Record<string, unknown>, { id }: { readonly id: string }) => ({ body: { id, ...body }, id });
const ADVISORY = { severity: 'note', message: 'x', first_revision: 1 };
const anAdvisory = async () => {
  const { id } = await world.aTemplate();
  const data = { ...ADVISORY, template_id: id };
  const { id: advisory_id } = await writeCatalog(world.database, (catalog) =>
    catalog.templateAdvisory.create({ data }),
  );
  return { id, params: { advisory_id } };
};
const anApplicationAdvisory = async () => {
  const { id } = await anApplication();
  const { body } = await admin.post(`${ADMIN}/applications/${id}/advisories`, ADVISORY);
  return { id, params: { advisory_id: body.advisory.id } };
};
const aGrant = async () => world.aGrant(await world.anOrganization(), await world.aCategory({ is_private: true }));

/** A plan, the check of a file, and a diagnosis change nothing. */
const {
  planVisibility: _plan,
  readTemplateFile: _file,
  readApplicationFile: _applicationFile,
  runDoctor: _doctor,
  createSupportBundle: _bundle,
  ...endpoints
} = hubEndpoints;
const changing = Object.values(endpoints).filter(
  // Compares the literal types of endpoints.
  ({ access, method }) => (access as string) === 'admin' && method !== 'get',
);

async function request({ method, path: template, operationId }: (typeof changing)[number]) {
  const make = changes[operationId];
  if (!make) throw new Error(`no request for ${operationId}`);
  const { body, id, params = {} } = await make();
  const path = template
    .replace(':id', id ?? '')
    .replace(':advisory_id', params.advisory_id ?? '')
    .replace(':delivery_id', params.delivery_id ?? '')
    .replace(':slug', params.slug ?? '');
  const send = (headers: Record<string, string> = {}) =>
    admin.send({ method: method.toUpperCase(), path, body, headers });
  return { send, id, path };
}

const idOfCreated = ({ body }: Answered): string =>
  ['template', 'application', 'category', 'grant', 'organization', 'apiKey', 'serviceToken', 'webhook']
    .map((name) => body[name])
    .find((created) => created !== undefined).id;
const count = () => client.auditEntry.count();

test.each(changing)('$operationId has one audit entry with the user, the request and the object', async (endpoint) => {
  const { send, id, path } = await request(endpoint);
  const before = await count();
  const answer = await send({ 'X-Request-Id': `id-${endpoint.operationId}` });
  expect(answer.status).toBe(endpoint.status);
  expect(await count()).toBe(before + 1);
  const [entry] = (await admin.get(`${PATH}?limit=1`)).body.entries;
  expect(entry).toEqual({
    id: expect.any(String),
    at: expect.any(String),
    user_id: me.id,
    token_id: null,
    email: me.email,
    method: endpoint.method.toUpperCase(),
    path,
    status: endpoint.status,
    request_id: `id-${endpoint.operationId}`,
    object_id: id === undefined ? idOfCreated(answer) : id,
    source: '127.0.0.1',
  });
});

/** All rows that administrators change. */
const rows = async () =>
  JSON.stringify([
    await client.template.findMany({ orderBy: { id: 'asc' } }),
    await client.templateRevision.count(),
    await client.application.findMany({ orderBy: { id: 'asc' } }),
    await client.applicationRevision.count(),
    await client.category.findMany({ orderBy: { id: 'asc' } }),
    await client.catalogAccess.findMany({ orderBy: { id: 'asc' } }),
    await client.user.findMany({ orderBy: { id: 'asc' } }),
    await client.organization.findMany({ orderBy: { id: 'asc' }, include: { subscription: true } }),
    await client.apiKey.findMany({ orderBy: { id: 'asc' } }),
    await client.accessRequest.findMany({ orderBy: { id: 'asc' } }),
    await client.serviceToken.findMany({ orderBy: { id: 'asc' } }),
    await client.webhook.findMany({ orderBy: { id: 'asc' } }),
  ]);

test.each(changing)(
  '$operationId changes nothing and answers 503 if its audit entry cannot be stored',
  async (endpoint) => {
    const { send } = await request(endpoint);
    const before = await rows();
    await client.$executeRaw`ALTER TABLE audit_entries ADD CONSTRAINT refused CHECK (false) NOT VALID`;
    try {
      expect(await send()).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    } finally {
      await client.$executeRaw`ALTER TABLE audit_entries DROP CONSTRAINT refused`;
    }
    expect(await rows()).toBe(before);
  },
);

test('rejected requests, reads and a grant that already exists have no audit entry', async () => {
  const { org_id, category_id } = await aGrant();
  const before = await count();
  const statuses = [
    await admin.get(`${ADMIN}/templates`),
    await admin.post(`${ADMIN}/categories`, { name: '' }),
    await admin.put(`${ADMIN}/categories`, { id: ABSENT, name: 'x' }),
    await (await world.aUser('user')).post(`${ADMIN}/categories`, { name: 'x' }),
    await admin.post(`${ADMIN}/catalog-access`, { org_id, category_id }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 400, 404, 403, 200]);
  expect(await count()).toBe(before);
});

test('an audit entry contains no value of the body and no query', async () => {
  const { id } = await world.aCategory();
  const name = randomUUID();
  expect((await admin.put(`${ADMIN}/categories?id=${id}`, { name })).status).toBe(200);
  const [entry] = await client.auditEntry.findMany({ where: { object_id: id } });
  expect(entry?.path).toBe(`${ADMIN}/categories`);
  expect(JSON.stringify(entry)).not.toContain(name);
});

const START = Date.parse('2026-03-01T00:00:00.000Z');
const one = randomUUID();
const other = randomUUID();
/** Three entries in each millisecond, so that the order of these is the order of their ids. */
const written = Array.from({ length: 40 }, (_, index) => ({
  id: randomUUID(),
  at: new Date(START + Math.floor(index / 3)),
  user_id: index % 2 === 0 ? one : other,
  token_id: index % 4 === 1 ? one : null,
  email: `${index % 2 === 0 ? 'one' : 'other'}@example.test`,
  method: ['PUT', 'POST', 'DELETE'][index % 3] ?? '',
  path: index % 4 === 0 ? '/api/v1/admin/users' : '/api/v1/admin/user_settings',
  status: index % 5 === 0 ? 201 : 200,
  request_id: `r${index}`,
  object_id: index % 3 === 0 ? one : null,
  source: index % 2 === 0 ? '192.0.2.1' : null,
}));
await client.auditEntry.createMany({ data: written });
const newestFirst = [...written].sort((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1));
const span = `from=${new Date(START).toISOString()}&to=${new Date(START + 1000).toISOString()}`;

test.each([1, 7, 40, 41])('pages of %i audit entries contain each entry once, newest first', async (limit) => {
  const seen: unknown[] = [];
  let cursor = '';
  do {
    const { body } = await admin.get(`${PATH}?${span}&limit=${limit}${cursor}`);
    expect(body.entries.length).toBeLessThanOrEqual(limit);
    seen.push(...body.entries);
    cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
  } while (cursor !== '');
  expect(seen).toEqual(newestFirst.map((entry) => ({ ...entry, at: entry.at.toISOString() })));
});

type Written = (typeof written)[number];
test.each<[string, (entry: Written) => boolean]>([
  [`user_id=${one}`, ({ user_id }) => user_id === one],
  [`user_id=${randomUUID()}`, () => false],
  [`token_id=${one}`, ({ token_id }) => token_id === one],
  ['email=one%40example.test', ({ user_id }) => user_id === one],
  ['method=post', ({ method }) => method === 'POST'],
  ['path=/api/v1/admin/users', ({ path }) => path === '/api/v1/admin/users'],
  ['status=201', ({ status }) => status === 201],
  [`object_id=${one}`, ({ object_id }) => object_id === one],
  [`from=${new Date(START + 3).toISOString()}`, ({ at }) => at.getTime() >= START + 3],
])('the filter %s returns exactly the matching audit entries', async (filter, matches) => {
  const { body } = await admin.get(`${PATH}?to=${new Date(START + 1000).toISOString()}&limit=1000&${filter}`);
  const expected = newestFirst.filter(matches).map(({ id }) => id);
  expect(body.entries.map(({ id }: { id: string }) => id)).toEqual(expected);
});

test.each(['cursor=x', 'limit=0', 'limit=1001', 'user_id=me', 'from=yesterday', 'status=1'])(
  'rejects the query %s of the audit log',
  async (query) => {
    const { status, body } = await admin.get(`${PATH}?${query}`);
    expect(status).toBe(400);
    expect(body.errors[0].path).toBe(query.split('=')[0]);
  },
);

test.each(['UPDATE audit_entries SET status = 200', 'DELETE FROM audit_entries', 'TRUNCATE audit_entries'])(
  'the database rejects %s, also in the transaction of the retention',
  async (statement) => {
    await anEntry(new Date(0));
    const before = await count();
    const refused = 'audit entries cannot be changed or deleted';
    await expect(client.$executeRawUnsafe(statement)).rejects.toThrow(refused);
    const forget = client.$queryRaw`SELECT audit_forget(${new Date(1)}, ${randomUUID()}::uuid)`;
    await expect(client.$transaction([forget, client.$executeRawUnsafe(statement)])).rejects.toThrow(refused);
    expect(await count()).toBe(before);
  },
);

const anEntry = (at: Date) => {
  const data: Prisma.AuditEntryCreateInput = { at, method: 'PUT', path: '/', status: 200, request_id: '' };
  return client.auditEntry.create({ data });
};

test('the retention deletes old audit entries in the background, keeps younger ones, and records the deletion', async () => {
  const old = await anEntry(new Date(0));
  const young = await anEntry(new Date());
  const task = startAuditRetention({
    database: world.database,
    days: 30,
    log: createLog('hub', 'silent'),
    interval: 10,
  });
  await eventually('the old entry is deleted', () => client.auditEntry.findUnique({ where: { id: old.id } }), {
    until: (entry) => entry === null,
  });
  await task.stop();
  expect(await client.auditEntry.findUnique({ where: { id: young.id } })).not.toBeNull();
  const recorded = await client.auditEntry.findFirst({ where: { path: { startsWith: 'entries before ' } } });
  expect(recorded).toMatchObject({ user_id: null, email: null, object_id: null, method: 'DELETE' });
});
