// Conditional requests: a response that the client has is not sent again, and every change is sent.
import { type Answered, type Api, byDepth } from '@svc/testing';
import { startWorld } from '../world.ts';

const TEMPLATES = '/api/v1/catalog/templates';
const CATEGORIES = '/api/v1/catalog/categories';
const NEVER = '1970-01-01T00:00:00Z';

const world = await startWorld();
const { anonymous, as, usage, aTemplate, aCategory, aGrant } = world;
const { client } = world.database;
afterAll(() => world.stop());

const admin = await world.aUser('admin');
const organization = await world.anOrganization();
const closed = await aCategory({ is_private: true });
const open = await aCategory();
await aGrant(organization, closed);
const template = await aTemplate({ category_id: open.id });
await aTemplate({ category_id: closed.id });

const callers: Readonly<Record<string, Api>> = {
  anonymous,
  'an organization': as(organization),
  'an administrator': admin,
};

const tagOf = ({ status, headers }: Answered): string => {
  expect(status).toBe(200);
  expect(headers.etag).toMatch(/^(W\/)?"[\x21\x23-\x7e]+"$/);
  return headers.etag ?? '';
};
const tagAt = async (api: Api, path: string) => tagOf(await api.get(path));

/** Sends a conditional GET with an entity tag. */
const getIfChanged = (api: Api, path: string, tag: string) => api.get(path, { 'If-None-Match': tag });

const finishedCursorOf = async (api: Api): Promise<string> =>
  (await api.get(`${TEMPLATES}/updates?cursor=start`)).body.cursor;

const requests: Readonly<Record<string, (api: Api) => Promise<string>>> = {
  'a request for updates by since': async () => `${TEMPLATES}/updates?since=${NEVER}`,
  'a request for updates from the start': async () => `${TEMPLATES}/updates?cursor=start&limit=1`,
  'a request for updates by a cursor': async (api) => `${TEMPLATES}/updates?cursor=${await finishedCursorOf(api)}`,
  'a request for categories': async () => CATEGORIES,
  'a request for the list': async () => `${TEMPLATES}?limit=10`,
};
/** Not for API keys: a GET with an API key counts a download, so each response differs. */
const slugRequest: typeof requests = { 'a request for a template': async () => `${TEMPLATES}/${template.slug}` };

const cells = Object.entries(callers)
  .flatMap(([caller, api]) =>
    Object.entries({ ...requests, ...(caller === 'an organization' ? {} : slugRequest) }).map(([request, pathFor]) => ({
      caller,
      request,
      api,
      pathFor,
    })),
  )
  .map((cell, turn) => ({ ...cell, turn }));

/** At depth short a third of the list in each turn, starting with the next third. */
const some = <T>(list: readonly T[], turn: number): readonly T[] =>
  byDepth({ short: list.filter((_, n) => (n + turn) % 3 === 0), full: list, long: list });

test.each(cells)(
  '$request by $caller with the current ETag is answered 304',
  async ({ caller, api, pathFor, turn }) => {
    const path = await pathFor(api);
    const first = await api.get(path);
    const tag = tagOf(first);
    const bare = tag.replace(/^W\//, '');
    for (const held of some([tag, '*', bare, `W/${bare}`, `"x", ${tag}`, `W/"x,y",${bare} , "z"`, ` ${tag} `], turn)) {
      const { status, text, headers } = await getIfChanged(api, path, held);
      expect({ held, status, text }).toEqual({ held, status: 304, text: '' });
      for (const name of ['etag', 'vary', 'cache-control']) expect(headers[name]).toBe(first.headers[name]);
      expect(headers['content-length']).toBeUndefined();
    }
    const others = ['"x"', 'W/"x"', bare.slice(1, -1), bare.toLowerCase().replace('"', '"x'), '""', '**', ''];
    for (const other of some(others, turn)) {
      expect({ other, status: (await getIfChanged(api, path, other)).status }).toEqual({ other, status: 200 });
    }
    expect(first.headers.vary).toMatch(/\bAuthorization\b/);
    expect(first.headers['cache-control']).toBe(caller === 'anonymous' ? 'public, no-cache' : 'private, no-cache');
  },
);

test.each(cells)('$request by $caller has the same ETag for HEAD and GET', async ({ api, pathFor }) => {
  const path = await pathFor(api);
  const tag = await tagAt(api, path);
  const head = await api.send({ method: 'HEAD', path });
  expect({ status: head.status, etag: head.headers.etag }).toEqual({ status: 200, etag: tag });
  const held = await api.send({ method: 'HEAD', path, headers: { 'If-None-Match': tag } });
  expect({ status: held.status, etag: held.headers.etag }).toEqual({ status: 304, etag: tag });
});

test('responses of the admin and account endpoints have an ETag, too', async () => {
  for (const path of ['/api/v1/admin/templates', '/api/v1/admin/stats', '/api/v1/account/profile']) {
    const tag = await tagAt(admin, path);
    expect((await getIfChanged(admin, path, tag)).status).toBe(304);
  }
});

test('counts a GET with an API key as a download even if it is answered 304, but not a HEAD', async () => {
  const { id, slug } = await aTemplate();
  const path = `${TEMPLATES}/${slug}`;
  const key = as(organization);
  const count = async () => {
    await usage.flush();
    return Number((await client.templateDownload.findUnique({ where: { template_id: id } }))?.count ?? 0);
  };
  expect((await getIfChanged(key, path, '*')).status).toBe(304);
  expect(await count()).toBe(1);
  expect((await key.send({ method: 'HEAD', path, headers: { 'If-None-Match': '*' } })).status).toBe(304);
  expect((await getIfChanged(anonymous, path, '*')).status).toBe(304);
  expect(await count()).toBe(1);
  const { body } = await key.get(path);
  expect(body.download_count).toBe(2);
});

test('answers alike and without an ETag for an invisible and for an unknown template', async () => {
  const { slug } = await aTemplate({ is_public: false });
  for (const held of [undefined, '*', await tagAt(admin, `${TEMPLATES}/${slug}`)]) {
    const ask = async (name: string) => {
      const headers = { 'X-Request-Id': 'the-same', ...(held === undefined ? {} : { 'If-None-Match': held }) };
      const { status, text, headers: answered } = await anonymous.get(`${TEMPLATES}/${name}`, headers);
      const { date: _, ...rest } = answered;
      return { status, text, headers: rest };
    };
    const invisible = await ask(slug);
    expect(invisible).toEqual(await ask('x'.repeat(slug.length)));
    expect(invisible.status).toBe(404);
    expect(invisible.headers.etag).toBeUndefined();
  }
});

test('responses that must not be cached have no ETag', async () => {
  const member = await world.aMember(organization, 'org_admin');
  const answers = {
    200: await admin.put('/api/v1/admin/templates', { id: template.id, description: 'new' }, { 'If-None-Match': '*' }),
    201: await member.post('/api/v1/account/api-keys', { name: 'secret' }),
    204: await admin.delete('/api/v1/admin/templates', { id: (await aTemplate()).id }),
    400: await anonymous.get(`${TEMPLATES}/updates`, { 'If-None-Match': '*' }),
    401: await world.api('Bearer svcc_no').get(CATEGORIES),
    403: await member.get('/api/v1/admin/stats'),
    404: await anonymous.get(`${TEMPLATES}/absent`),
    405: await anonymous.post(TEMPLATES, {}),
  };
  for (const [status, { headers, status: answered }] of Object.entries(answers)) {
    expect({ answered, etag: headers.etag, cache: headers['cache-control'] }).toEqual({
      answered: Number(status),
      etag: undefined,
      cache: 'no-store',
    });
  }
});

test.each<[string, number, (of: { id: string; keyRow: { id: string } }) => Promise<unknown>]>([
  [
    'a revoked key',
    401,
    ({ keyRow: { id } }) => client.apiKey.update({ where: { id }, data: { revoked_at: new Date() } }),
  ],
  [
    'an expired key',
    401,
    ({ keyRow: { id } }) => client.apiKey.update({ where: { id }, data: { expires_at: new Date(0) } }),
  ],
  [
    'a suspended organization',
    403,
    ({ id }) => client.organization.update({ where: { id }, data: { status: 'suspended' } }),
  ],
])('%s is rejected with %i for every If-None-Match', async (_, expected, change) => {
  const refused = await world.anOrganization();
  const api = as(refused);
  const held = await Promise.all(
    [...Object.values(requests), ...Object.values(slugRequest)].map(async (pathFor) => {
      const path = await pathFor(api);
      return { path, tag: await tagAt(api, path) };
    }),
  );
  await change(refused);
  for (const { path, tag } of held) {
    expect((await getIfChanged(api, path, tag)).status).toBe(expected);
    expect((await getIfChanged(api, path, '*')).status).toBe(expected);
  }
});
